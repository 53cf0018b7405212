/** Tavily: POST /search with a JSON body and a bearer key, results with `content`. */
import type { SearchProvider } from './provider.js';
import { readHits } from './read-hits.js';
import { endpoint, requestSearch } from './search-request.js';

const NAME = 'Tavily';
const OFFICIAL = 'https://api.tavily.com';
/** Of the API. */
const LIMITS = { results: 20, queryChars: 400, includeDomains: 300, excludeDomains: 150 };

/** Statuses of its own, beside the usual ones. */
const EXPLANATIONS: Readonly<Record<number, string>> = {
  432: 'the limit of the plan is reached. The operator must look after the account',
  433: 'the limit of the pay-as-you-go plan is reached. The operator must look after the account',
};

export interface TavilyOptions {
  api_key: string;
  base_url?: string;
}

export function tavilyProvider({ api_key, base_url = OFFICIAL }: TavilyOptions): SearchProvider {
  return {
    name: NAME,
    async search(query, { allowedDomains, blockedDomains, limit, signal }) {
      const answer = await requestSearch({
        provider: NAME,
        url: endpoint(base_url, '/search'),
        headers: { authorization: `Bearer ${api_key}` },
        body: {
          query: query.slice(0, LIMITS.queryChars),
          max_results: Math.min(limit, LIMITS.results),
          ...(allowedDomains.length === 0
            ? {}
            : { include_domains: allowedDomains.slice(0, LIMITS.includeDomains) }),
          ...(blockedDomains.length === 0
            ? {}
            : { exclude_domains: blockedDomains.slice(0, LIMITS.excludeDomains) }),
        },
        signal,
        explain: (status) => EXPLANATIONS[status],
      });
      return readHits(answer, ['results'], { title: 'title', url: 'url', snippet: 'content' }, NAME);
    },
  };
}
