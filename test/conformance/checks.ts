/** Every check that the cases ask for: a variation on one pair, streamed or whole. */
import type { Case, ReplySpec, Variation } from './case-schema.js';
import { PAIRS, type Pair, pairName, select, WIRES } from './dialects.js';
import { hasForm, PLAIN_REPLY } from './reply.js';

export interface Check {
  variation: Variation;
  /** What the case gives all its variations. */
  common: Pick<Case, 'request'>;
  pair: Pair;
  stream: boolean;
}

export function checksOf(given: Case): Check[] {
  return given.variations.flatMap((variation) => checksOfVariation(given, variation));
}

export function checksOfVariation(common: Case, variation: Variation): Check[] {
  return pairsOf(variation).flatMap((pair) =>
    formsOf(variation, pair).map((stream) => ({ variation, common, pair, stream })),
  );
}

export const titleOf = ({ pair, stream }: Check): string =>
  `${pair.client} client, ${pair.upstream} upstream, ${stream ? 'streamed' : 'whole'}`;

/** The upstream's replies, in order. */
export function repliesOf(variation: Variation, pair: Pair): ReplySpec[] {
  return [...(select(variation.first, pair) ?? []), select(variation.reply, pair) ?? PLAIN_REPLY];
}

function pairsOf(variation: Variation): Pair[] {
  const { client = WIRES, upstream = upstreamsOf(variation), except = [], bytes } = variation;
  for (const name of except) {
    if (!PAIRS.some((pair) => pairName(pair) === name)) throw new Error(`${name} is no pair`);
  }
  return PAIRS.filter(
    (pair) =>
      client.includes(pair.client) &&
      upstream.includes(pair.upstream) &&
      !except.includes(pairName(pair)) &&
      (bytes === undefined || pair.client === pair.upstream),
  );
}

/** Those that `reply` has bytes for; all where it says nothing of wires. */
function upstreamsOf({ reply }: Variation): readonly Pair['upstream'][] {
  if (reply === undefined) return WIRES;
  const known = WIRES.filter((upstream) =>
    PAIRS.some((pair) => pair.upstream === upstream && select(reply, pair)),
  );
  return known.length === 0 ? WIRES : known;
}

function formsOf(variation: Variation, pair: Pair): boolean[] {
  if (variation.counts !== undefined) return [false];
  const { stream = 'both' } = variation;
  const forms = [true, false].filter(
    (form) =>
      stream !== (form ? 'never' : 'only') &&
      repliesOf(variation, pair).every((reply) => hasForm(reply, form)),
  );
  if (forms.length === 0) throw new Error(`${variation.title}: no reply for ${pairName(pair)}`);
  return forms;
}
