/** Proxies from the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, lower case first. */
import { BlockList, isIP } from 'node:net';
import { GatewayError } from '../../core/errors.js';
import { basicCredentials } from './request-head.js';

export interface ProxyServer {
  host: string;
  port: number;
  /** TLS to the proxy itself. */
  secure: boolean;
  /** Value of `proxy-authorization`. */
  authorization: string | undefined;
  /** `host:port`, for messages: without credentials. */
  label: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Exception {
  host: string;
  /** Undefined: any. */
  port: string | undefined;
}

export class ProxySettings {
  readonly #http: ProxyServer | undefined;
  readonly #https: ProxyServer | undefined;
  readonly #everything: boolean;
  readonly #exceptions: Exception[] = [];
  readonly #addresses = new BlockList();

  /** Throws GatewayError that names the variable (never its value: it may hold a password). */
  constructor(env: Environment) {
    this.#http = readProxy(env, ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']);
    this.#https = readProxy(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']);
    const entries = (env['no_proxy'] ?? env['NO_PROXY'] ?? '')
      .split(/[\s,]+/)
      .filter((entry) => entry !== '');
    this.#everything = entries.includes('*');
    for (const entry of entries) this.#addException(entry);
  }

  proxyFor(url: URL): ProxyServer | undefined {
    const proxy = url.protocol === 'https:' ? this.#https : this.#http;
    if (proxy === undefined || this.#everything) return undefined;
    return this.#isExcepted(url) ? undefined : proxy;
  }

  #addException(entry: string): void {
    const range = /^\[?([\da-fA-F:.]+)\]?\/(\d{1,3})$/.exec(entry);
    if (range !== null) {
      const [, address = '', bits = ''] = range;
      const family = isIP(address);
      if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
        this.#addresses.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
      }
      return;
    }
    if (isIP(entry) !== 0) {
      this.#exceptions.push({ host: entry.toLowerCase(), port: undefined });
      return;
    }
    const [, host = '', port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
    this.#exceptions.push({ host: host.toLowerCase().replace(/^\*?\.+/, ''), port });
  }

  #isExcepted(url: URL): boolean {
    const host = hostOf(url);
    const family = isIP(host);
    if (isLoopback(host)) return true;
    if (family !== 0 && this.#addresses.check(host, family === 4 ? 'ipv4' : 'ipv6')) return true;
    const port = String(portOf(url));
    return this.#exceptions.some(
      (each) =>
        (each.port === undefined || each.port === port) &&
        (host === each.host || host.endsWith(`.${each.host}`)),
    );
  }
}

/** A model server on this machine is not the proxy's to reach. */
function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  const { hostname } = url;
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function readProxy(env: Environment, names: readonly string[]): ProxyServer | undefined {
  const name = names.find((each) => env[each] !== undefined && env[each] !== '');
  if (name === undefined) return undefined;
  const value = env[name] ?? '';
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) return refuse(name, 'is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse(name, `names a proxy of the kind ${url.protocol}//, which is not supported`);
  }
  const port = portOf(url);
  return {
    host: hostOf(url),
    port,
    secure: url.protocol === 'https:',
    authorization: url.username === '' ? undefined : basicCredentials(url),
    label: `${url.hostname}:${port}`,
  };
}

function refuse(name: string, why: string): never {
  throw new GatewayError(
    'unavailable',
    `The environment variable ${name} ${why}. Set it to http://host:port, or unset it.`,
  );
}
