/** Every route of the gateway, as data. */
import type { DialectName } from '../core/conversation.js';
import { DIALECT_PATHS, DIALECTS } from '../dialects/all.js';
import { anthropicMessages, decodeCountTokensRequest } from '../dialects/anthropic-messages/index.js';
import { answerApproval, extendApproval, getApproval, listApprovals } from './api/approvals.js';
import { resumeSession, startChat } from './api/chat.js';
import { readEvents } from './api/events.js';
import { listFolders } from './api/folders.js';
import {
  addMcpServer,
  finishMcpSignIn,
  listMcpServers,
  reconnectMcpServer,
  removeMcpServer,
} from './api/mcp.js';
import { getMedia } from './api/media.js';
import { listConsoleModels } from './api/models.js';
import { previewRule } from './api/rule-preview.js';
import { testRules } from './api/rule-test.js';
import { addRule, listRules, revokeRule } from './api/rules.js';
import { closeSession, openSession, showSession } from './api/session.js';
import { deleteSession, forkSession, getSession, listSessions, stopSession } from './api/sessions.js';
import { showStatus } from './api/status.js';
import { listTools } from './api/tools.js';
import { getTrace, listTraces } from './api/traces.js';
import { showUsage } from './api/usage.js';
import type { Access } from './auth.js';
import type { Handler } from './context.js';
import { errorsOf } from './error-shapes.js';
import { compactResponse, countInputTokens } from './forwarded-answer.js';
import { health, metrics, probe, readiness } from './health.js';
import { MCP_ROUTES } from './mcp-routes.js';
import { getModel, listModels } from './models.js';
import { responseMemory } from './response-memory.js';
import { cancelResponse, deleteResponse, getResponse, listInputItems } from './responses.js';
import type { Route } from './router.js';
import { consolePage } from './static-files.js';
import type { TurnMemory } from './turn-memory.js';
import { countTokensHandler, turnHandler } from './turns.js';

const PUBLIC: Access = { area: 'public' };
const CALL: Access = { area: 'models', scope: 'call' };
const CONSOLE: Access = { area: 'console' };
/** The rate of a key counts here as well. */
const TALK: Access = { area: 'console', scope: 'call', counted: true };
const APPROVE: Access = { area: 'console', scope: 'approve' };
const ADMIN: Access = { area: 'console', scope: 'admin' };

/** Of the dialects whose clients may go on from an answer by its id. */
const MEMORIES: Readonly<Partial<Record<DialectName, TurnMemory>>> = {
  'openai-responses': responseMemory,
};

/** Also while the gateway drains: what runs may be waiting for an answer. */
const APPROVALS: readonly (readonly [Route['method'], string, Handler])[] = [
  ['GET', '/api/approvals', listApprovals],
  ['GET', '/api/approvals/:id', getApproval],
  ['POST', '/api/approvals/:id', answerApproval],
  ['POST', '/api/approvals/:id/extend', extendApproval],
];

export const ROUTES: readonly Route[] = [
  ...Object.values(DIALECTS).map(
    (dialect): Route => ({
      method: 'POST',
      path: DIALECT_PATHS[dialect.name],
      access: CALL,
      handle: turnHandler(dialect, MEMORIES[dialect.name]),
      encodeError: errorsOf(dialect),
    }),
  ),
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: CALL,
    handle: countTokensHandler(anthropicMessages, decodeCountTokensRequest),
  },
  { method: 'POST', path: '/v1/responses/input_tokens', access: CALL, handle: countInputTokens },
  { method: 'POST', path: '/v1/responses/compact', access: CALL, handle: compactResponse },
  { method: 'GET', path: '/v1/responses/:id', access: CALL, handle: getResponse },
  { method: 'POST', path: '/v1/responses/:id/cancel', access: CALL, handle: cancelResponse },
  { method: 'DELETE', path: '/v1/responses/:id', access: CALL, handle: deleteResponse },
  { method: 'GET', path: '/v1/responses/:id/input_items', access: CALL, handle: listInputItems },
  { method: 'GET', path: '/v1/models', access: CALL, handle: listModels },
  { method: 'GET', path: '/v1/models/*id', access: CALL, handle: getModel },
  { method: 'GET', path: '/', access: PUBLIC, handle: consolePage },
  { method: 'HEAD', path: '/', access: PUBLIC, handle: probe, whileDraining: true },
  { method: 'HEAD', path: '/api/hello', access: PUBLIC, handle: probe, whileDraining: true },
  { method: 'GET', path: '/healthz', access: PUBLIC, handle: health, whileDraining: true },
  { method: 'GET', path: '/readyz', access: PUBLIC, handle: readiness, whileDraining: true },
  { method: 'GET', path: '/metrics', access: { area: 'metrics' }, handle: metrics, whileDraining: true },
  { method: 'POST', path: '/api/session', access: PUBLIC, handle: openSession },
  { method: 'GET', path: '/api/session', access: CONSOLE, handle: showSession },
  { method: 'DELETE', path: '/api/session', access: PUBLIC, handle: closeSession, whileDraining: true },
  { method: 'GET', path: '/api/sessions', access: CONSOLE, handle: listSessions },
  { method: 'GET', path: '/api/sessions/:id', access: CONSOLE, handle: getSession },
  { method: 'DELETE', path: '/api/sessions/:id', access: CONSOLE, handle: deleteSession },
  { method: 'POST', path: '/api/sessions/:id/fork', access: CONSOLE, handle: forkSession },
  {
    method: 'POST',
    path: '/api/sessions/:id/stop',
    access: CONSOLE,
    handle: stopSession,
    whileDraining: true,
  },
  { method: 'POST', path: '/api/sessions/:id/resume', access: TALK, handle: resumeSession },
  { method: 'GET', path: '/api/sessions/:id/media/:media', access: CONSOLE, handle: getMedia },
  { method: 'POST', path: '/api/chat', access: TALK, handle: startChat },
  { method: 'GET', path: '/api/models', access: CONSOLE, handle: listConsoleModels },
  { method: 'GET', path: '/api/folders', access: CONSOLE, handle: listFolders },
  { method: 'GET', path: '/api/events', access: CONSOLE, handle: readEvents },
  { method: 'GET', path: '/api/status', access: CONSOLE, handle: showStatus },
  { method: 'GET', path: '/api/tools', access: CONSOLE, handle: listTools },
  { method: 'GET', path: '/api/traces', access: CONSOLE, handle: listTraces },
  { method: 'GET', path: '/api/traces/:id', access: CONSOLE, handle: getTrace },
  { method: 'GET', path: '/api/usage', access: CONSOLE, handle: showUsage },
  ...APPROVALS.map(([method, path, handle]): Route => {
    return { method, path, access: APPROVE, handle, whileDraining: true };
  }),
  { method: 'GET', path: '/api/rules', access: CONSOLE, handle: listRules },
  { method: 'POST', path: '/api/rules', access: APPROVE, handle: addRule },
  { method: 'POST', path: '/api/rules/preview', access: APPROVE, handle: previewRule },
  { method: 'POST', path: '/api/rules/test', access: APPROVE, handle: testRules },
  { method: 'DELETE', path: '/api/rules', access: APPROVE, handle: revokeRule },
  { method: 'DELETE', path: '/api/rules/:id', access: APPROVE, handle: revokeRule },
  { method: 'GET', path: '/api/mcp', access: CONSOLE, handle: listMcpServers },
  { method: 'POST', path: '/api/mcp', access: ADMIN, handle: addMcpServer },
  { method: 'DELETE', path: '/api/mcp', access: ADMIN, handle: removeMcpServer },
  { method: 'DELETE', path: '/api/mcp/:name', access: ADMIN, handle: removeMcpServer },
  { method: 'POST', path: '/api/mcp/:name/reconnect', access: ADMIN, handle: reconnectMcpServer },
  { method: 'GET', path: '/api/mcp/:name/callback', access: PUBLIC, handle: finishMcpSignIn },
  ...MCP_ROUTES,
];
