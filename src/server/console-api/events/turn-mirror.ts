/**
 * The turns that run on another node, as that node shows them to one class of viewers: each event is published
 * here again, and the turns are kept as they stand for readers that come later.
 */
import type { ActivityWire } from '../../../activity/wire.js';
import type { Snapshot, TurnEventWire } from '../wire/events.js';
import type { NewEvent } from './hub.js';
import type { EventLimits } from './limits.js';
import { TurnSnapshot } from './turn-snapshot.js';

interface TurnMirrorOptions {
  view: string;
  limits: EventLimits;
  publish(event: NewEvent): void;
  /** A turn of the session runs on that node now. */
  onBegin(session: string): void;
}

/** What a node tells others. */
export type NodeEvent =
  | Pick<Snapshot, 'type' | 'turns'>
  | TurnEventWire
  | ActivityWire
  | Extract<NewEvent, { type: 'request' | 'ping' }>;

export class TurnMirror {
  readonly view: string;
  readonly #options: TurnMirrorOptions;
  readonly #turns = new Map<string, TurnSnapshot>();

  constructor(options: TurnMirrorOptions) {
    this.view = options.view;
    this.#options = options;
  }

  get turns(): TurnSnapshot[] {
    return [...this.#turns.values()];
  }

  /** True where readers have to be told anew what is true. */
  take(event: NodeEvent): boolean {
    if (event.type === 'snapshot') return this.#replace(event.turns);
    if (event.type === 'ping') return false;
    if (event.type === 'turn') this.#onTurn(event);
    else if (event.type !== 'request') this.#turns.get(event.turn)?.add(event);
    this.#options.publish(event);
    return false;
  }

  /** A later turn of the session has taken its place. */
  drop(session: string): void {
    for (const { id, session: its } of this.turns) if (its === session) this.#turns.delete(id);
  }

  /** The node is gone: its turns have ended, and nobody will say how. The sessions that they were of. */
  end(message: string): string[] {
    const sessions = this.turns.map(({ id: turn, session }) => {
      const error = { type: 'unavailable', message };
      this.#options.publish({
        ...{ type: 'turn', state: 'ended', session, turn },
        ...{ end: 'broken', stop_reason: null, error },
      });
      return session;
    });
    this.#turns.clear();
    return sessions;
  }

  #onTurn(event: TurnEventWire): void {
    this.#turns.delete(event.turn);
    if (event.state === 'ended') return;
    const { type: _, state: __, ...began } = event;
    this.#options.onBegin(event.session);
    this.#turns.set(event.turn, new TurnSnapshot('', began, this.#options.limits));
  }

  #replace(turns: Snapshot['turns']): boolean {
    const had = this.#turns.size;
    this.#turns.clear();
    for (const { chunks, truncated, ...began } of turns) {
      this.#options.onBegin(began.session);
      const live = new TurnSnapshot('', began, this.#options.limits, truncated);
      for (const chunk of chunks) live.add(chunk);
      this.#turns.set(live.id, live);
    }
    return had > 0 || turns.length > 0;
  }
}
