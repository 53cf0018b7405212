/** Where an upstream is and how it knows us: endpoint × credentials, apart from what it speaks. */
import type { RemoteUpstreamConfig } from '../config/schema.js';
import type { DialectName } from '../core/conversation.js';

export interface Endpoint {
  /** What the official SDK of the dialect takes as its base URL. */
  baseUrl: string;
  apiKey?: string;
  /** Sent as they are, over ours. */
  headers?: Readonly<Record<string, string>>;
  /** `azure` puts the key in `api-key`; otherwise the dialect decides. */
  auth?: 'bearer' | 'x-api-key' | 'api-key';
}

const AUTH_OF: Record<DialectName, NonNullable<Endpoint['auth']>> = {
  'anthropic-messages': 'x-api-key',
  'openai-chat': 'bearer',
  'openai-responses': 'bearer',
};

const MODELS_PATH: Record<DialectName, string> = {
  'anthropic-messages': '/v1/models',
  'openai-chat': '/models',
  'openai-responses': '/models',
};
const API_VERSION: Record<DialectName, Record<string, string>> = {
  'anthropic-messages': { 'anthropic-version': '2023-06-01' },
  'openai-chat': {},
  'openai-responses': {},
};

export function endpointOf({ base_url, api_key, headers }: RemoteUpstreamConfig): Endpoint {
  return {
    baseUrl: base_url,
    ...(api_key === undefined ? {} : { apiKey: api_key }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** One of those that answer as one upstream; the upstream itself where it has no targets. */
interface PoolTargetConfig {
  /** `NAME`, or `NAME/TARGET`. */
  name: string;
  weight: number;
  options: RemoteUpstreamConfig;
}

/** What a target does not say is as the upstream has it. */
export function targetsOf(name: string, upstream: RemoteUpstreamConfig): PoolTargetConfig[] {
  const { targets, ...shared } = upstream;
  if (targets === undefined) return [{ name, weight: 1, options: shared }];
  return targets.map(({ name: own, weight, headers, ...given }, index) => ({
    name: `${name}/${own ?? index + 1}`,
    weight,
    options: {
      ...shared,
      ...given,
      ...(headers === undefined ? {} : { headers: { ...shared.headers, ...headers } }),
    },
  }));
}

/** The GET that lists the models of an endpoint. */
export function modelListRequest(
  endpoint: Endpoint,
  dialect: DialectName,
): { url: URL; headers: Record<string, string> } {
  return {
    url: endpointUrl(endpoint, MODELS_PATH[dialect]),
    headers: {
      accept: 'application/json',
      ...API_VERSION[dialect],
      ...endpointHeaders(endpoint, dialect),
    },
  };
}

export function endpointUrl(endpoint: Endpoint, path: string, query = ''): URL {
  const base = new URL(endpoint.baseUrl);
  // A query in the base (Azure's api-version) belongs after the path.
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  if (query !== '')
    for (const [key, value] of new URLSearchParams(query)) url.searchParams.append(key, value);
  return url;
}

export function endpointHeaders(endpoint: Endpoint, dialect: DialectName): Record<string, string> {
  const headers: Record<string, string> = {};
  if (endpoint.apiKey !== undefined && endpoint.apiKey !== '') {
    const auth = endpoint.auth ?? AUTH_OF[dialect];
    if (auth === 'bearer') headers.authorization = `Bearer ${endpoint.apiKey}`;
    else headers[auth] = endpoint.apiKey;
  }
  for (const [name, value] of Object.entries(endpoint.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}
