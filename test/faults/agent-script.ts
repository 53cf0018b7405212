/** What the model of a disturbed conversation says, and where it can be held while it says it. */

import type { AgentStep } from '../support/scripted-agent-model.js';
import { inDialect } from '../support/scripted-answers.js';
import { type Gate, gate, type Piece, type Reply } from '../support/scripted-upstream.js';
import { offeredName } from '../support/told.js';
import { type CallPart, call, cut, type Scripted } from '../support/wire.js';
import { LOOKUP } from './agent-client.js';

/** Before anything of the answer, in the middle of it, or before its last events. */
export type Where = 'before' | 'half' | 'end';

export const words = (text: string): Scripted => ({ parts: [{ type: 'text', text: cut(text, 5) }] });

export const says = (text: string, ...calls: readonly CallPart[]): Scripted => ({
  parts: [...(text === '' ? [] : [{ type: 'text' as const, text: cut(text, 5) }]), ...calls],
});

export const lookup = (id: string): CallPart => call(LOOKUP, { word: id }, id);

export const bash = (id: string, command: string): CallPart =>
  call('Bash', { command, description: 'A step of the task' }, id);

/** Events behind the last call: what says that the message is over. */
const ENDING_EVENTS = 2;

/** The first time it is asked, a step waits at the gate; every other time it does not. */
export class HeldStep {
  readonly gate: Gate = gate();
  readonly #scripted: Scripted;
  readonly #where: Where;

  constructor(scripted: Scripted, where: Where) {
    this.#scripted = scripted;
    this.#where = where;
  }

  /** For a state that may be asked about twice. */
  get steps(): readonly AgentStep[] {
    return [this.held, this.#scripted];
  }

  readonly held: AgentStep = async ({ seen }): Promise<Reply> => {
    if (this.#where === 'before') await this.gate.pass();
    const parts = this.#scripted.parts.map((part) =>
      part.type === 'call' ? { ...part, name: offeredName(part.name, seen.tools) } : part,
    );
    const id = `held_${seen.recorded.connection}_${Date.now()}`;
    return inDialect({ id, ...this.#scripted, parts }, { pieces: (stream) => this.#cut(stream) })(
      seen.recorded,
      0,
    );
  };

  #cut(stream: string): Piece[] {
    const events = stream.split(/(?<=\n\n)/).filter((event) => event !== '');
    if (this.#where === 'before') return events;
    const at = this.#where === 'half' ? Math.ceil(events.length / 2) : events.length - ENDING_EVENTS;
    return [...events.slice(0, at), this.gate, ...events.slice(at)];
  }
}
