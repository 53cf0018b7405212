/** Everyone sees and ends their own key's sessions, an administrator all of them. */
import { GatewayError } from '../../core/errors.js';
import type { Session } from '../../store/sessions.js';
import type { Exchange } from '../http/exchange.js';
import type { PathParameters } from '../http/route-table.js';
import type { ConsoleApiContext } from './context.js';
import { ownOnly } from './traces.js';

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
