/** From a URL to the addresses that a connection may be made to: looked up once, checked, and kept. */
import { lookup as lookupName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { untilAborted } from '../../core/stopping.js';
import { hostOf } from '../http-client/proxy.js';
import { type AddressVerdict, judgeAddress, ownAddresses } from './address-policy.js';
import { FetchProblem, problemOf } from './fetch-problem.js';

/** All addresses of a host name. Rejects as node:dns does. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export const systemResolver: Resolver = async (host) => {
  const found = await lookupName(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** Throws FetchProblem. `listed`: the operator named the host, so that it may be in a private network. */
export async function resolveChecked(
  url: URL,
  options: { resolver: Resolver; listed: boolean; signal: AbortSignal },
): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolveName(host, options) : [host];
  const own = ownAddresses();
  // One bad address is enough: which one is used is not for the name's owner to choose.
  for (const address of addresses) {
    const verdict = judgeAddress(address, own);
    if (!isAllowed(verdict, options.listed)) throw refusal(host, address, verdict);
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

function refusal(host: string, address: string, verdict: AddressVerdict): FetchProblem {
  const what = verdict.reach === 'public' ? 'refused' : verdict.what;
  const which = host === address ? address : `${host} has the address ${address}, which`;
  const advice =
    verdict.reach === 'private' ? ' The operator can allow a host with tools.web_fetch.allow_private.' : '';
  return new FetchProblem('refused', `${which} is ${what}. WebFetch only reaches the public web.${advice}`);
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
