/** What the client hears of the messages of a turn, with what belongs between two of them. */

import { eventsOfBlocks } from '../../core/block-events.js';
import type { Block } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { spokenBehind } from './answers.js';

export class AnswerAssembler {
  /** Everything so far, calls apart. */
  readonly said: Block[];
  readonly #separator: string;
  #begun = false;
  #breakDue: boolean;
  #textDue = false;

  /** `before`: said where the turn broke off, and to be said again. `separator`: see `spokenBehind`. */
  constructor(before: readonly Block[], separator: string) {
    this.said = [...before];
    this.#separator = separator;
    this.#breakDue = this.said.length > 0;
  }

  /** `raw`: all events of the piece; `events`: those of them that the client may see. */
  speak(events: readonly ModelEvent[], raw: readonly ModelEvent[]): ModelEvent[] {
    const out = [...events];
    if (this.#breakDue && out.some(({ type }) => type !== 'loss' && type !== 'ping')) {
      this.#breakDue = false;
      out.unshift({ type: 'break' });
    }
    const first = out.findIndex(({ type }) => type === 'text');
    if (first >= 0 && this.#textDue) {
      this.#textDue = false;
      if (this.#separator !== '') out.splice(first, 0, { type: 'text', text: this.#separator });
    }
    return this.#begun ? out : this.#begin(raw, out);
  }

  /** For an answer without a message of the model. */
  repeat(): ModelEvent[] {
    return this.#begun ? [] : this.#begin([], []);
  }

  /** A message is whole. */
  finish(spoken: readonly Block[]): void {
    this.said.push(...spokenBehind(this.said, spoken, this.#separator));
    this.#breakDue = true;
    this.#textDue = this.#hasText();
  }

  /** The prompt's tokens belong to the head of the answer, which is the first message's. */
  #begin(raw: readonly ModelEvent[], out: readonly ModelEvent[]): ModelEvent[] {
    this.#begun = true;
    this.#textDue = this.#hasText();
    const start = raw.find((event) => event.type === 'start');
    const usage = start?.usage === undefined ? {} : { usage: start.usage };
    return [{ type: 'start', ...usage }, ...eventsOfBlocks(this.said), ...out];
  }

  #hasText(): boolean {
    return this.said.some(({ type }) => type === 'text');
  }
}
