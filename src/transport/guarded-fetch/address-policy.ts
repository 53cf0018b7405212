/**
 * Which addresses a fetch on behalf of a model may connect to: those of a name are looked up once,
 * checked, and kept.
 */
import { lookup as lookupName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { untilAborted } from '../../core/stopping.js';
import { hostOf } from '../http-client/proxy.js';
import { FetchProblem, problemOf } from './fetch-problem.js';
import { type Fetcher, WEB_FETCH } from './url-policy.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

type AddressVerdict =
  | { reach: 'public' }
  /** Somebody's own network: only where the operator named the host. `what` completes "it is …". */
  | { reach: 'private'; what: string }
  /** Never a web server. */
  | { reach: 'never'; what: string };

/** By the names of ipaddr.js; a range that is not listed is public for IPv4 and refused for IPv6. */
const RANGES: Readonly<Record<string, AddressVerdict>> = {
  private: { reach: 'private', what: 'in a private network' },
  loopback: { reach: 'private', what: 'this machine itself (loopback)' },
  uniqueLocal: { reach: 'private', what: 'in a private network (unique local)' },
  carrierGradeNat: { reach: 'private', what: 'in a shared network (carrier-grade NAT)' },
  linkLocal: { reach: 'never', what: 'link-local, where cloud machines serve their credentials' },
  unspecified: { reach: 'never', what: 'unspecified, which means this machine' },
  broadcast: { reach: 'never', what: 'a broadcast address' },
  multicast: { reach: 'never', what: 'a multicast address' },
  reserved: { reach: 'never', what: 'reserved or for documentation' },
  as112: { reach: 'never', what: 'reserved for name servers' },
  amt: { reach: 'never', what: 'reserved for multicast tunnels' },
  deprecatedSiteLocal: { reach: 'never', what: 'site-local, an old kind of private network' },
  '6to4': { reach: 'never', what: 'a 6to4 tunnel, which can lead into a private network' },
  teredo: { reach: 'never', what: 'a Teredo tunnel, which can lead into a private network' },
};

/** Cloud machines serve their credentials here too: outside of link-local, in ranges that are public or private. */
const METADATA: ReadonlyMap<string, string> = new Map(
  ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map((address) => [
    address,
    'the metadata service of a cloud provider',
  ]),
);

/** Global unicast; everything else in IPv6 is special in one way or another. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** DNS64 puts every IPv4 host here on networks that have only IPv6. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

const NOT_AN_ADDRESS: AddressVerdict = { reach: 'never', what: 'not an address' };

/** `own`: addresses of this machine's interfaces, as `ownAddresses` gives them. */
export function judgeAddress(text: string, own: ReadonlySet<string> = new Set()): AddressVerdict {
  // A zone (`fe80::1%eth0`) says which link is meant: never the public one.
  if (!ipaddr.isValid(text) || text.includes('%')) return NOT_AN_ADDRESS;
  const address = unwrap(ipaddr.parse(hexForm(text)));
  const shown = address.toString();
  const metadata = METADATA.get(shown);
  if (metadata !== undefined) return { reach: 'never', what: metadata };
  const verdict = judgeRange(address);
  if (verdict.reach === 'public' && own.has(shown)) {
    return { reach: 'private', what: 'an address of this machine' };
  }
  return verdict;
}

/** ipaddr.js takes `::8.8.8.8` for `::ffff:8.8.8.8`; it is the old compatible form, another address. */
function hexForm(text: string): string {
  const dotted = text.includes(':') && text.includes('.') && URL.canParse(`http://[${text}]`);
  return dotted ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}

/** The IPv4 address that an IPv6 address only carries. */
function unwrap(address: Address): Address {
  if (!isIPv6(address)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

function judgeRange(address: Address): AddressVerdict {
  const range = address.range();
  const known = RANGES[range];
  if (known !== undefined) return known;
  if (!isIPv6(address)) {
    return range === 'unicast' ? { reach: 'public' } : { reach: 'never', what: `special (${range})` };
  }
  // `::127.0.0.1` and its like: ipaddr.js has no range for the old compatible form.
  if (range !== 'unicast' || !address.match(GLOBAL_UNICAST)) {
    return { reach: 'never', what: 'not a global IPv6 address' };
  }
  return { reach: 'public' };
}

function isIPv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

export function ownAddresses(): Set<string> {
  const own = new Set<string>();
  for (const list of Object.values(networkInterfaces())) {
    for (const { address } of list ?? []) {
      if (ipaddr.isValid(address)) own.add(ipaddr.parse(address).toString());
    }
  }
  return own;
}

/** All addresses of a host name. Rejects as node:dns does. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export const systemResolver: Resolver = async (host) => {
  const found = await lookupName(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** Throws FetchProblem. `listed`: the operator named the host, so that it may be in a private network. */
export async function resolveChecked(
  url: URL,
  options: { resolver: Resolver; listed: boolean; signal: AbortSignal; fetcher?: Fetcher },
): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolveName(host, options) : [host];
  const own = ownAddresses();
  // One bad address is enough: which one is used is not for the name's owner to choose.
  for (const address of addresses) {
    const verdict = judgeAddress(address, own);
    if (!isAllowed(verdict, options.listed)) throw refusal(host, address, verdict, options.fetcher);
  }
  return addresses;
}

async function resolveName(
  host: string,
  { resolver, signal }: { resolver: Resolver; signal: AbortSignal },
): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await untilAborted(resolver(host), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw problemOf(error, host);
  }
  if (addresses.length === 0) {
    throw new FetchProblem('unreachable', `The host name ${host} has no address. Check the spelling.`);
  }
  return addresses;
}

function isAllowed(verdict: AddressVerdict, listed: boolean): boolean {
  return verdict.reach === 'public' || (verdict.reach === 'private' && listed);
}

function refusal(
  host: string,
  address: string,
  verdict: AddressVerdict,
  { name, setting }: Fetcher = WEB_FETCH,
): FetchProblem {
  const what = verdict.reach === 'public' ? 'refused' : verdict.what;
  const which = host === address ? address : `${host} has the address ${address}, which`;
  const advice = verdict.reach === 'private' ? ` The operator can allow a host with ${setting}.` : '';
  return new FetchProblem('refused', `${which} is ${what}. ${name} only reaches the public web.${advice}`);
}

/** Gives a connection the addresses that were checked, whatever the name means by then. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = all;
  return (_host, options, callback) => {
    if (options.all === true) callback(null, all);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}
