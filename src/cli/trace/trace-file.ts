/** One recorded request as a file, and its upstream as it answered then. */
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import { decodeChunk, type TracePayload } from '../../core/trace-payload.js';
import { DIALECTS } from '../../dialects/all.js';
import { HttpUpstream, timeoutsOf } from '../../upstreams/http-upstream.js';
import { createQuirkSource } from '../../upstreams/quirks/create-quirk-source.js';
import { TokenMeter } from '../../upstreams/token-meter.js';
import { ToolExtensionCache } from '../../upstreams/tool-extension-cache.js';
import { UsageError } from '../shared/command.js';

const headers = z.record(z.string(), z.string());

const tracePayload = z.object({
  version: z.literal(1),
  cut: z.boolean(),
  inbound: z.object({ path: z.string(), headers, body: z.string() }).nullable(),
  attempts: z.array(
    z.object({
      upstream: z.string(),
      wire: z.enum(['anthropic-messages', 'openai-chat', 'openai-responses']),
      url: z.url(),
      body: z.string(),
      status: z.number().nullable(),
      headers,
    }),
  ),
  timeline: z.array(
    z.object({
      ms: z.number(),
      from: z.enum(['upstream', 'gateway']),
      attempt: z.number().exactOptional(),
      data: z.string(),
    }),
  ),
});

export function isTracePayload(value: unknown): value is TracePayload {
  return tracePayload.safeParse(value).success;
}

const traceFile = tracePayload.extend({
  request: z.string(),
  at: z.number(),
  model: z.string(),
  status: z.number().exactOptional(),
  session: z.string().exactOptional(),
});
export type TraceFile = z.output<typeof traceFile>;
export type RecordedAttempt = TraceFile['attempts'][number];

/** What came of running such a file again, in lines, and whether it is what it was. */
export interface Replay {
  lines: string[];
  same: boolean;
}

export function parseTraceFile(text: string): TraceFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('The file is not JSON. `trace ID --save FILE` writes one that can be replayed.');
  }
  const parsed = traceFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `The file is not a recorded request: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim(),
  );
}

/** A recorded body. An edited file may hold anything. */
export function parseRecorded(body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new UsageError(`The file is damaged: ${what} is no JSON.`);
  }
}

/** Answers as one attempt was answered, in the same pieces; `sent` gets what it is asked. */
export function recordedUpstream(
  { attempts, timeline }: TraceFile,
  attempt: RecordedAttempt,
  sent: string[] = [],
): HttpUpstream {
  const { upstream: name, wire, url, status, headers } = attempt;
  const index = attempts.indexOf(attempt);
  const pieces = timeline.filter((piece) => piece.from === 'upstream' && piece.attempt === index);
  return new HttpUpstream({
    name,
    dialect: DIALECTS[wire],
    endpoint: { baseUrl: url },
    client: {
      request: async ({ body }) => {
        sent.push(typeof body === 'string' ? body : Buffer.from(body ?? '').toString('utf8'));
        if (status === null)
          throw new GatewayError('upstream_failed', 'The upstream did not answer when this was recorded.');
        return { status, headers, body: chunks(pieces.map(({ data }) => decodeChunk(data))) };
      },
    },
    quirks: createQuirkSource({
      upstream: name,
      options: { dialect: wire, base_url: url, timeout_s: 1 },
    }),
    timeouts: timeoutsOf(1000),
    meter: new TokenMeter(),
    extensions: new ToolExtensionCache(),
  });
}

async function* chunks(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}
