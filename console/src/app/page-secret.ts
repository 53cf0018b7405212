/**
 * The second secret of a sign-in. A cookie goes to every port of the host, and with it to whatever is
 * served there; what is stored for this origin does not. All tabs have the same one, made before the
 * first sign-in, so that no tab has a cookie that its secret does not belong to.
 */
const KEY = 'toolgate-page';
const HEADER = 'x-toolgate-page';
const BYTES = 32;

/** Where nothing can be stored it is good until the page is loaded again. */
let unstored: string | undefined;

function pageSecret(): string {
  try {
    const stored = localStorage.getItem(KEY);
    if (stored !== null) return stored;
    const made = randomSecret();
    localStorage.setItem(KEY, made);
    return localStorage.getItem(KEY) ?? made;
  } catch {
    unstored ??= randomSecret();
    return unstored;
  }
}

/** The next sign-in gets another one. */
export function forgetPageSecret(): void {
  unstored = undefined;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Then it was not stored either.
  }
}

/** `fetch` as the gateway knows this page. For its own addresses alone. */
export function fetchAsPage(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set(HEADER, pageSecret());
  return fetch(path, { ...init, headers });
}

function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
