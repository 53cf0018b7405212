/** Which results a search may show, by whole labels of their host names: `evil-example.com` is not `example.com`. */
import type { SearchHit } from './provider.js';

/** As people and models write them: `https://Example.com/path`, `*.example.com`, `.example.com`. */
export function normalDomain(given: string): string | undefined {
  const text = given.trim().replace(/^\*?\.+/, '');
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (text === '' || !URL.canParse(address)) return undefined;
  const host = hostNameOf(new URL(address));
  return host === '' || host.includes('*') ? undefined : host;
}

export function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

export function filterHits(
  hits: readonly SearchHit[],
  allowed: readonly string[],
  blocked: readonly string[],
): SearchHit[] {
  return hits.filter(({ url }) => {
    const host = hostNameOf(new URL(url));
    if (blocked.some((domain) => isWithin(host, domain))) return false;
    return allowed.length === 0 || allowed.some((domain) => isWithin(host, domain));
  });
}

function hostNameOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/\.$/, '');
}
