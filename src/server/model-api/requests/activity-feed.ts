/**
 * Puts what an agent does between the events of its answer, as comments of the event stream: every
 * reader of such streams skips those, while the official clients take an event of any name for a
 * piece of the answer. It never waits and never makes the agent wait: what a slow reader does not
 * take is dropped, oldest first, and the numbers show it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AgentActivity } from '../../../activity/activity.js';
import { COMMENT_LIMITS, encodeActivity } from '../../../activity/encode.js';

const HEADER = 'x-toolgate-events';
/** Lines that wait for the reader. Each is a few kilobytes at most. */
const WAITING = 200;

/** Words and calls as they come: the answer itself carries them. */
const IN_ANSWER: ReadonlySet<AgentActivity['type']> = new Set([
  'text',
  'thinking',
  'call-began',
  'call-input',
  'call-whole',
  'calls-dropped',
]);

/** Where whole events are written. */
interface FeedWriter {
  readonly behind: boolean;
  write(text: string): boolean;
}

export class ActivityFeed {
  #writer: FeedWriter | undefined;
  #onWritten: (text: string) => void = () => {};
  #waiting: string[] = [];
  #seq = 0;
  #closed = false;

  /** For `ModelRequest.observe`. */
  readonly observe = (activity: AgentActivity): void => {
    if (this.#closed) return;
    if (IN_ANSWER.has(activity.type)) return;
    const encoded = { ...encodeActivity(activity, COMMENT_LIMITS), seq: this.#seq };
    this.#seq += 1;
    this.#waiting.push(`: toolgate ${oneLine(JSON.stringify(encoded))}\n\n`);
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

/** JSON leaves signs as they are that some readers take for the end of a line. */
function oneLine(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
