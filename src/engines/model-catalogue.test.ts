import { describe, expect, it } from 'vitest';
import { configSchema } from '../config/schema.js';
import { createModelCatalogue } from './model-catalogue.js';

const config = configSchema.parse({
  upstreams: { up: { dialect: 'openai-chat', base_url: 'http://127.0.0.1:9' } },
  models: {
    fast: { upstream: 'up', price: { input: 1, output: 2 }, display_name: 'Fast one' },
    coder: { engine: 'native', upstream: 'up', cwd: './work' },
    'claude-*': { upstream: 'up', context_window: 1000 },
    '*': { engine: 'native', upstream: 'up' },
  },
});
const catalogue = createModelCatalogue({ models: config.models, baseDir: '/base', startDir: '/start' });
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
