/** Every route of `/v1`, as data. */
import type { DialectName } from '../../core/conversation.js';
import { DIALECT_PATHS, DIALECTS } from '../../dialects/all.js';
import { anthropicMessages, decodeCountTokensRequest } from '../../dialects/anthropic-messages/index.js';
import type { Access } from '../access/auth.js';
import { errorsOf } from '../http/respond.js';
import type { HttpRoute } from '../http/route-table.js';
import { type ResponseMemory, responseMemory } from './memory/response-memory.js';
import { getModel, listModels } from './models.js';
import { ACCOUNT_ROUTES } from './passed/account-routes.js';
import { PASS_ROUTES } from './passed/pass-through.js';
import { UPSTREAM_ROUTES } from './passed/upstream-lane.js';
import type { ModelApiContext } from './requests/context.js';
import { countTokensHandler, modelHandler } from './requests/endpoint.js';
import { compactResponse } from './responses/compact.js';
import { CONVERSATION_ROUTES } from './responses/conversations.js';
import {
  cancelResponse,
  countInputTokens,
  deleteResponse,
  getResponse,
  listInputItems,
} from './responses/responses.js';
import { openResponsesSocket } from './responses/responses-socket.js';

const CALL: Access = { area: 'models', scope: 'call' };
/** The messages are counted. */
const OPEN: Access = { area: 'models', scope: 'call', uncounted: true };

/** Of the dialects whose clients may go on from an answer by its id. */
const MEMORIES: Readonly<Partial<Record<DialectName, ResponseMemory>>> = {
  'openai-responses': responseMemory,
};

export const MODEL_ROUTES: readonly HttpRoute<ModelApiContext>[] = [
  ...Object.values(DIALECTS).map(
    (dialect): HttpRoute<ModelApiContext> => ({
      method: 'POST',
      path: DIALECT_PATHS[dialect.name],
      access: CALL,
      handle: modelHandler(dialect, MEMORIES[dialect.name]),
      encodeError: errorsOf(dialect),
    }),
  ),
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: CALL,
    handle: countTokensHandler(anthropicMessages, decodeCountTokensRequest),
  },
  { method: 'GET', path: '/v1/responses', access: OPEN, handle: openResponsesSocket, webSocket: true },
  { method: 'POST', path: '/v1/responses/input_tokens', access: CALL, handle: countInputTokens },
  { method: 'POST', path: '/v1/responses/compact', access: CALL, handle: compactResponse },
  { method: 'GET', path: '/v1/responses/:id', access: CALL, handle: getResponse },
  { method: 'POST', path: '/v1/responses/:id/cancel', access: CALL, handle: cancelResponse },
  { method: 'DELETE', path: '/v1/responses/:id', access: CALL, handle: deleteResponse },
  { method: 'GET', path: '/v1/responses/:id/input_items', access: CALL, handle: listInputItems },
  ...CONVERSATION_ROUTES,
  ...PASS_ROUTES,
  ...ACCOUNT_ROUTES,
  ...UPSTREAM_ROUTES,
  { method: 'GET', path: '/v1/models', access: CALL, handle: listModels },
  { method: 'GET', path: '/v1/models/*id', access: CALL, handle: getModel },
];
