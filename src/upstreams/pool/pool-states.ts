/** What is known of the targets of pools. It outlives a changed configuration, for targets that stay. */
import { ConversationHomes } from './conversation-homes.js';
import { TargetHealth } from './target-health.js';

export interface PoolTargetState {
  health: TargetHealth;
  /** How far its turn is due. */
  credit: number;
}

interface PoolState {
  homes: ConversationHomes;
  /** In the order that was asked for. */
  targets: readonly PoolTargetState[];
}

export class PoolStates {
  readonly #now: () => number;
  readonly #pools = new Map<
    string,
    { homes: ConversationHomes; targets: ReadonlyMap<string, PoolTargetState> }
  >();

  /** `now`: a clock that nobody sets. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Of a pool with these targets; what is known of others that it had is forgotten. */
  open(pool: string, ids: readonly string[]): PoolState {
    const known = this.#pools.get(pool);
    const targets = ids.map(
      (id) => known?.targets.get(id) ?? { health: new TargetHealth(this.#now), credit: 0 },
    );
    const homes = known?.homes ?? new ConversationHomes();
    this.#pools.set(pool, {
      homes,
      targets: new Map(targets.map((each, index) => [ids[index] ?? '', each])),
    });
    return { homes, targets };
  }

  /** Forgets all other pools. */
  keep(pools: ReadonlySet<string>): void {
    for (const name of this.#pools.keys()) if (!pools.has(name)) this.#pools.delete(name);
  }
}
