/** The hosts that a command names. */
import { programName } from './flag-table.js';

/** Programs whose operands are hosts or addresses, with or without a scheme. */
const HOST_PROGRAMS: Readonly<Record<string, 'url' | 'host' | 'remote'>> = {
  curl: 'url',
  wget: 'url',
  wget2: 'url',
  aria2c: 'url',
  http: 'url',
  https: 'url',
  xh: 'url',
  axel: 'url',
  lynx: 'url',
  w3m: 'url',
  links: 'url',
  elinks: 'url',
  ping: 'host',
  ping6: 'host',
  traceroute: 'host',
  tracepath: 'host',
  mtr: 'host',
  dig: 'host',
  nslookup: 'host',
  host: 'host',
  drill: 'host',
  whois: 'host',
  nc: 'host',
  ncat: 'host',
  netcat: 'host',
  telnet: 'host',
  ftp: 'host',
  nmap: 'host',
  ssh: 'host',
  mosh: 'host',
  sftp: 'remote',
  scp: 'remote',
  rsync: 'remote',
};

const REMOTE = /^(?:[^@/\s]+@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?!\/\/)/;
const NAME = /^(?:[^@/\s]+@)?((?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+|\[?[0-9A-Fa-f:]+\]?)$/;

const SOCKET_DEVICE = /\/dev\/(?:tcp|udp)\/([^/\s'"]+)/g;

const MAX_ADDRESSES = 20;

export interface HostUse {
  host: string;
  /** Where in the words. */
  index: number;
  /** The program is known to go there; otherwise the address only stands in a word. */
  sure: boolean;
}

export function hostsOf(words: readonly string[]): HostUse[] {
  const found: HostUse[] = [];
  const program = programName(words[0] ?? '');
  const kind = kindOf(program, words);
  words.forEach((word, index) => {
    if (index === 0) return;
    for (const address of addressesIn(word)) add(found, address, index, kind !== undefined);
    // The shell itself opens a connection for these.
    for (const [, host = ''] of word.matchAll(SOCKET_DEVICE)) add(found, `http://${host}`, index, true);
    if (program === 'getent' && index === 1) return;
    if (kind === undefined || /:\/\//.test(word) || word.startsWith('-')) return;
    if (kind === 'url') add(found, `http://${word}`, index, looksLikeHost(word));
    else {
      const match = kind === 'host' ? NAME.exec(word.replace(/^[@+].*$/, '')) : REMOTE.exec(word);
      if (match?.[1] !== undefined && !/^\d{1,5}$/.test(match[1])) {
        add(found, `http://${match[1]}`, index, true);
      }
      // `dig @server name` asks that server.
      if (kind === 'host' && word.startsWith('@')) add(found, `http://${word.slice(1)}`, index, true);
    }
  });
  return found;
}

/** Whatever follows `://`; the scheme makes no difference to the host that is reached. */
function addressesIn(word: string): string[] {
  if (!word.includes('://')) return [];
  return word
    .split('://')
    .slice(1, MAX_ADDRESSES)
    .map((rest) => `http://${/^[^\s'"<>\\]*/.exec(rest)?.[0] ?? ''}`);
}

function kindOf(program: string, words: readonly string[]): 'url' | 'host' | 'remote' | undefined {
  if (program === 'git') return gitKind(words);
  if (program === 'getent') return /hosts|networks/.test(words[1] ?? '') ? 'host' : undefined;
  return HOST_PROGRAMS[program];
}

function gitKind(words: readonly string[]): 'remote' | undefined {
  return words.some((word) => /^(?:clone|fetch|pull|push|ls-remote|remote|submodule|archive)$/.test(word))
    ? 'remote'
    : undefined;
}

const looksLikeHost = (word: string): boolean =>
  /^(?:[^@/\s]*@)?[\w.[\]:-]+(?:[/?#]|$)/.test(word) && /[.:]|^localhost/i.test(word);

function add(found: HostUse[], address: string, index: number, sure: boolean): void {
  const host = hostOf(address);
  if (host !== undefined) found.push({ host, index, sure });
}

/** In the one form that rules are compared with: lower case, punycode, without the last dot. */
export function hostOf(address: string): string | undefined {
  // Schemes that URL does not know as special keep their host as it is written.
  const special = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, (scheme) =>
    /^https?:/i.test(scheme) ? scheme : 'http://',
  );
  if (!URL.canParse(special)) return undefined;
  const host = new URL(special).hostname.replace(/\.+$/, '');
  return host === '' ? undefined : host;
}
