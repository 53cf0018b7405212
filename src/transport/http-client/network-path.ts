/** How a URL is reached: which host, with TLS or not, through which proxy. */
import { GatewayError } from '../../core/errors.js';
import type { RequestTarget } from './failure.js';
import { hostOf, type ProxyServer, type ProxySettings, portOf } from './proxy.js';

export interface NetworkPath {
  /** Connections with the same key are interchangeable. */
  key: string;
  host: string;
  port: number;
  secure: boolean;
  proxy: ProxyServer | undefined;
  place: RequestTarget;
}

export function networkPathOf(url: URL, proxies: ProxySettings): NetworkPath {
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw new GatewayError(
      'upstream_failed',
      `An upstream cannot be reached by ${url.protocol}//: its base_url must start with https:// or http://.`,
    );
  }
  const proxy = proxies.proxyFor(url);
  return {
    key: proxy === undefined ? url.origin : `${url.origin} via ${proxy.label}`,
    host: hostOf(url),
    port: portOf(url),
    secure,
    proxy,
    place: { label: url.host, proxy: proxy?.label },
  };
}
