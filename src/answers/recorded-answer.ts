/** An answer as it is kept for a repeat of its request: recorded on its way out, and replayed. */
import { isUtf8 } from 'node:buffer';
import { AnswerCollector } from '../core/answer-collector.js';
import type { AssistantMessage, JsonObject } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import { eventsOfBlocks, type ModelEvent, stopEvent } from '../core/events.js';
import { isObject } from '../core/is-object.js';
import { type LifecycleOptions, StreamLifecycle } from '../core/lifecycle.js';
import type { Loss } from '../core/losses.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';
import type { Dialect } from '../dialects/shared/dialect.js';
import { ToolNames } from '../dialects/shared/tool-names.js';
import { SseReader } from '../transport/sse-reader.js';

/** Characters or bytes of one answer. */
export const KEPT_LIMIT = 16 * 1024 * 1024;

/** The identity of an answer, so that a replay is recognisable as the same answer. */
export interface Identity {
  id: string;
  /** Left out: the name that was asked for. */
  model?: string;
  /** Unix seconds. */
  created: number;
}

export interface AnswerFacts {
  upstream: string;
  losses: readonly Loss[];
  headers: Readonly<Record<string, string>>;
  created: number;
}

export type Recorded =
  | ({ kind: 'turn'; turn: AssistantMessage } & AnswerFacts)
  /** The upstream's own bytes. */
  | ({
      kind: 'bytes';
      id: string;
      status: number;
      contentType: string;
      encoding: 'utf8' | 'base64';
      text: string;
    } & AnswerFacts)
  /** It was answered, and nothing more can be said of it. */
  | { kind: 'not-kept' };

interface Replay {
  /** As an engine gives it. */
  answer: Pick<AnswerFacts, 'upstream' | 'losses' | 'headers'> & {
    body:
      | { kind: 'events'; batches: AsyncIterable<readonly ModelEvent[]> }
      | {
          kind: 'bytes';
          status: number;
          contentType: string;
          chunks: AsyncIterable<Uint8Array>;
          usage(): undefined;
        };
  };
  identity: Identity;
}

const REPLAYED = { 'idempotent-replayed': 'true' } as const;
const EVENT_STREAM = 'text/event-stream';
/** Nothing of an answer in the client's own dialect is renamed. */
const OWN_NAMES = new ToolNames({ pattern: /^/, maxLength: 1_000 });

/** Undefined for a row that some other version has written. */
export function readRecorded(body: unknown): Recorded | undefined {
  return isRecorded(body) ? body : undefined;
}

function isRecorded(body: unknown): body is Recorded {
  if (!isObject(body)) return false;
  switch (body['kind']) {
    case 'turn':
      return isFacts(body) && isObject(body['turn']) && Array.isArray(body['turn']['content']);
    case 'bytes':
      return (
        isFacts(body) &&
        ['text', 'contentType', 'encoding', 'id'].every((key) => typeof body[key] === 'string') &&
        typeof body['status'] === 'number'
      );
    default:
      return body['kind'] === 'not-kept';
  }
}

function isFacts({ upstream, losses, headers, created }: JsonObject): boolean {
  return (
    typeof upstream === 'string' && Array.isArray(losses) && isObject(headers) && typeof created === 'number'
  );
}

export function keepBytes(
  bytes: Buffer,
  facts: AnswerFacts & { id: string; status: number; contentType: string },
): Recorded {
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { kind: 'bytes', ...facts, encoding, text: bytes.toString(encoding) };
}

/** Throws where the answer was not kept. `stream`: how the client wants it now. */
export function replay(recorded: Recorded, dialect: Dialect, stream: boolean): Replay {
  if (recorded.kind === 'not-kept') throw notKept();
  const { upstream, losses, created } = recorded;
  const base = { upstream, losses, headers: { ...recorded.headers, ...REPLAYED } };
  if (recorded.kind === 'turn') {
    const { id, model } = recorded.turn;
    const batches = once(eventsOfTurn(recorded.turn));
    return { answer: { ...base, body: { kind: 'events', batches } }, identity: { id, model, created } };
  }
  const { status, contentType, text, encoding, id } = recorded;
  const bytes = Buffer.from(text, encoding);
  if (isStream(contentType) === stream) {
    const body = { kind: 'bytes', status, contentType, chunks: once(bytes), usage: () => undefined } as const;
    return { answer: { ...base, body }, identity: { id, created } };
  }
  const events = eventsOfBytes(bytes, contentType, dialect);
  const start = events.find((event) => event.type === 'start');
  const identity = {
    id: start?.id ?? id,
    ...(start?.model === undefined ? {} : { model: start.model }),
    created,
  };
  return { answer: { ...base, body: { kind: 'events', batches: once(events) } }, identity };
}

/** Whether bytes in the client's dialect are a whole answer that did not fail. */
function isWholeAnswer(bytes: Buffer, contentType: string, dialect: Dialect): boolean {
  const lifecycle = new StreamLifecycle({ id: '', model: '' });
  const events = [...lifecycle.push(eventsOfBytes(bytes, contentType, dialect)), ...lifecycle.end()];
  return events.at(-1)?.type === 'message-stop';
}

function eventsOfTurn({ content, stopReason, stopSequence, usage }: AssistantMessage): ModelEvent[] {
  return [
    { type: 'start', usage: { ...usage, outputTokens: 0 } },
    ...eventsOfBlocks(content),
    { type: 'usage', usage },
    stopEvent(stopReason, stopSequence),
  ];
}

function eventsOfBytes(bytes: Buffer, contentType: string, { egress }: Dialect): ModelEvent[] {
  if (!isStream(contentType)) return egress.decodeResponse(parse(bytes.toString('utf8')), OWN_NAMES);
  const out: ModelEvent[] = [];
  const decoder = egress.createStreamDecoder(OWN_NAMES);
  try {
    for (const event of readEvents(bytes)) decoder.push(event, out);
    decoder.end(out);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    out.push({ type: 'error', error });
  }
  return out;
}

/** Throws GatewayError where one event is too large to hold. */
function readEvents(bytes: Buffer): readonly ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const reader = new SseReader();
  reader.push(bytes, events);
  reader.end(events);
  return events;
}

function isStream(contentType: string): boolean {
  return contentType.includes(EVENT_STREAM);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}

export interface AnswerRecorder<T> {
  /** Never throws. */
  take(piece: T): void;
  /** The source is over. Undefined when the answer failed: a repeat is to be answered anew. */
  finish(): { recorded: Recorded; turn?: AssistantMessage } | undefined;
}

export class EventsRecorder implements AnswerRecorder<readonly ModelEvent[]> {
  readonly #lifecycle: StreamLifecycle;
  readonly #facts: AnswerFacts;
  #collector: AnswerCollector | undefined = new AnswerCollector();
  #size = 0;
  #failed = false;

  constructor(options: LifecycleOptions, facts: AnswerFacts) {
    this.#lifecycle = new StreamLifecycle(options);
    this.#facts = facts;
  }

  take(batch: readonly ModelEvent[]): void {
    this.#size += sizeOfBatch(batch);
    this.#collect(this.#lifecycle.push(batch));
  }

  finish(): { recorded: Recorded; turn?: AssistantMessage } | undefined {
    this.#collect(this.#lifecycle.end());
    if (this.#failed) return undefined;
    if (this.#collector === undefined) return { recorded: { kind: 'not-kept' } };
    const turn = this.#collector.finish();
    const losses = [...this.#facts.losses, ...this.#lifecycle.losses.list()];
    const recorded: Recorded = { kind: 'turn', ...this.#facts, losses, turn };
    return { recorded: this.#size > KEPT_LIMIT ? { kind: 'not-kept' } : recorded, turn };
  }

  #collect(events: ReturnType<StreamLifecycle['push']>): void {
    try {
      this.#collector?.push(events);
    } catch {
      this.#collector = undefined;
    }
    if (events.at(-1)?.type === 'error') this.#failed = true;
  }
}

export class BytesRecorder implements AnswerRecorder<Uint8Array> {
  readonly #facts: AnswerFacts & { id: string; status: number; contentType: string };
  readonly #dialect: Dialect;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(facts: AnswerFacts & { id: string; status: number; contentType: string }, dialect: Dialect) {
    this.#facts = facts;
    this.#dialect = dialect;
  }

  take(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size > KEPT_LIMIT) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  finish(): { recorded: Recorded } | undefined {
    if (this.#size > KEPT_LIMIT) return { recorded: { kind: 'not-kept' } };
    const bytes = Buffer.concat(this.#chunks);
    if (!isWholeAnswer(bytes, this.#facts.contentType, this.#dialect)) return undefined;
    return { recorded: keepBytes(bytes, this.#facts) };
  }
}

export function sizeOfBatch(batch: readonly ModelEvent[]): number {
  let size = 0;
  for (const event of batch) {
    if ('text' in event) size += event.text.length;
    else if ('json' in event) size += event.json.length;
    else if (event.type === 'block') size += JSON.stringify(event.block).length;
  }
  return size;
}

function notKept(): GatewayError {
  return new GatewayError(
    'conflict',
    'Idempotency-Key: the request was answered, but the answer was too large to be kept. Use a new key to ask again.',
    { param: 'Idempotency-Key', detail: 'idempotent_answer_not_kept' },
  );
}
