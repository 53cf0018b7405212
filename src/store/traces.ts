/** What happened to a request, for people. Redacted, bounded, buffered. */
import type { JsonObject } from '../core/conversation.js';
import type { Loss } from '../core/losses.js';
import type { RecordedRequest, TracePayload } from '../core/trace-payload.js';
import type { Page } from './store.js';

export interface NewTrace {
  /** The request id. */
  id: string;
  principal: string;
  /** When the request came in. */
  at: number;
  model: string;
  upstream?: string;
  /** HTTP status of the answer. */
  status: number;
  durationMs: number;
  losses: readonly Loss[];
  /** What the stream lifecycle had to put right, in words. */
  repairs: readonly string[];
  summary: JsonObject;
  /** Inbound, outbound, upstream events, emitted events; redacted and compressed off the request path. */
  payload?: RecordedRequest;
}

export interface Trace extends Omit<NewTrace, 'payload'> {
  /** About how many bytes were recorded; 0 where none were. */
  payloadSize: number;
}

export interface TraceQuery {
  principal?: string;
  model?: string;
  /** Of the summary. */
  session?: string;
  /** From and up to, both included, without one of them. */
  status?: { from: number; to: number; except?: number };
  cursor?: string;
  limit: number;
}

export interface TraceStore {
  /**
   * Never throws and never waits. Under pressure payloads are dropped first (`payloadSize` stays),
   * then the oldest rows. The trace belongs to the store from here on: do not change it.
   */
  record(trace: NewTrace): void;
  list(query: TraceQuery): Promise<Page<Trace>>;
  get(id: string): Promise<(Trace & { payload?: TracePayload }) | undefined>;
}
