/** Whether a host may be reached, and at which addresses: looked up once, checked, and kept for the connection. */
import { ProxySettings } from '../http-client/proxy.js';
import { type Resolver, resolveChecked, systemResolver } from './address-policy.js';
import { FetchProblem } from './fetch-problem.js';
import { checkUrl, type Fetcher, HostList } from './url-policy.js';

export interface HostCheckOptions {
  /** Hosts (`host` or `host:port`) that may be in a private network. */
  allowPrivate?: readonly string[];
  resolver?: Resolver;
  /** Where the proxy variables are read from. */
  env?: Readonly<Record<string, string | undefined>>;
  fetcher?: Fetcher;
}

/** For the check of a name that a proxy will look up for itself. */
const PROXY_LOOKUP_MS = 2000;

export class HostCheck {
  readonly #listed: HostList;
  readonly #proxies: ProxySettings;
  readonly #resolver: Resolver;
  readonly #fetcher: Fetcher | undefined;

  constructor({
    allowPrivate = [],
    env = process.env,
    resolver = systemResolver,
    fetcher,
  }: HostCheckOptions) {
    this.#listed = new HostList(allowPrivate);
    this.#proxies = new ProxySettings(env);
    this.#resolver = resolver;
    this.#fetcher = fetcher;
  }

  /** The operator named it. */
  isListed(url: URL): boolean {
    return this.#listed.has(url);
  }

  /** The addresses to connect to; undefined where a proxy does that. Throws FetchProblem. */
  async addressesOf(url: URL, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const listed = this.#listed.has(url);
    const fetcher = this.#fetcher;
    checkUrl(url, listed, fetcher);
    const resolving = { resolver: this.#resolver, listed, signal, ...(fetcher && { fetcher }) };
    if (this.#proxies.proxyFor(url) === undefined) return resolveChecked(url, resolving);
    await this.#checkBeforeProxy(url, resolving);
    return undefined;
  }

  /**
   * The proxy looks the name up for itself, and a machine behind one may know no public names. A
   * name that is known here and leads to a private network is refused all the same.
   */
  async #checkBeforeProxy(url: URL, resolving: Parameters<typeof resolveChecked>[1]): Promise<void> {
    const patience = AbortSignal.timeout(PROXY_LOOKUP_MS);
    const signal = AbortSignal.any([resolving.signal, patience]);
    try {
      await resolveChecked(url, { ...resolving, signal });
    } catch (error) {
      if (resolving.signal.aborted) throw error;
      if (error instanceof FetchProblem && error.kind === 'refused') throw error;
    }
  }
}
