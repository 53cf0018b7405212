/**
 * What providers ask for their models, as data with its date. It holds at a provider's own address alone: another
 * server that has a model of the same name asks what it likes. A model that is not in it has no known price.
 */
import type { Config } from '../config/schema.js';
import type { Price } from '../core/price.js';
import { targetsOf } from './endpoint.js';
import shipped from './list-prices.json' with { type: 'json' };

interface Rates {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

interface ListedPrice extends Rates {
  /** For prompts of more tokens than `above`, and then for the whole request. */
  long?: Rates & { above: number };
}

interface PriceList {
  /** The day that all of it was looked up. */
  date: string;
  providers: Readonly<
    Record<string, { address: string; models: Readonly<Record<string, ListedPrice | undefined>> }>
  >;
}

/** One object for each model of a provider: two upstreams that have the same one ask the same. */
type Prices = ReadonlyMap<string, Price>;

export class ListPrices {
  readonly date: string;
  /** By origin. */
  readonly #providers: ReadonlyMap<string, Prices>;

  constructor({ date, providers }: PriceList) {
    this.date = date;
    this.#providers = new Map(
      Object.values(providers).map(({ address, models }) => [new URL(address).origin, pricesOf(models)]),
    );
  }

  /** By the names of upstreams, and of the targets of pools; a pool whose targets differ has none of its own. */
  of(upstreams: Config['upstreams']): ReadonlyMap<string, Prices> {
    const found = new Map<string, Prices>();
    for (const [name, upstream] of Object.entries(upstreams)) {
      if (upstream.dialect === 'demo') continue;
      const targets = targetsOf(name, upstream).map((target) => ({
        name: target.name,
        prices: this.#providers.get(new URL(target.options.base_url).origin),
      }));
      const [first] = targets;
      for (const { name: target, prices } of targets) if (prices !== undefined) found.set(target, prices);
      if (first?.prices !== undefined && targets.every(({ prices }) => prices === first.prices)) {
        found.set(name, first.prices);
      }
    }
    return found;
  }
}

function pricesOf(models: PriceList['providers'][string]['models']): Prices {
  const prices = new Map<string, Price>();
  for (const [name, listed] of Object.entries(models)) {
    if (listed === undefined) continue;
    const { long } = listed;
    prices.set(name, {
      ...ratesOf(listed),
      ...(long === undefined ? {} : { long: { above: long.above, ...ratesOf(long) } }),
    });
  }
  return prices;
}

function ratesOf({ input, output, cache_read, cache_write }: Rates): Omit<Price, 'long'> {
  return { input, output, cacheRead: cache_read, cacheWrite: cache_write };
}

/** Those that this version was made with. */
export const LIST_PRICES = new ListPrices(shipped);
