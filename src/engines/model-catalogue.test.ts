import { describe, expect, it } from 'vitest';
import { configSchema } from '../config/schema.js';
import { ModelRouter } from '../routing/model-router.js';
import type { ListedModel, Upstream } from '../upstreams/upstream.js';
import { createModelCatalogue, ModelList } from './model-catalogue.js';

const config = configSchema.parse({
  upstreams: { up: { dialect: 'openai-chat', base_url: 'http://127.0.0.1:9' } },
  models: {
    fast: { upstream: 'up', price: { input: 1, output: 2 }, display_name: 'Fast one' },
    coder: { engine: 'native', upstream: 'up', cwd: './work' },
    'claude-*': { upstream: 'up', context_window: 1000 },
    '*': { engine: 'native', upstream: 'up' },
  },
});
const catalogue = createModelCatalogue({ ...config, baseDir: '/base', startDir: '/start' });
const key = (...models: string[]) => ({ name: 'alice', models });

describe('the models that a key may choose', () => {
  it('are the names first, then patterns', () => {
    const offered = catalogue.offered(key('*'));
    expect(offered.map(({ name, pattern }) => [name, pattern])).toEqual([
      ['fast', false],
      ['coder', false],
      ['claude-*', true],
      ['*', true],
    ]);
    expect(offered[0]).toMatchObject({
      engine: 'relay',
      displayName: 'Fast one',
      priced: true,
      root: undefined,
    });
    expect(offered[1]).toMatchObject({ engine: 'native', root: '/base/work', priced: false });
    expect(offered[3]).toMatchObject({ root: '/start' });
  });

  it('are only those that it may call, also behind a pattern', () => {
    expect(catalogue.offered(key('claude-opus', 'coder')).map(({ name }) => name)).toEqual([
      'coder',
      'claude-opus',
    ]);
    expect(catalogue.offered(key('claude-*')).map(({ name }) => name)).toEqual(['claude-*']);
    expect(catalogue.offered(key('nothing-*'))).toEqual([]);
  });

  it('are joined by what an upstream lists', () => {
    const listed = [
      { id: 'claude-x', displayName: 'Claude X', contextWindow: 5 },
      { id: 'fast', displayName: 'other' },
    ];
    const names = catalogue.offered(key('claude-*'), listed);
    expect(names).toMatchObject([
      { name: 'claude-x', pattern: false, displayName: 'Claude X', contextWindow: 1000 },
      { name: 'claude-*' },
    ]);
  });

  it('are found as a request finds them', () => {
    expect(catalogue.find('claude-y[1m]', key('*'))).toMatchObject({ name: 'claude-y', pattern: false });
    expect(() => catalogue.find('fast', key('coder'))).toThrow('may not call the model fast');
  });
});

const rule = (upstream: string, model?: string) => ({
  engine: 'relay' as const,
  upstreams: [upstream],
  ...(model === undefined ? {} : { model }),
});

function upstreamWith(name: string, listModels: () => Promise<readonly ListedModel[]>): Upstream {
  const unused = async () => {
    throw new Error('unused');
  };
  return { name, dialect: 'openai-chat', call: unused, countTokens: unused, listModels };
}

const ids = async (list: ModelList) => (await list.list()).map(({ id }) => id);

describe('ModelList', () => {
  it('lists names, then what the upstream of a glob lists and the glob covers', async () => {
    const one = upstreamWith('one', async () => [
      { id: 'gpt-5' },
      { id: 'gpt-6', contextWindow: 9 },
      { id: 'dall-e' },
    ]);
    const router = new ModelRouter({ mine: rule('one', 'gpt-5'), 'gpt-*': rule('one'), '*': rule('demo') });
    const list = new ModelList(router, new Map([['one', one]]));
    expect(await ids(list)).toEqual(['mine', 'gpt-5', 'gpt-6']);
    expect((await list.list())[2]).toMatchObject({ contextWindow: 9, ownedBy: 'one' });
  });

  it('does not list what a glob sends elsewhere or renames', async () => {
    const one = upstreamWith('one', async () => [{ id: 'a-1' }, { id: 'b-1' }]);
    const router = new ModelRouter({ 'a-*': rule('two'), 'b-*': rule('one', 'fixed'), '*': rule('one') });
    expect(await ids(new ModelList(router, new Map([['one', one]])))).toEqual(['demo']);
  });

  it('asks once in a while, and again at once after a failure', async () => {
    let asked = 0;
    let now = 0;
    const one = upstreamWith('one', async () => {
      asked += 1;
      if (asked === 1) throw new Error('down');
      return [{ id: `m${asked}` }];
    });
    const list = new ModelList(new ModelRouter({ '*': rule('one') }), new Map([['one', one]]), () => now);
    expect(await ids(list)).toEqual(['demo']);
    expect(await ids(list)).toEqual(['m2']);
    expect(await ids(list)).toEqual(['m2']);
    now += 10 * 60_000;
    expect(await ids(list)).toEqual(['m3']);
  });
});
