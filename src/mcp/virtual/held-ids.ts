/** What a request goes on with, by its id: only the process that began it has it. */
import { isObject } from '../../core/is-object.js';
import { isInitialize, messagesOf, SESSION_HEADER } from './legacy-sessions.js';
import { STATE_ARGUMENT } from './state-handles.js';
import { STATE_PREFIX } from './tool-state-holder.js';
import type { VirtualRequest } from './virtual-request.js';

/** Of a session, or else of a call, a task or a state of tools: the first that was given out counts. */
export function heldIdsOf({
  method,
  headers,
  sessionId,
  body,
}: Pick<VirtualRequest, 'method' | 'headers' | 'sessionId' | 'body'>): string[] {
  if (sessionId === undefined && method === 'POST' && messagesOf(body).some(isInitialize)) return [];
  const session = headers.get(SESSION_HEADER) ?? sessionId;
  if (session !== undefined) return [session];
  const params = isObject(body) && isObject(body['params']) ? body['params'] : {};
  const { requestState, taskId, arguments: input } = params;
  const handle = isObject(input) ? input[STATE_ARGUMENT] : undefined;
  const state =
    typeof handle === 'string' && handle.startsWith(STATE_PREFIX)
      ? handle.slice(STATE_PREFIX.length)
      : undefined;
  return [requestState, taskId, state].filter((id) => typeof id === 'string');
}
