/** Hands each request at the scripted upstream the replies of the check that caused it. */
import { json, type Reply } from '../support/replies.js';
import type { RecordedRequest } from '../support/upstream-server.js';
import { isRecord } from '../support/violation.js';
import type { ReplyTo } from './reply.js';

export interface Visit {
  /** Of this check, in order. */
  readonly requests: readonly RecordedRequest[];
  /** From now on, what is asked beyond `replies` is answered by the last of them. */
  expect(replies: readonly ReplyTo[]): void;
  close(): void;
}

interface OpenVisit {
  requests: RecordedRequest[];
  replies: readonly ReplyTo[];
  given: number;
}

export class ScriptDesk {
  readonly #visits = new Map<string, OpenVisit>();

  /** `model` is the name that the upstream is asked for; without, whatever comes belongs to it. */
  open(model: string | undefined): Visit {
    const key = model ?? '';
    if (this.#visits.has(key)) throw new Error(`Two checks at once ask for ${JSON.stringify(key)}`);
    const visit: OpenVisit = { requests: [], replies: [], given: 0 };
    this.#visits.set(key, visit);
    return {
      requests: visit.requests,
      expect: (replies) => {
        visit.replies = replies;
        visit.given = 0;
      },
      close: () => this.#visits.delete(key),
    };
  }

  /** The script of the upstream. */
  readonly reply = (request: RecordedRequest): Reply => {
    const visit = this.#visits.get('') ?? this.#visits.get(modelIn(request));
    if (visit === undefined || request.method !== 'POST')
      return refused(404, `${request.method} ${request.path}`);
    // Not every upstream counts; the gateway has to make do without.
    if (request.path.includes('/count_tokens')) return refused(404, 'count_tokens is not offered');
    visit.requests.push(request);
    const reply = visit.replies[Math.min(visit.given, visit.replies.length - 1)];
    visit.given += 1;
    return reply?.(request) ?? refused(500, 'no reply is scripted');
  };
}

const refused = (status: number, message: string): Reply =>
  json(
    { type: 'error', error: { type: 'not_found_error', message: `Scripted upstream: ${message}` } },
    { status },
  );

function modelIn(request: RecordedRequest): string {
  try {
    const body: unknown = JSON.parse(request.text);
    return isRecord(body) ? String(body['model']) : '';
  } catch {
    return '';
  }
}
