/** Bodies of `/api` routes: read, parsed and checked; a refusal names the field. */
import type * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { Exchange } from '../http/exchange.js';
import { parseJsonBody } from '../http/json-body.js';
import { checkContentType, readBody } from '../http/read-request.js';
import type { ConsoleApiContext } from './context.js';

/** Rejects with `invalid_request`, and with what reading a body rejects with. */
export async function readJson<T>(
  exchange: Exchange,
  { limits }: ConsoleApiContext,
  schema: z.ZodType<T>,
  maxBytes: number = limits.apiBodyBytes,
): Promise<T> {
  checkContentType(exchange.request.headers['content-type']);
  const body = parseJsonBody(await readBody(exchange, limits, maxBytes), limits.jsonDepth);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new GatewayError(
    'invalid_request',
    `${path === '' ? 'The body' : path}: ${issue?.message ?? 'invalid'}.`,
    {
      ...(path === '' ? {} : { param: path }),
    },
  );
}
