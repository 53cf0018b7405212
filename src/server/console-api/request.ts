/** What handlers of `/api` share: bodies, checked, and whose things a key may see. */
import type * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { Session } from '../../store/sessions.js';
import type { Exchange } from '../http/exchange.js';
import { parseJsonBody } from '../http/json-body.js';
import type { Limits } from '../http/limits.js';
import { checkContentType, readBody } from '../http/read-request.js';
import type { PathParameters } from '../http/route-table.js';
import type { ConsoleApiContext } from './context.js';

/** A refusal names the field. Rejects with `invalid_request`, and with what reading a body rejects with. */
export async function readJson<T>(
  exchange: Exchange,
  { limits }: ConsoleApiContext,
  schema: z.ZodType<T>,
  maxBytes?: number,
): Promise<T> {
  const parsed = schema.safeParse(await readJsonBody(exchange, limits, maxBytes));
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

export async function readJsonBody(
  exchange: Exchange,
  limits: Limits,
  maxBytes = limits.apiBodyBytes,
): Promise<unknown> {
  checkContentType(exchange.request.headers['content-type']);
  return parseJsonBody(await readBody(exchange, limits, maxBytes), limits.jsonDepth);
}

/** For a query: nothing where the caller may see all. */
export function ownOnly({ principal }: Exchange): { principal?: string } {
  return principal.scopes.includes('admin') ? {} : { principal: principal.name };
}

/** One that has expired is as unknown as another key's. */
export async function findSession(
  exchange: Exchange,
  { sessions }: Pick<ConsoleApiContext, 'sessions'>,
  { id = '' }: PathParameters,
): Promise<Session> {
  const session = await sessions.get(id);
  const { principal } = ownOnly(exchange);
  if (session === undefined || session.state === 'expired') throw unknownSession(id);
  if (principal !== undefined && session.principal !== principal) throw unknownSession(id);
  return session;
}

export function unknownSession(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no session ${JSON.stringify(id.slice(0, 100))}. It may have expired or been deleted.`,
    { param: 'id', detail: 'session_not_found' },
  );
}
