/** Spans as they are recorded: bounded, on one clock, sampled as a whole trace. */
import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type AttributeValue,
  type RemoteContext,
  type Span,
  type SpanFailure,
  type SpanKind,
  traceparentOf,
} from '../core/span.js';
import type { EndedSpan } from './otlp-json.js';

interface SpanRules {
  content: boolean;
  propagate: boolean;
  sampler: { ratio: number; byParent: boolean };
  /** Takes every span when it ends, also those that are not exported. */
  onEnd(span: EndedSpan, sampled: boolean): void;
}

const ATTRIBUTES = 64;
const ATTRIBUTE_CHARS = 16 * 1024;
const EVENTS = 128;
const NAME_CHARS = 256;

/** The span of a request that came from outside. `startedAt`: `performance.now()` when it came. */
export function openSpan(
  rules: SpanRules,
  given: {
    name: string;
    kind: SpanKind;
    attributes: Attributes;
    remote?: RemoteContext | undefined;
    startedAt?: number;
    link?: Span | undefined;
  },
): Span {
  const { name, kind, attributes, startedAt, link } = given;
  const remote = rules.propagate ? given.remote : undefined;
  const traceId = remote?.traceId ?? randomBytes(16).toString('hex');
  const sampled = isSampled(rules.sampler, traceId, remote);
  const trace = { traceId, sampled, tracestate: remote?.tracestate };
  return new RecordedSpan(rules, trace, { name, kind, attributes, parent: remote?.spanId, startedAt, link });
}

function isSampled(
  { ratio, byParent }: SpanRules['sampler'],
  traceId: string,
  remote: RemoteContext | undefined,
): boolean {
  if (byParent && remote !== undefined) return remote.sampled;
  if (ratio >= 1) return true;
  // The same trace is decided the same way by every process that has the same ratio.
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
}

interface TraceFacts {
  traceId: string;
  sampled: boolean;
  tracestate: string | undefined;
}

class RecordedSpan implements Span {
  readonly spanId = randomBytes(8).toString('hex');
  readonly #rules: SpanRules;
  readonly #trace: TraceFacts;
  readonly #name: string;
  readonly #kind: SpanKind;
  readonly #parent: string | undefined;
  readonly #links: EndedSpan['links'];
  readonly #startNano: bigint;
  readonly #attributes = new Map<string, AttributeValue>();
  readonly #events: EndedSpan['events'][number][] = [];
  #droppedEvents = 0;
  #ended = false;

  constructor(
    rules: SpanRules,
    trace: TraceFacts,
    given: {
      name: string;
      kind: SpanKind;
      attributes: Attributes;
      parent: string | undefined;
      startedAt?: number | undefined;
      link?: Span | undefined;
    },
  ) {
    this.#rules = rules;
    this.#trace = trace;
    this.#name = headOf(given.name, NAME_CHARS);
    this.#kind = given.kind;
    this.#parent = given.parent;
    const { link } = given;
    this.#links = link === undefined ? [] : [{ traceId: link.traceId, spanId: link.spanId }];
    this.#startNano = nano(given.startedAt ?? performance.now());
    assign(this.#attributes, given.attributes);
  }

  get traceId(): string {
    return this.#trace.traceId;
  }

  get capturesContent(): boolean {
    return this.#rules.content && this.#trace.sampled;
  }

  get propagated(): Readonly<Record<string, string>> {
    if (!this.#rules.propagate) return {};
    const { traceId, sampled, tracestate } = this.#trace;
    const traceparent = traceparentOf(traceId, this.spanId, sampled);
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  child(name: string, kind: SpanKind, attributes: Attributes = {}): Span {
    return new RecordedSpan(this.#rules, this.#trace, { name, kind, attributes, parent: this.spanId });
  }

  set(attributes: Attributes): void {
    if (!this.#ended) assign(this.#attributes, attributes);
  }

  event(name: string, attributes: Attributes = {}): void {
    if (this.#ended) return;
    if (this.#events.length >= EVENTS) {
      this.#droppedEvents += 1;
      return;
    }
    const own = new Map<string, AttributeValue>();
    assign(own, attributes);
    this.#events.push({ name: headOf(name, NAME_CHARS), nano: nano(performance.now()), attributes: own });
  }

  end(failure?: SpanFailure): void {
    if (this.#ended) return;
    if (failure !== undefined) assign(this.#attributes, { 'error.type': failure.type });
    this.#ended = true;
    const { traceId, sampled, tracestate } = this.#trace;
    const startNano = this.#startNano;
    const now = nano(performance.now());
    this.#rules.onEnd(
      {
        traceId,
        spanId: this.spanId,
        ...(this.#parent === undefined ? {} : { parentSpanId: this.#parent }),
        ...(tracestate === undefined ? {} : { tracestate }),
        name: this.#name,
        kind: this.#kind,
        startNano,
        endNano: now < startNano ? startNano : now,
        attributes: this.#attributes,
        events: this.#events,
        droppedEvents: this.#droppedEvents,
        links: this.#links,
        ...(failure === undefined
          ? {}
          : { failure: headOf(failure.message ?? failure.type, ATTRIBUTE_CHARS) }),
      },
      sampled,
    );
  }
}

/** Of one clock, so that a corrected one does not make a child end before its parent began. */
export function nano(at: number): bigint {
  return BigInt(Math.round((performance.timeOrigin + at) * 1000)) * 1000n;
}

function assign(into: Map<string, AttributeValue>, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || (into.size >= ATTRIBUTES && !into.has(key))) continue;
    into.set(key, typeof value === 'string' ? headOf(value, ATTRIBUTE_CHARS) : value);
  }
}

/** A copy where it is cut: a slice would keep the whole text in memory. */
function headOf(text: string, chars: number): string {
  return text.length <= chars ? text : Buffer.from(text.slice(0, chars)).toString();
}
