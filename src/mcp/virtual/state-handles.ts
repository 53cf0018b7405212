/**
 * The state of tools for clients without a session. A call that names no handle gets a new state and
 * its handle; a call that names one goes on with it. A handle is of use to the key that got it alone,
 * and in the same workspace.
 */
import { GatewayError } from '../../core/errors.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import { type Kept, KeptByKey } from './kept-by-key.js';
import type { LentState, StateRequest, VirtualParts, VirtualWorkspace } from './mcp-scope.js';
import { ToolStateHolder } from './tool-state-holder.js';

/** The argument of a call that names its state. */
export const STATE_ARGUMENT = 'toolgate_state';

interface Owner {
  principal: string;
  place: VirtualWorkspace;
}

export class StateHandles {
  readonly #home: string;
  readonly #newId: VirtualParts['newId'];
  readonly #states: KeptByKey<HeldState>;

  constructor({ limits, log, home, newId }: Pick<VirtualParts, 'limits' | 'log' | 'home' | 'newId'>) {
    this.#home = home;
    this.#newId = newId;
    this.#states = new KeptByKey<HeldState>({
      most: limits.sessions,
      mostOfKey: limits.sessionsOfKey,
      idleMs: limits.idleMs,
      sweepMs: limits.sweepMs,
      words: { many: 'states of tools', remedy: 'Go on with one by its handle' },
      log,
    });
  }

  async lend(request: StateRequest, owner: Owner, runtime: ToolRuntime): Promise<LentState> {
    const make = (): HeldState => {
      const id = this.#newId(owner.principal);
      return new HeldState(owner, new ToolStateHolder({ ...owner, id, runtime, home: this.#home }));
    };
    if (request.kind === 'once') {
      const state = make();
      return state.lend({ root: undefined, isNew: false, onBack: () => void state.close().catch(() => {}) });
    }
    if (request.kind === 'folder') {
      // Not a handle: no client can name it, and each key has its own.
      const id = JSON.stringify(['folder', owner.principal, owner.place.model, request.root]);
      const known = this.#states.find(id, owner.principal);
      const state = known ?? this.#states.add(id, owner.principal, make);
      return state.lend({ root: request.root, isNew: false });
    }
    const { handle } = request;
    if (handle === undefined) {
      const state = make();
      this.#states.add(state.id, owner.principal, () => state);
      return state.lend({ root: undefined, isNew: true });
    }
    const known = this.#states.find(handle, owner.principal);
    if (known === undefined || !known.isIn(owner.place)) throw unknownHandle(handle);
    return known.lend({ root: undefined, isNew: false });
  }

  close(reason: unknown): Promise<void> {
    return this.#states.endAll(reason);
  }
}

class HeldState implements Kept {
  readonly principal: string;
  usedAt = performance.now();
  readonly #place: VirtualWorkspace;
  readonly #holder: ToolStateHolder;
  #lent = 0;

  constructor({ principal, place }: Owner, holder: ToolStateHolder) {
    this.principal = principal;
    this.#place = place;
    this.#holder = holder;
  }

  get id(): string {
    return this.#holder.id;
  }

  get isIdle(): boolean {
    return this.#lent === 0;
  }

  isIn({ root, model }: VirtualWorkspace): boolean {
    return this.#place.root === root && this.#place.model === model;
  }

  async lend(options: { root: string | undefined; isNew: boolean; onBack?: () => void }): Promise<LentState> {
    this.#lent += 1;
    let back = false;
    const giveBack = (): void => {
      if (back) return;
      back = true;
      this.#lent -= 1;
      this.usedAt = performance.now();
      options.onBack?.();
    };
    try {
      return { id: this.id, tools: await this.#holder.at(options.root), isNew: options.isNew, giveBack };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#holder.close();
  }
}

function unknownHandle(handle: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no state ${JSON.stringify(handle.slice(0, 100))}: it was unused for too long, the gateway that had it was stopped, or it belongs to somebody else. Leave ${STATE_ARGUMENT} out to begin with a new one.`,
  );
}
