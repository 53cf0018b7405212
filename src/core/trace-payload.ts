/** What went through the gateway for one request: as it is recorded, and as people see it. */
import type { DialectName } from './conversation.js';

type Headers = Readonly<Record<string, string | undefined>>;

/** Of the recorded form bytes as they came or text as it was written; of the shown form text. */
type Recording<Body> = {
  /** Something was too large to keep. */
  cut: boolean;
  inbound: { path: string; headers: Headers; body: Body } | null;
  /** Every try, the failed ones too. */
  attempts: {
    upstream: string;
    /** Why this one of several targets. */
    reason?: string;
    wire: DialectName;
    url: string;
    body: Body;
    status: number | null;
    headers: Headers;
  }[];
  /** Reads from the upstream and writes to the client, as they happened. */
  timeline: {
    /** Milliseconds since the request came in. */
    ms: number;
    from: 'upstream' | 'gateway';
    /** Which attempt, for what came from an upstream. */
    attempt?: number;
    data: Body;
  }[];
};

/** References to what was read and written: nothing is copied or decoded while a request runs. */
export type RecordedRequest = Recording<Uint8Array | string> & {
  /** Bytes and characters of all bodies and pieces. */
  size: number;
};

/** What the store gives back, and what a file for a replay holds. A piece is `base64:…` where the network cut a character in two. */
export type TracePayload = Recording<string> & { version: 1 };

const FATAL = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeChunk(chunk: Uint8Array): string {
  try {
    const text = FATAL.decode(chunk);
    if (!text.startsWith('base64:')) return text;
  } catch {
    // Not text by itself.
  }
  return `base64:${Buffer.from(chunk).toString('base64')}`;
}

export function decodeChunk(text: string): Buffer {
  return text.startsWith('base64:') ? Buffer.from(text.slice(7), 'base64') : Buffer.from(text, 'utf8');
}
