/**
 * Puts what an agent does between the events of its answer. It never waits and never makes the
 * agent wait: what a slow reader does not take is dropped, oldest first, and the numbers show it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AgentActivity } from '../../activity/activity.js';
import { encodeActivity } from './encode-activity.js';

const HEADER = 'x-toolgate-events';
/** Lines that wait for the reader. Each is a few kilobytes at most. */
const WAITING = 200;

/** Where whole events are written. */
export interface FeedWriter {
  readonly behind: boolean;
  write(text: string): boolean;
}

export class ActivityFeed {
  #writer: FeedWriter | undefined;
  #onWritten: (text: string) => void = () => {};
  #waiting: string[] = [];
  #seq = 0;
  #closed = false;

  /** For `Call.observe`. */
  readonly observe = (activity: AgentActivity): void => {
    if (this.#closed) return;
    const line = encodeActivity(activity, this.#seq);
    if (line === undefined) return;
    this.#seq += 1;
    this.#waiting.push(line);
    if (this.#waiting.length > WAITING) this.#waiting.shift();
    this.flush();
  };

  /** The head is out: from now on there is somewhere to write. */
  open(writer: FeedWriter, onWritten: (text: string) => void = () => {}): void {
    this.#writer = writer;
    this.#onWritten = onWritten;
    this.flush();
  }

  /** Call only where the stream stands between two events. */
  flush(): void {
    if (this.#writer?.behind === false) this.#write();
  }

  /** Before the answer's last event: nothing follows it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#write();
  }

  #write(): void {
    if (this.#writer === undefined || this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#writer.write(text);
    this.#onWritten(text);
  }
}

/** Undefined where the client did not ask for it. */
export function feedFor(headers: IncomingHttpHeaders): ActivityFeed | undefined {
  const asked = headers[HEADER];
  return asked === '1' || asked === 'true' ? new ActivityFeed() : undefined;
}
