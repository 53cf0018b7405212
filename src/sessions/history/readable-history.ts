/**
 * A conversation as people read it: what a compaction took away from the model stays, and what stands
 * in its place is not part of it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Message } from '../../core/conversation.js';
import { isLeftOut, saidAfterNotes } from './compaction-notes.js';

export class ReadableHistory {
  #messages = new Set<Message>();
  /** Messages with results, by the ids of their calls. */
  readonly #results = new Map<string, Message>();
  /** Messages that the model lost with the last cut, until what comes next says why. */
  #cut = new Set<Message>();

  messages(): Message[] {
    this.#drop();
    return [...this.#messages];
  }

  cut(messages: readonly Message[]): void {
    this.#drop();
    this.#cut = new Set(messages);
  }

  write(message: Message): void {
    if (this.#messages.has(message)) {
      this.#cut.delete(message);
      return;
    }
    const said = saidAfterNotes(message);
    if (said !== undefined && this.#cut.size > 0 && (said.length === 0 || this.#hasSaid(said))) {
      this.#cut.clear();
      return;
    }
    const whole = isShortened(message) ? this.#results.get(resultsOf(message)) : undefined;
    if (whole !== undefined) {
      this.#cut.delete(whole);
      return;
    }
    this.#drop();
    this.#messages.add(message);
    const results = resultsOf(message);
    if (results !== '') this.#results.set(results, message);
  }

  #hasSaid(blocks: Message['content']): boolean {
    return [...this.#messages].some(({ content }) => isDeepStrictEqual(content, blocks));
  }

  /** Nothing came in their place: the conversation went on from before them. */
  #drop(): void {
    for (const message of this.#cut) {
      this.#messages.delete(message);
      this.#results.delete(resultsOf(message));
    }
    this.#cut.clear();
  }
}

function isShortened({ content }: Message): boolean {
  return content.some((block) => block.type === 'tool_result' && isLeftOut(block.content));
}

function resultsOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])).join('\n');
}
