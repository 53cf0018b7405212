import * as z from 'zod';
import type { TracePayload } from '../../core/trace-payload.js';

const headers = z.record(z.string(), z.string());

export const tracePayload = z.object({
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
