/** What is kept of a request that was recorded whole: the same that a file for a replay holds. */
export interface TracePayload {
  version: number;
  /** Something was too large to keep. */
  cut: boolean;
  inbound: { path: string; headers: Headers; body: string } | null;
  attempts: TracedAttempt[];
  timeline: TracedPiece[];
}

export type Headers = Readonly<Record<string, string | undefined>>;

export interface TracedAttempt {
  upstream: string;
  /** Why this one of several targets. */
  reason?: string;
  wire: string;
  url: string;
  body: string;
  /** Null where there was no answer. */
  status: number | null;
  headers: Headers;
}

export interface TracedPiece {
  /** Milliseconds since the request came in. */
  ms: number;
  from: 'upstream' | 'gateway';
  attempt?: number;
  /** Text; `base64:…` where the network cut a character in two. */
  data: string;
}

export function isTracePayload(value: unknown): value is TracePayload {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === 1 &&
    'attempts' in value &&
    Array.isArray(value.attempts) &&
    'timeline' in value &&
    Array.isArray(value.timeline)
  );
}

const DIALECTS: readonly (readonly [string, string])[] = [
  ['/v1/messages', 'anthropic-messages'],
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
];

export function dialectOfPath(path: string): string | undefined {
  return DIALECTS.find(([begin]) => path.startsWith(begin))?.[1];
}

/** The text itself where it is no JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Which model call an attempt belongs to, and which try of that call it is; both from 1. */
interface AttemptNumber {
  call: number;
  tryNumber: number;
}

/** After an answer that was taken the next request is another call of an agent, else it is a retry. */
export function numberAttempts(attempts: readonly TracedAttempt[]): AttemptNumber[] {
  let number: AttemptNumber = { call: 1, tryNumber: 0 };
  return attempts.map((_, index) => {
    const before = attempts[index - 1];
    const answered = before?.status !== undefined && before.status !== null && before.status < 400;
    number = answered
      ? { call: number.call + 1, tryNumber: 1 }
      : { call: number.call, tryNumber: number.tryNumber + 1 };
    return number;
  });
}
