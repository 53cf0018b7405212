/** Where a link of a model leads, and whether its text says so. */

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);
const HOST_LIKE = /^[^\p{L}\p{N}]*((?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,24})(?![\p{L}\p{N}_-])/u;

/** Undefined for unsafe targets: scripts, data, files, and addresses inside this page. */
export function safeLink(href: string): URL | undefined {
  const address = href.trim();
  if (!/^[a-z]+:/i.test(address)) return undefined;
  try {
    const url = new URL(address);
    return SCHEMES.has(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The host to show beside a link whose text names another one, or hides who is asked. */
export function hostToShow(text: string, url: URL): string | undefined {
  if (url.protocol === 'mailto:') {
    const address = decoded(url.pathname);
    return text.includes('@') && !text.includes(address) ? address : undefined;
  }
  const misleading = text
    .split(/\s+/)
    .map(hostNamed)
    .some((name) => name !== undefined && !sameSite(name, url.hostname));
  return misleading || url.username !== '' ? url.host : undefined;
}

/** The host that a word is, or begins with. */
function hostNamed(word: string): string | undefined {
  const rest = word.replace(/^.*:\/\//, '').replace(/^[^/]*@/, '');
  const name = HOST_LIKE.exec(rest)?.[1];
  return name === undefined ? undefined : toAscii(name);
}

function sameSite(name: string, host: string): boolean {
  const plain = (value: string): string => value.toLowerCase().replace(/^www\./, '');
  return plain(name) === plain(host);
}

function toAscii(name: string): string {
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
