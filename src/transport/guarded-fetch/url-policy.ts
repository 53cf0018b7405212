/** Which URLs may be fetched at all, before anything is looked up. */
import { isIP } from 'node:net';
import { hostOf, portOf } from '../http-client/proxy.js';
import { FetchProblem } from './fetch-problem.js';

const LONGEST_URL = 8192;

/** Ports of services that answer to bytes that look like a request, or that no web server uses. */
const REFUSED_PORTS: ReadonlyMap<number, string> = new Map(
  Object.entries({
    'echo, discard and their kin': [1, 7, 9, 11, 13, 15, 17, 19],
    FTP: [20, 21, 69, 989, 990],
    'remote login': [22, 23, 512, 513, 514, 992, 3389, 5900, 5985, 5986],
    mail: [25, 109, 110, 143, 220, 465, 563, 587, 993, 995, 2525],
    'name and directory services': [37, 42, 43, 53, 79, 87, 95, 135, 136, 137, 138, 139, 389, 427, 636, 853],
    'network services': [77, 101, 102, 103, 104, 111, 113, 115, 117, 119, 123, 161, 162, 179, 445, 515],
    'system services': [526, 530, 531, 532, 540, 548, 554, 556, 601, 631, 1719, 1720, 1723, 2049, 3659, 4045],
    'voice and chat': [4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
    databases: [1433, 1521, 3306, 5432, 5984, 6379, 6380, 7000, 7001, 9042, 9200, 9300, 11211, 27017, 27018],
    'container and cluster control': [2375, 2376, 2377, 2379, 2380, 4243, 6443, 8500, 10250, 10255],
  }).flatMap(([what, ports]) => ports.map((port): [number, string] => [port, what])),
);

/** Names that mean this machine or this network wherever they are looked up. */
const LOCAL_NAMES = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'home.arpa',
  'corp',
  'private',
];

export function parseFetchUrl(text: string): URL {
  if (text.length > LONGEST_URL) {
    throw new FetchProblem('refused', `The URL is longer than ${LONGEST_URL} characters. Use a shorter one.`);
  }
  if (!URL.canParse(text)) {
    throw new FetchProblem(
      'refused',
      'That is not a URL. Give a whole one, such as https://example.com/page.',
    );
  }
  return new URL(text);
}

/** On whose behalf, and the setting by which the operator lets it reach a private host: for refusals. */
export interface Fetcher {
  name: string;
  setting: string;
}

export const WEB_FETCH: Fetcher = { name: 'WebFetch', setting: 'tools.web_fetch.allow_private' };

/** Throws FetchProblem `refused`. Says nothing of where a name leads: that is for the lookup. */
export function checkUrl(url: URL, listed: boolean, fetcher: Fetcher = WEB_FETCH): void {
  const refuse = (why: string): never => {
    throw new FetchProblem('refused', why);
  };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    refuse(`${url.protocol}// cannot be fetched. Only http:// and https:// can.`);
  }
  if (url.username !== '' || url.password !== '') {
    refuse('The URL holds a user name or password. Leave it out: pages behind a login cannot be fetched.');
  }
  const host = hostOf(url);
  // A NUL or a space would be cut off by the resolver.
  if (host === '' || /[\0-\x20%]/.test(host)) refuse('The host name in the URL is not a valid one.');
  if (listed) return;
  const what = REFUSED_PORTS.get(portOf(url));
  if (what !== undefined) refuse(`Port ${portOf(url)} is not for web pages (${what}). Leave the port out.`);
  if (isIP(host) === 0 && isLocalName(host)) {
    refuse(
      `"${host}" names this machine or its own network, which ${fetcher.name} does not reach. The operator can allow a host with ${fetcher.setting}.`,
    );
  }
}

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '');
  // A name of one label is completed by the search list of the machine.
  return !name.includes('.') || LOCAL_NAMES.some((local) => name === local || name.endsWith(`.${local}`));
}

/** `host` or `host:port`; an IPv6 address in brackets. */
export class HostList {
  readonly #entries: readonly { host: string; port: number | undefined }[];

  constructor(entries: readonly string[]) {
    this.#entries = entries.flatMap((entry) => {
      if (!URL.canParse(`http://${entry}`)) return [];
      const url = new URL(`http://${entry}`);
      const port = /:(\d+)$/.exec(entry.replace(/^\[.*\]/, ''))?.[1];
      return [{ host: normal(hostOf(url)), port: port === undefined ? undefined : Number(port) }];
    });
  }

  has(url: URL): boolean {
    const host = normal(hostOf(url));
    const port = portOf(url);
    return this.#entries.some((entry) => entry.host === host && (entry.port ?? port) === port);
  }
}

function normal(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
