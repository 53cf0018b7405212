/** Brave Search: GET /res/v1/web/search, the key in X-Subscription-Token, results in web.results. */
import type { SearchProvider } from './provider.js';
import { readHits } from './read-hits.js';
import { endpoint, requestSearch } from './search-request.js';

const NAME = 'Brave Search';
const OFFICIAL = 'https://api.search.brave.com';
/** Of the API. */
const LIMITS = { count: 20, queryChars: 400, queryWords: 50 };

export interface BraveOptions {
  api_key: string;
  base_url?: string;
}

export function braveProvider({ api_key, base_url = OFFICIAL }: BraveOptions): SearchProvider {
  return {
    name: NAME,
    async search(query, { limit, signal }) {
      const url = endpoint(base_url, '/res/v1/web/search');
      url.searchParams.set('q', shortened(query));
      url.searchParams.set('count', String(Math.min(limit, LIMITS.count)));
      const answer = await requestSearch({
        provider: NAME,
        url,
        headers: { 'x-subscription-token': api_key },
        signal,
        explain: (status) =>
          status === 422
            ? 'it refused the query or the key. Try a simpler query; the operator must check tools.web_search.api_key'
            : undefined,
      });
      return readHits(
        answer,
        ['web', 'results'],
        { title: 'title', url: 'url', snippet: 'description' },
        NAME,
      );
    },
  };
}

function shortened(query: string): string {
  return query.split(/\s+/).slice(0, LIMITS.queryWords).join(' ').slice(0, LIMITS.queryChars);
}
