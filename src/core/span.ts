/**
 * One timed piece of work for distributed tracing, and the context by which others name it (W3C Trace
 * Context). There is a span only where the operator collects telemetry: whoever has none does nothing.
 */

export type AttributeValue = string | number | boolean | readonly string[];
/** Undefined is left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;
export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanFailure {
  /** `error.type`: a code of the gateway, or the status of an upstream. */
  type: string;
  message?: string;
}

/** Nothing of it throws or waits. After `end` it takes nothing more. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** What people said and tools gave may be written into it. */
  readonly capturesContent: boolean;
  /** `traceparent`, and `tracestate` where there is one: for requests that it makes. Empty where the operator wants none. */
  readonly propagated: Readonly<Record<string, string>>;
  child(name: string, kind: SpanKind, attributes?: Attributes): Span;
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  end(failure?: SpanFailure): void;
}

/** Where a span of another process stands in its trace. */
export interface RemoteContext {
  traceId: string;
  spanId: string;
  sampled: boolean;
  tracestate?: string;
}

/** Version ff is forbidden; a version after 00 may have more fields behind the four. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?$/;
const TRACEPARENT_LENGTH = 512;
const TRACESTATE_LENGTH = 512;
const TRACESTATE_MEMBERS = 32;
const TRACESTATE_MEMBER =
  /^[a-z0-9][a-z0-9_\-*/]{0,240}(?:@[a-z][a-z0-9_\-*/]{0,13})?=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const SAMPLED = 1;

/** Undefined for whatever is no valid context: the headers are a stranger's. */
export function readRemoteContext(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): RemoteContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || traceparent.length > TRACEPARENT_LENGTH) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = typeof tracestate === 'string' ? readTracestate(tracestate) : undefined;
  return {
    traceId,
    spanId,
    sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED,
    ...(state === undefined ? {} : { tracestate: state }),
  };
}

/** The list as a whole or nothing of it. */
function readTracestate(text: string): string | undefined {
  if (text.length > TRACESTATE_LENGTH) return undefined;
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > TRACESTATE_MEMBERS) return undefined;
  if (!members.every((member) => TRACESTATE_MEMBER.test(member))) return undefined;
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return keys.size === members.length ? members.join(',') : undefined;
}

export function traceparentOf(traceId: string, spanId: string, sampled: boolean): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}
