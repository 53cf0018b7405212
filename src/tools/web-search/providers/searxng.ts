/** SearXNG: GET /search?q=…&format=json. A server whose settings do not list `json` answers 403. */
import type { SearchProvider } from './provider.js';
import { readHits } from './read-hits.js';
import { endpoint, requestSearch } from './search-request.js';

const NAME = 'SearXNG';

export function searxngProvider({ base_url }: { base_url: string }): SearchProvider {
  return {
    name: NAME,
    async search(query, { signal }) {
      const url = endpoint(base_url, '/search');
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const answer = await requestSearch({
        provider: NAME,
        url,
        signal,
        explain: (status) =>
          status === 403
            ? 'the server does not give out JSON. The operator must add json to search.formats in its settings.yml'
            : undefined,
      });
      return readHits(answer, ['results'], { title: 'title', url: 'url', snippet: 'content' }, NAME);
    },
  };
}
