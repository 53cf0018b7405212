/**
 * Commands as they were read a moment ago, for trying one rule after the other on the same calls.
 * Real calls are read anew each time: a link may lead elsewhere by now.
 */
import type { JudgedToolCall } from '../decision.js';
import type { Effect } from '../effects.js';
import type { PreparedCommand } from './command.js';

const KEPT_MS = 60_000;
const MOST = 2_000;

type CommandEffect = Extract<Effect, { kind: 'command' }>;

export class RecentCommands {
  readonly #known = new Map<string, { at: number; prepared: PreparedCommand }>();

  of(call: JudgedToolCall, effect: CommandEffect, prepare: () => PreparedCommand): PreparedCommand {
    const key = JSON.stringify([call.location.root, effect.cwd, effect.command]);
    const now = performance.now();
    const known = this.#known.get(key);
    if (known !== undefined && now - known.at < KEPT_MS) return known.prepared;
    const prepared = prepare();
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, { at: now, prepared });
    return prepared;
  }
}
