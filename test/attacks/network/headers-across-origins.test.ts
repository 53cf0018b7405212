/** A redirect to another origin takes credentials along. */
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSearchOptions, webSearchTool } from '../../../src/tools/web/web-search.js';
import { guardedFetch } from '../../../src/transport/guarded-fetch/guarded-fetch.js';
import { closeSitesAfterEach, startSite, type TestSite } from '../../support/loopback-site.js';
import { createTestContext, runTool, type TestContext } from '../../support/tool-context.js';

closeSitesAfterEach();
let context: TestContext | undefined;
afterEach(async () => context?.close());

const KEY = 'secret-of-the-operator';

/** A site that sends everybody on to another one, and that other one. */
async function startPair(): Promise<{ site: TestSite; other: TestSite }> {
  const other = await startSite((_request, response) => void response.end('{}'));
  const site = await startSite((_request, response) => {
    response.writeHead(307, { location: other.url('/stolen') }).end();
  });
  return { site, other };
}

describe('headers across origins', () => {
  it.each(['authorization', 'x-api-key', 'cookie', 'x-custom', 'referer'])(
    '%s stays at its origin',
    async (name) => {
      const { site, other } = await startPair();
      await guardedFetch(site.url('/'), {
        signal: new AbortController().signal,
        env: {},
        allowPrivate: ['127.0.0.1'],
        headers: { [name]: KEY },
      });
      expect(site.headers[0]?.[name]).toBe(KEY);
      expect(other.seen).toEqual(['GET /stolen']);
      expect(JSON.stringify(other.headers)).not.toContain(KEY);
    },
  );

  it.each([
    (base_url: string): WebSearchOptions => ({ provider: 'brave', api_key: KEY, base_url }),
    (base_url: string): WebSearchOptions => ({ provider: 'tavily', api_key: KEY, base_url }),
  ])('the key of a search provider follows no redirect at all, %#', async (make) => {
    const { site, other } = await startPair();
    context = await createTestContext();
    const work = runTool(webSearchTool(make(site.url(''))), { query: 'anything' }, context);
    await expect(work).rejects.toThrow(/status 307/);
    expect(site.seen).toHaveLength(1);
    expect(other.seen).toEqual([]);
  });
});
