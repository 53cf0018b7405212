import { describe, expect, it } from 'vitest';
import { ModelRouter } from '../routing/model-router.js';
import type { ListedModel, Upstream } from '../upstreams/upstream.js';
import { ModelList } from './model-list.js';

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
