/** Answers that a model might give, as the wire builders take them. */
import { cut, type Part, type Pieces, type Scripted, type Stop, type Wire } from '../support/scripted.js';
import type { Random } from './random.js';

export const TOOLS = ['get_weather', 'search', 'run', 'search_all'] as const;

function pieces(random: Random, text: string): Pieces {
  return cut(text, random.between(1, 12));
}

function value(random: Random, depth: number): unknown {
  switch (random.below(depth > 2 ? 4 : 6)) {
    case 0:
      return random.between(-1000, 1000) / random.pick([1, 7, 10]);
    case 1:
      return random.text(0, 6);
    case 2:
      return random.chance(0.5);
    case 3:
      return null;
    case 4:
      return random.list(0, 3, () => value(random, depth + 1));
    default:
      return input(random, depth + 1);
  }
}

function input(random: Random, depth = 0): Wire {
  return Object.fromEntries(
    random.list(0, 3, (index) => [
      `${random.pick(['city', 'query', 'n', 'é'])}${index}`,
      value(random, depth),
    ]),
  );
}

function part(random: Random, index: number): Part {
  const kind = random.below(10);
  if (kind < 4) return { type: 'text', text: pieces(random, random.text(1, 12)) };
  if (kind < 6) {
    const text = pieces(random, random.text(1, 8));
    return {
      type: 'thinking',
      text,
      ...(random.chance(0.5) ? { signature: `sig${random.below(1e6)}` } : {}),
    };
  }
  const indent = random.pick([0, 0, 0, 2]);
  return {
    type: 'call',
    id: `call_${index}_${random.below(1e6)}`,
    name: random.pick(TOOLS),
    arguments: pieces(random, JSON.stringify(input(random), null, indent)),
  };
}

/** Reasons that can stand beside these parts without contradicting them. */
function stopOf(random: Random, parts: readonly Part[]): Stop | undefined {
  if (random.chance(0.8)) return undefined;
  return parts.some(({ type }) => type === 'call') ? 'max_tokens' : random.pick(['max_tokens', 'end_turn']);
}

export function randomAnswer(random: Random): Scripted {
  const parts = random.list(0, 5, (index) => part(random, index));
  const stop = stopOf(random, parts);
  return {
    parts,
    ...(stop === undefined ? {} : { stop }),
    usage: {
      input: random.below(5000),
      output: random.below(500),
      cacheRead: random.pick([0, 0, random.below(9000)]),
    },
  };
}
