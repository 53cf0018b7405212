/** Who searches the web for WebSearch. One more provider is one function here and a line in web-search.ts. */
import { isObject } from '../../core/is-object.js';
import { HttpClient, readAll } from '../../transport/http-client/http-client.js';
import { ToolError } from '../runtime/tool.js';
import { decodeEntities } from './html-entities.js';

export interface SearchProvider {
  readonly name: string;
  /** In the provider's own order. Throws ToolError. */
  search(query: string, options: SearchOptions): Promise<SearchHit[]>;
}

interface SearchOptions {
  /** Hints for the provider: WebSearch itself applies them to whatever comes back. */
  allowedDomains: readonly string[];
  blockedDomains: readonly string[];
  limit: number;
  signal: AbortSignal;
}

export interface SearchHit {
  title: string;
  url: string;
  /** Plain text; may be empty. */
  snippet: string;
}

const LIMITS = { bytes: 4_194_304, totalMs: 20_000 };

interface SearchRequest {
  provider: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  body?: unknown;
  signal: AbortSignal;
  /** What a status means at this provider. */
  explain?(status: number): string | undefined;
}

/** Where a status has no meaning of the provider's own. */
const EXPLANATIONS: Readonly<Record<number, string>> = {
  401: 'its key was refused. The operator must check tools.web_search.api_key',
  402: 'the account has no credit left. The operator must look after it',
  403: 'its key was refused. The operator must check tools.web_search.api_key',
  429: 'too many searches at once. Wait a moment before the next one',
};

/** The address is the operator's, not the model's: it may well be in a private network. */
async function requestSearch(request: SearchRequest): Promise<unknown> {
  const { provider, url, body } = request;
  const deadline = AbortSignal.timeout(LIMITS.totalMs);
  const client = new HttpClient({ maxIdlePerHost: 0 });
  try {
    const response = await client.request({
      method: body === undefined ? 'GET' : 'POST',
      url,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        'user-agent': 'toolgate-websearch',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([request.signal, deadline]),
      connectTimeoutMs: 0,
      headersTimeoutMs: 0,
      idleTimeoutMs: 0,
    });
    const { status } = response;
    if (status !== 200) {
      await response.body.return();
      const why = request.explain?.(status) ?? EXPLANATIONS[status] ?? 'try again later, or go on without it';
      throw new ToolError(`The search failed: ${provider} answered with status ${status}: ${why}.`);
    }
    return parse(await readAll(response.body, LIMITS.bytes), provider);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const why = deadline.aborted
      ? `${provider} did not answer within ${LIMITS.totalMs / 1000} s`
      : `${provider} could not be reached, or broke its answer off`;
    throw new ToolError(`The search failed: ${why}. Try again later, or go on without it.`, { cause: error });
  } finally {
    await client.close();
  }
}

/** `path` below the base address, whether or not that ends with a slash. */
function endpoint(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}

function parse(bytes: Buffer, provider: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ToolError(
      `The search failed: ${provider} answered with something that is not JSON. The operator must check tools.web_search.`,
      { cause: error },
    );
  }
}

const LONGEST = { title: 300, snippet: 2000, url: 2048 };

interface HitFields {
  title: string;
  url: string;
  snippet: string;
}

/** `path`: where the list is in the answer. Entries without a usable address are passed over. */
function readHits(
  answer: unknown,
  path: readonly string[],
  fields: HitFields,
  provider: string,
): SearchHit[] {
  const list = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), answer);
  // Without any results the list may be missing, but the answer is still an object.
  if (list === undefined && isObject(answer)) return [];
  if (!Array.isArray(list)) {
    throw new ToolError(
      `The search failed: ${provider} answered in a form that is not known. The operator must check tools.web_search.`,
    );
  }
  return list.flatMap((entry: unknown) => {
    if (!isObject(entry)) return [];
    const url = entry[fields.url];
    if (typeof url !== 'string' || url.length > LONGEST.url || !/^https?:\/\//i.test(url)) return [];
    if (!URL.canParse(url)) return [];
    const title = plain(entry[fields.title], LONGEST.title);
    return [
      { title: title === '' ? url : title, url, snippet: plain(entry[fields.snippet], LONGEST.snippet) },
    ];
  });
}

/** One line of text: providers mark the words that matched with tags. */
function plain(value: unknown, limit: number): string {
  if (typeof value !== 'string') return '';
  const text = value.slice(0, limit * 2).replace(/<\/?(?:strong|b|em|i|mark|span|br)\b[^<>]{0,200}>/gi, '');
  return decodeEntities(text).replace(/\s+/g, ' ').trim().slice(0, limit);
}

/** Of a provider whose key comes with every request. */
export interface KeyedProviderOptions {
  api_key: string;
  base_url?: string;
}

/** GET /res/v1/web/search, the key in X-Subscription-Token, results in web.results. The limits are the API's. */
const BRAVE = {
  name: 'Brave Search',
  official: 'https://api.search.brave.com',
  limits: { count: 20, queryChars: 400, queryWords: 50 },
};

export function braveProvider({ api_key, base_url = BRAVE.official }: KeyedProviderOptions): SearchProvider {
  const { name, limits } = BRAVE;
  return {
    name,
    async search(query, { limit, signal }) {
      const url = endpoint(base_url, '/res/v1/web/search');
      const words = query.split(/\s+/).slice(0, limits.queryWords).join(' ');
      url.searchParams.set('q', words.slice(0, limits.queryChars));
      url.searchParams.set('count', String(Math.min(limit, limits.count)));
      const answer = await requestSearch({
        provider: name,
        url,
        headers: { 'x-subscription-token': api_key },
        signal,
        explain: (status) =>
          status === 422
            ? 'it refused the query or the key. Try a simpler query; the operator must check tools.web_search.api_key'
            : undefined,
      });
      const fields = { title: 'title', url: 'url', snippet: 'description' };
      return readHits(answer, ['web', 'results'], fields, name);
    },
  };
}

/** GET /search?q=…&format=json. A server whose settings do not list `json` answers 403. */
export function searxngProvider({ base_url }: { base_url: string }): SearchProvider {
  const name = 'SearXNG';
  return {
    name,
    async search(query, { signal }) {
      const url = endpoint(base_url, '/search');
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const answer = await requestSearch({
        provider: name,
        url,
        signal,
        explain: (status) =>
          status === 403
            ? 'the server does not give out JSON. The operator must add json to search.formats in its settings.yml'
            : undefined,
      });
      return readHits(answer, ['results'], { title: 'title', url: 'url', snippet: 'content' }, name);
    },
  };
}

/** POST /search with a JSON body and a bearer key, results with `content`. The limits are the API's. */
const TAVILY = {
  name: 'Tavily',
  official: 'https://api.tavily.com',
  limits: { results: 20, queryChars: 400, includeDomains: 300, excludeDomains: 150 },
};

/** Statuses of its own, beside the usual ones. */
const TAVILY_EXPLANATIONS: Readonly<Record<number, string>> = {
  432: 'the limit of the plan is reached. The operator must look after the account',
  433: 'the limit of the pay-as-you-go plan is reached. The operator must look after the account',
};

export function tavilyProvider({
  api_key,
  base_url = TAVILY.official,
}: KeyedProviderOptions): SearchProvider {
  const { name, limits } = TAVILY;
  return {
    name,
    async search(query, { allowedDomains, blockedDomains, limit, signal }) {
      const answer = await requestSearch({
        provider: name,
        url: endpoint(base_url, '/search'),
        headers: { authorization: `Bearer ${api_key}` },
        body: {
          query: query.slice(0, limits.queryChars),
          max_results: Math.min(limit, limits.results),
          ...(allowedDomains.length === 0
            ? {}
            : { include_domains: allowedDomains.slice(0, limits.includeDomains) }),
          ...(blockedDomains.length === 0
            ? {}
            : { exclude_domains: blockedDomains.slice(0, limits.excludeDomains) }),
        },
        signal,
        explain: (status) => TAVILY_EXPLANATIONS[status],
      });
      return readHits(answer, ['results'], { title: 'title', url: 'url', snippet: 'content' }, name);
    },
  };
}
