/**
 * Weighted rendezvous hashing: which target of a pool a conversation belongs to. It needs no memory, so
 * every node, worker and restart with the same targets says the same, and a target that leaves moves its
 * own conversations alone.
 */
import { hash } from 'node:crypto';

interface Weighted {
  /** The same on every node. */
  id: string;
  weight: number;
}

/** The target that the conversation belongs to comes first, then where it goes while that one is down. */
export function byRendezvous<T extends Weighted>(targets: readonly T[], conversation: string): readonly T[] {
  return targets
    .map((target) => ({ target, score: scoreOf(target, conversation) }))
    .toSorted((one, two) => two.score - one.score || compareIds(one.target, two.target))
    .map(({ target }) => target);
}

const compareIds = (one: Weighted, two: Weighted): number => (one.id < two.id ? -1 : 1);

/** Among independent scores of this form each is the highest in proportion to its weight. */
function scoreOf({ id, weight }: Weighted, conversation: string): number {
  return -weight / Math.log(fraction(`${conversation} ${id}`));
}

/** 48 bits of a hash, as a number between 0 and 1 that is neither. */
function fraction(text: string): number {
  return (Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) + 0.5) / 2 ** 48;
}
