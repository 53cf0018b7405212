/** What models cost: as the configuration says, else as the provider lists them whose own address the upstream has. */
import type { Config } from '../config/schema.js';
import type { ConversationRequest } from '../core/conversation.js';
import type { Price } from '../core/price.js';
import type { ModelRoute } from '../routing/model-router.js';
import { LIST_PRICES, type ListPrices } from '../upstreams/list-prices.js';

/** What a list price depends on. */
type Asked = Pick<ConversationRequest, 'serviceTier' | 'inferenceGeo' | 'extensions'>;

type Route = Pick<ModelRoute, 'rule' | 'model'>;

export class ModelPrices {
  readonly #listed: ReturnType<ListPrices['of']>;

  constructor(upstreams: Config['upstreams'], list: ListPrices = LIST_PRICES) {
    this.#listed = list.of(upstreams);
  }

  /** Before anybody has answered: every upstream that may answer has a price. */
  isKnown(route: Route, asked?: Asked): boolean {
    const { price, engine, upstreams } = route.rule;
    if (price !== undefined) return price !== 'none';
    if (asked !== undefined && !isAtListPrice(asked)) return false;
    if (engine !== 'relay') return this.#common(route) !== undefined;
    return upstreams.every((name) => this.#of(name, route.model) !== undefined);
  }

  /** Of an answer that `upstream` gave. */
  of(route: Route, upstream: string, asked: Asked): Price | undefined {
    const { price, engine } = route.rule;
    if (price !== undefined) return price === 'none' ? undefined : price;
    if (!isAtListPrice(asked)) return undefined;
    return (engine === 'relay' ? this.#of(upstream, route.model) : undefined) ?? this.#common(route);
  }

  /**
   * The same whoever answers. An agent calls its model many times and each call may be answered by another; of its
   * usage the sum alone is known, so that a price which depends on the length of a prompt says nothing.
   */
  #common({ rule: { engine, upstreams }, model }: Route): Price | undefined {
    const [first, ...others] = upstreams.map((name) => this.#of(name, model));
    if (engine !== 'relay' && first?.long !== undefined) return undefined;
    return others.every((other) => other === first) ? first : undefined;
  }

  #of(upstream: string, model: string): Price | undefined {
    return this.#listed.get(upstream)?.get(model);
  }
}

const USUAL_TIERS: ReadonlySet<unknown> = new Set([
  undefined,
  'auto',
  'default',
  'standard',
  'standard_only',
]);
const USUAL_PLACES: ReadonlySet<unknown> = new Set([undefined, 'global']);
const USUAL_SPEEDS: ReadonlySet<unknown> = new Set([undefined, 'standard']);

/** Faster answers, other tiers and promises about the place have prices of their own. */
function isAtListPrice({ serviceTier, inferenceGeo, extensions }: Asked): boolean {
  return (
    USUAL_TIERS.has(serviceTier) &&
    USUAL_PLACES.has(inferenceGeo) &&
    USUAL_SPEEDS.has(extensions['anthropic-messages']?.['speed'])
  );
}
