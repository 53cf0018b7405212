import { describe, expect, it } from 'vitest';
import { configSchema } from '../config/schema.js';
import { ModelRouter } from '../routing/model-router.js';
import { ListPrices } from '../upstreams/list-prices.js';
import { rulesOf } from './model-catalogue.js';
import { ModelPrices } from './model-prices.js';

const rates = (input: number) => ({ input, output: input, cache_read: input, cache_write: input });
const list = new ListPrices({
  date: '2026-01-02',
  providers: {
    one: {
      address: 'https://one.example',
      models: { m: rates(1), tiered: { ...rates(1), long: { above: 100, ...rates(2) } } },
    },
    two: { address: 'https://two.example', models: { m: rates(3) } },
  },
});
const remote = (base_url: string) => ({ dialect: 'openai-chat', base_url });
const config = configSchema.parse({
  upstreams: {
    one: remote('https://one.example/v1'),
    again: remote('https://one.example/v2'),
    two: remote('https://two.example'),
    local: remote('http://127.0.0.1:1'),
  },
  models: {
    m: { upstream: 'one' },
    other: { upstream: 'one' },
    alias: { upstream: 'one', model: 'm' },
    own: { upstream: 'one', model: 'm', price: { input: 9, output: 9 } },
    none: { upstream: 'one', model: 'm', price: 'none' },
    both: { upstream: ['one', 'two'], model: 'm' },
    mixed: { upstream: ['one', 'local'], model: 'm' },
    local: { upstream: 'local', model: 'm' },
    tiered: { upstream: 'one' },
    agent: { engine: 'native', upstream: ['one', 'again'], model: 'm' },
    'agent-of-two': { engine: 'native', upstream: ['one', 'two'], model: 'm' },
    'agent-tiered': { engine: 'native', upstream: 'one', model: 'tiered' },
  },
});
const prices = new ModelPrices(config.upstreams, list);
const router = new ModelRouter(rulesOf(config.models, undefined));
const usual = { extensions: {} };

function route(name: string) {
  const found = router.route(name);
  if (found === undefined) throw new Error(`There is no model ${name}.`);
  return found;
}

describe('what an answer costs', () => {
  it.each([
    ['m', 'one', true, 1],
    ['other', 'one', false, undefined],
    ['alias', 'one', true, 1],
    ['own', 'one', true, 9],
    ['none', 'one', false, undefined],
    ['both', 'one', true, 1],
    ['both', 'two', true, 3],
    ['mixed', 'one', false, 1],
    ['mixed', 'local', false, undefined],
    ['local', 'local', false, undefined],
    ['tiered', 'one', true, 1],
    ['agent', 'one', true, 1],
    ['agent', 'toolgate', true, 1],
    ['agent-of-two', 'one', false, undefined],
    ['agent-tiered', 'one', false, undefined],
  ])('of %s by %s: known before %s, %s', (model, upstream, known, input) => {
    expect(prices.isKnown(route(model), usual)).toBe(known);
    expect(prices.of(route(model), upstream, usual)?.input).toBe(input);
  });

  it.each([
    ['a tier', { serviceTier: 'priority', extensions: {} }],
    ['a place', { inferenceGeo: 'us', extensions: {} }],
    ['speed', { extensions: { 'anthropic-messages': { speed: 'fast' } } }],
  ])(
    'is not what is listed for a request that asks for %s, and what the file says all the same',
    (_, asked) => {
      expect([prices.isKnown(route('m'), asked), prices.of(route('m'), 'one', asked)]).toEqual([
        false,
        undefined,
      ]);
      expect(prices.of(route('own'), 'one', asked)?.input).toBe(9);
    },
  );
});
