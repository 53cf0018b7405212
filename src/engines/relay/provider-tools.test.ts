/** Tools of a provider that the gateway runs: what the client limits them to, and what its wire has for them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeWorld } from '../../../test/support/fake-tools.js';
import { closeSitesAfterEach, startSite } from '../../../test/support/loopback-site.js';
import { callOf, userSays } from '../../../test/support/native-engine-bench.js';
import type { DialectName, JsonObject } from '../../core/conversation.js';
import { webFetchTool } from '../../tools/web/web-fetch.js';
import { ProviderTools } from './provider-tools.js';

closeSitesAfterEach();

const tool = webFetchTool({
  allowPrivate: ['good.test', 'evil.test', 'www.evil.test'],
  fetch: { env: {}, resolver: async () => ['127.0.0.1'] },
});

async function plan(value: JsonObject, dialect: DialectName = 'anthropic-messages') {
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-server-tools-'));
  const { runtime } = await fakeWorld([tool], folder);
  onTestFinished(async () => {
    await runtime.close();
    await rm(folder, { recursive: true, force: true });
  });
  const providerTools = new ProviderTools({
    runtime,
    workspace: { root: folder, home: folder },
    onBug: (error) => {
      throw error;
    },
  });
  const kind = 'web_fetch_20250910';
  const call = callOf([userSays('go')], { providerTools: [{ dialect, kind, name: 'web_fetch', value }] });
  const rule = { engine: 'relay', upstreams: [], providerTools: ['web_fetch'] } as const;
  return providerTools.of(call.request, 'openai-responses', call, rule);
}

async function fetched(wishes: JsonObject, input: JsonObject) {
  const run = (await plan(wishes))?.runs.get('web_fetch');
  if (run === undefined) throw new Error('not planned');
  const call = { type: 'tool_use', id: 'c1', name: 'web_fetch', input } as const;
  const { shown } = await run(call, new AbortController().signal);
  const [, block] = shown;
  if (block?.type !== 'block' || block.block.type !== 'opaque') throw new Error('not shown');
  return block.block.value['content'];
}

const page = () => startSite((_request, response) => response.end('page'));
const REFUSED = { error_code: 'url_not_allowed' };

describe('a fetch for a client that limits its domains', () => {
  it('reaches none that is blocked, however the client writes it', async () => {
    const site = await page();
    const url = `http://www.evil.test:${site.port}/`;
    for (const written of ['https://evil.test', '*.evil.test', '.evil.test', 'evil.test/x', 'EVIL.test.']) {
      expect(await fetched({ blocked_domains: [written] }, { url }), written).toMatchObject(REFUSED);
    }
    expect(site.seen).toEqual([]);
  });

  it('reaches nothing where a limit cannot be read', async () => {
    const site = await page();
    const url = `http://evil.test:${site.port}/`;
    const limits = [
      { blocked_domains: ['e*l.test'] },
      { blocked_domains: [7] },
      { allowed_domains: ['*'] },
      { allowed_domains: [7] },
    ];
    for (const limit of limits) expect(await fetched(limit, { url })).toMatchObject(REFUSED);
    expect(site.seen).toEqual([]);
  });

  it('reaches what is allowed, however the client writes it', async () => {
    const site = await page();
    const url = `http://good.test:${site.port}/`;
    for (const written of ['https://good.test/', '*.good.test', 'Good.test']) {
      expect(await fetched({ allowed_domains: [written] }, { url })).toMatchObject({
        type: 'web_fetch_result',
      });
    }
  });

  it('is not led to another by a redirect', async () => {
    const evil = await page();
    const site = await startSite((_request, response) =>
      response.writeHead(302, { location: `http://evil.test:${evil.port}/` }).end(),
    );
    const input = { url: `http://good.test:${site.port}/` };
    expect(await fetched({ blocked_domains: ['evil.test'] }, input)).toMatchObject(REFUSED);
    expect(await fetched({ allowed_domains: ['good.test'] }, input)).toMatchObject(REFUSED);
    expect(evil.seen).toEqual([]);
    expect(await fetched({}, input)).toMatchObject({ type: 'web_fetch_result' });
  });
});

describe('what the client sees of it', () => {
  it("names bad arguments as its provider's wire does", async () => {
    expect(await fetched({}, { url: 'no address' })).toMatchObject({ error_code: 'invalid_tool_input' });
  });

  it('has no place on the chat wire: the tool is left to the upstream', async () => {
    expect(await plan({}, 'openai-chat')).toBeUndefined();
  });
});
