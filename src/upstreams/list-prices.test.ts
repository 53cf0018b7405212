import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { ENVIRONMENT_UPSTREAMS } from '../config/from-environment.js';
import { loadConfig } from '../config/load.js';
import { configSchema } from '../config/schema.js';
import { LIST_PRICES, ListPrices } from './list-prices.js';
import shipped from './list-prices.json' with { type: 'json' };

const upstreams = (given: object) => configSchema.parse({ upstreams: given }).upstreams;
const remote = (base_url: string, more: object = {}) => ({ dialect: 'openai-chat', base_url, ...more });

describe('the list that the gateway ships', () => {
  it('has its date, and the addresses by which keys in the environment connect', () => {
    expect(new Date(`${shipped.date}T00:00:00Z`).toISOString()).toBe(`${shipped.date}T00:00:00.000Z`);
    for (const [name, { address }] of Object.entries(shipped.providers)) {
      const row = ENVIRONMENT_UPSTREAMS.find((each) => each.name === name);
      expect(new URL(row?.baseUrl ?? '').origin).toBe(address);
    }
  });

  it('has prices above 0, and what a cache gives is not dearer than what it does not', () => {
    const providers: ConstructorParameters<typeof ListPrices>[0]['providers'] = shipped.providers;
    const listed = Object.values(providers).flatMap(({ models }) => Object.entries(models));
    for (const [name, price] of listed) {
      const { input = 0, output = 0, cache_read = 0, cache_write = 0, long } = price ?? {};
      expect([name, Math.min(input, output, cache_read, cache_write) > 0]).toEqual([name, true]);
      expect([name, cache_read <= input && input <= cache_write && input < output]).toEqual([name, true]);
      if (long === undefined) continue;
      expect([name, long.above > 0 && long.input > input && long.output > output]).toEqual([name, true]);
    }
  });

  it('is there for a key in the environment', async () => {
    const { path } = await tempFolder();
    const env = { HOME: path, ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', DEEPSEEK_API_KEY: 'd' };
    const { config } = await loadConfig({ cwd: path, env });
    const found = LIST_PRICES.of(config.upstreams);
    expect(found.get('anthropic')?.get('claude-opus-5-5')).toEqual({
      input: 4,
      output: 20,
      cacheRead: 0.2,
      cacheWrite: 5,
    });
    expect(found.get('openai')?.get('gpt-5.6-luna')).toMatchObject({ input: 0.2, long: { above: 272_000 } });
    expect(found.get('openai')?.get('gpt-5.6-luna-next')).toBeUndefined();
    // Its prices depend on the hour.
    expect(found.has('deepseek')).toBe(false);
  });
});

describe('whose prices they are', () => {
  const list = new ListPrices({
    date: '2026-01-02',
    providers: {
      one: {
        address: 'https://api.one.example',
        models: { m: { input: 1, output: 2, cache_read: 0.1, cache_write: 1 } },
      },
    },
  });

  it.each([
    ['https://api.one.example/v1', true],
    ['https://api.one.example:443/other/path', true],
    ['http://api.one.example/v1', false],
    ['https://api.one.example:8443/v1', false],
    ['https://eu.api.one.example/v1', false],
    ['https://api.one.example.evil.example/v1', false],
    ['http://127.0.0.1:11434/v1', false],
  ])('an upstream at %s: %s', (address, known) => {
    expect(list.of(upstreams({ up: remote(address) })).has('up')).toBe(known);
  });

  it('each target of a pool by itself, and the pool where all are at the provider', () => {
    const targets = [{ name: 'a' }, { name: 'b', base_url: 'https://other.example' }];
    const mixed = list.of(upstreams({ up: remote('https://api.one.example', { targets }) }));
    expect([mixed.has('up/a'), mixed.has('up/b'), mixed.has('up')]).toEqual([true, false, false]);
    const same = list.of(upstreams({ up: remote('https://api.one.example', { targets: [{}, {}] }) }));
    expect([...same.keys()]).toEqual(['up/1', 'up/2', 'up']);
  });
});
