/**
 * The append-only transcript of a session. Engines also replace messages (a summary instead of old
 * ones), so each entry is a step, and the conversation as of any step can be replayed.
 */
import type { Message } from '../../core/conversation.js';
import { heapBytesOf } from '../../core/json-text.js';
import { share } from '../../core/shared-values.js';
import type { NewTranscriptEntry, TranscriptEntry } from '../../store/sessions.js';
import { ReadableHistory } from '../history/readable-history.js';
import { messagesIn } from '../history/user-turns.js';
import { toolCallsIn } from '../history/visible-history.js';
import { type LogEntry, readLogEntry } from './session-row.js';

export class TranscriptLog {
  readonly #entries: LogEntry[] = [];
  readonly #ids = new Set<string>();
  /** The step in which a message was written first. */
  readonly #steps = new Map<Message, number>();
  #messages: Message[] = [];
  #end: string | undefined;
  #bytes = 0;

  static read(rows: readonly TranscriptEntry[]): TranscriptLog {
    const log = new TranscriptLog();
    log.#pushRows(rows);
    return log;
  }

  /** What the store has from the last known entry on. False where that is another entry than the one known. */
  extend(rows: readonly TranscriptEntry[]): boolean {
    const known = Math.min(1, this.length);
    if (known > 0 && rows[0]?.uuid !== this.#end) return false;
    this.#pushRows(rows.slice(known));
    return true;
  }

  /** Memory that its messages take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Steps written. */
  get length(): number {
    return this.#entries.length;
  }

  /** The conversation as of the last step. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Ids of every tool call of the session. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** The step in which a message of the conversation was written first. */
  stepOf(message: Message): number {
    return this.#steps.get(message) ?? 0;
  }

  asOf(step: number): readonly Message[] {
    return step >= this.length ? this.#messages : this.#replay(this.#entries.slice(0, step), []);
  }

  entries(step: number): readonly LogEntry[] {
    return this.#entries.slice(0, step);
  }

  /** The conversation as people read it, with what compactions have replaced. */
  readable(): readonly Message[] {
    if (this.#entries.every(({ kind }) => kind !== 'keep')) return this.#messages;
    const readable = new ReadableHistory();
    const messages: Message[] = [];
    for (const entry of this.#entries) {
      if (entry.kind === 'keep') readable.cut(messages.slice(entry.count));
      const before = messages.length;
      this.#apply(entry, messages);
      for (const message of messages.slice(before)) readable.write(message);
    }
    return readable.messages();
  }

  /**
   * Where a turn of the readable conversation begins (see `user-turns.ts`): what the model had before
   * it, and what was said. `said` is undefined after the last turn. Throws `invalid_request` where
   * there are fewer turns.
   */
  turnStart(turn: number): { before: readonly Message[]; said: Message | undefined } {
    const readable = this.readable();
    const said = readable[messagesIn(readable, turn)];
    if (said === undefined) return { before: this.#messages, said };
    const at = this.#messages.indexOf(said);
    return { before: at < 0 ? this.asOf(this.stepOf(said) - 1) : this.#messages.slice(0, at), said };
  }

  /** Assistant messages after a step, also those that a compaction has replaced. */
  saidAfter(step: number): Message[] {
    return this.#entries.slice(step).flatMap((entry) => {
      return entry.kind === 'message' && entry.message.role === 'assistant' ? [entry.message] : [];
    });
  }

  /** How many messages come before the first assistant message that was written after a step. */
  countBefore(step: number): number {
    const first = this.#messages.findIndex((message) => {
      return message.role === 'assistant' && (this.#steps.get(message) ?? 0) > step;
    });
    return first < 0 ? this.#messages.length : first;
  }

  /** The entries that turn the conversation into `messages`; compared by identity. */
  difference(messages: readonly Message[]): LogEntry[] {
    let same = 0;
    while (same < messages.length && messages[same] === this.#messages[same]) same += 1;
    const added = messages.slice(same).map((message): LogEntry => {
      const step = this.#steps.get(message);
      return step === undefined ? { kind: 'message', message } : { kind: 'again', step };
    });
    return same === this.#messages.length ? added : [{ kind: 'keep', count: same }, ...added];
  }

  #pushRows(rows: readonly TranscriptEntry[]): void {
    this.push(
      rows.map(({ message }) => readLogEntry(message)),
      rows.at(-1)?.uuid,
    );
  }

  /** `end`: the uuid of the last one. */
  push(entries: readonly LogEntry[], end?: string): void {
    if (entries.length === 0) return;
    this.#end = end;
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#bytes += ENTRY_BYTES;
      if (entry.kind !== 'message') continue;
      // Turns to come send it again: what is made of it is kept with it.
      share(entry.message);
      this.#bytes += heapBytesOf(entry.message);
      this.#steps.set(entry.message, this.#entries.length);
      for (const { id } of toolCallsIn(entry.message)) this.#ids.add(id);
    }
    this.#messages = this.#replay(entries, this.#messages);
  }

  #replay(entries: readonly LogEntry[], start: readonly Message[]): Message[] {
    const messages = [...start];
    for (const entry of entries) this.#apply(entry, messages);
    return messages;
  }

  /** Changes `messages` in place. */
  #apply(entry: LogEntry, messages: Message[]): void {
    if (entry.kind === 'keep') messages.length = Math.min(messages.length, entry.count);
    else if (entry.kind === 'message') messages.push(entry.message);
    else {
      const earlier = this.#entries[entry.step - 1];
      if (earlier?.kind === 'message') messages.push(earlier.message);
    }
  }
}

/** An entry in its lists. */
const ENTRY_BYTES = 96;

/** `by` distinguishes two writers; the position distinguishes the entries of one. */
export const entryId = (by: number, position: number): string => `${by}.${position}`;

export function toRows(entries: readonly object[], after: number, by: number): NewTranscriptEntry[] {
  return entries.map((message, index) => ({ uuid: entryId(by, after + index + 1), message }));
}
