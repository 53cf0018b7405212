/** Why a request is not matched with a session, in words for its client. */
import { HeldElsewhere } from '../core/elsewhere.js';
import { GatewayError } from '../core/errors.js';
import { StopError } from '../core/stopping.js';

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

export const unknownSession = (id: string) =>
  new GatewayError(
    'not_found',
    `The session ${shown(id)} is not known here: it has expired, or it is another key's or another end user's. Send the conversation without X-Session-ID to go on.`,
    { param: 'x-session-id', detail: 'session_not_found' },
  );

export const otherPlace = (id: string, what: 'engine' | 'folder') =>
  new GatewayError(
    'conflict',
    `The session ${shown(id)} belongs to a model ${what === 'engine' ? 'of another engine' : 'that works in another folder'}. Go on with that model, or send the conversation without X-Session-ID.`,
    { param: 'x-session-id', detail: 'session_of_another_model' },
  );

export const busy = (id: string) =>
  new GatewayError(
    'conflict',
    `Another request of the session ${id} is being answered. Wait for its answer, or stop it, and send this one again.`,
    { detail: 'session_busy' },
  );

export const busyElsewhere = (id: string, owner: string) =>
  new HeldElsewhere(
    `The session ${id} is in use by another gateway process. Send the request there, or again in half a minute.`,
    { at: { owner }, session: id, detail: 'session_busy' },
  );

export const folderElsewhere = (id: string, { root, node }: { root: string; node: string }) =>
  new HeldElsewhere(
    `The session ${id} works in the folder ${root} of the node ${node}, which this node does not share. Start ${node} again and send the request again, or begin a new conversation. Folders that several nodes have belong in the cluster.workspaces of each.`,
    {
      ...{ at: { node }, session: id, code: 'unavailable', detail: 'session_of_another_node' },
      ...{ retryAfter: 5, retryable: true },
    },
  );

export const lost = (id: string) =>
  new StopError(
    'session-lost',
    'conflict',
    `The session ${id} was taken over by another gateway process while this request was being answered. Send the request again.`,
    { detail: 'session_lost', retryable: true },
  );

export const ended = (id: string) =>
  new StopError(
    'session-ended',
    'conflict',
    `The session ${id} was deleted or has expired. Send the conversation without X-Session-ID to go on.`,
    { detail: 'session_ended' },
  );

export const stopped = (id: string, by: string) =>
  new StopError(
    'person-stopped',
    'conflict',
    `The turn of the session ${id} was stopped by ${by}. What was said so far is kept: say something to go on.`,
    { detail: 'turn_stopped' },
  );

export const unknownToolCall = (id: string) =>
  new GatewayError(
    'unknown_tool_call',
    `The result for ${shown(id)} answers no call of this conversation. Send the message with the call along, or leave the result out.`,
    { detail: 'unknown_tool_call' },
  );

export const sameToolCallTwice = (id: string) =>
  new GatewayError(
    'invalid_request',
    `The id ${shown(id)} is used for two calls of one message, so that their results cannot be told apart. Give each call an id of its own.`,
    { param: 'messages', detail: 'duplicate_tool_call' },
  );

export const twoResults = (id: string) =>
  new GatewayError(
    'invalid_request',
    `There are two different results for the call ${shown(id)}. Send one.`,
    { param: 'messages', detail: 'duplicate_tool_result' },
  );

export const ambiguousToolCalls = (ids: readonly string[]) =>
  new GatewayError(
    'conflict',
    `More than one session has a call ${ids.map(shown).join(', ')}. Send X-Session-ID, or the conversation up to the call.`,
    { param: 'x-session-id', detail: 'ambiguous_tool_call' },
  );
