/** Every route of the gateway, as data. */
import type { DialectName } from '../core/conversation.js';
import { DIALECT_PATHS, DIALECTS } from '../dialects/all.js';
import { anthropicMessages, decodeCountTokensRequest } from '../dialects/anthropic-messages/index.js';
import type { Access } from './access/auth.js';
import { answerApproval, extendApproval, getApproval, listApprovals } from './console-api/approvals.js';
import { resumeSession, startChat } from './console-api/chat.js';
import { readEvents } from './console-api/events.js';
import { listFolders } from './console-api/folders.js';
import {
  addMcpServer,
  finishMcpSignIn,
  listMcpServers,
  reconnectMcpServer,
  removeMcpServer,
} from './console-api/mcp.js';
import { getMedia } from './console-api/media.js';
import { listConsoleModels } from './console-api/models.js';
import { previewRule } from './console-api/rule-preview.js';
import { testRules } from './console-api/rule-test.js';
import { addRule, listRules, revokeRule } from './console-api/rules.js';
import { deleteSession, forkSession, getSession, listSessions, stopSession } from './console-api/sessions.js';
import { showSignIn, signIn, signOut } from './console-api/sign-in.js';
import { showStatus } from './console-api/status.js';
import { listTools } from './console-api/tools.js';
import { getTrace, listTraces } from './console-api/traces.js';
import { showUsage } from './console-api/usage.js';
import type { Handler } from './context.js';
import { errorsOf } from './http/error-shapes.js';
import type { HttpRoute } from './http/route-table.js';
import { consolePage } from './http/static-files.js';
import { MCP_ROUTES } from './mcp-api/mcp-routes.js';
import { countTokensHandler, modelHandler } from './model-api/endpoint.js';
import { compactResponse, countInputTokens } from './model-api/forwarded-answer.js';
import { getModel, listModels } from './model-api/models.js';
import { type ResponseMemory, responseMemory } from './model-api/response-memory.js';
import { cancelResponse, deleteResponse, getResponse, listInputItems } from './model-api/responses.js';
import { health, metrics, probe, readiness } from './observe/health.js';

const PUBLIC: Access = { area: 'public' };
const CALL: Access = { area: 'models', scope: 'call' };
const CONSOLE: Access = { area: 'console' };
/** The rate of a key counts here as well. */
const TALK: Access = { area: 'console', scope: 'call', counted: true };
const APPROVE: Access = { area: 'console', scope: 'approve' };
const ADMIN: Access = { area: 'console', scope: 'admin' };

/** Of the dialects whose clients may go on from an answer by its id. */
const MEMORIES: Readonly<Partial<Record<DialectName, ResponseMemory>>> = {
  'openai-responses': responseMemory,
};

/** Also while the gateway drains: what runs may be waiting for an answer. */
const APPROVALS: readonly (readonly [HttpRoute['method'], string, Handler])[] = [
  ['GET', '/api/approvals', listApprovals],
  ['GET', '/api/approvals/:id', getApproval],
  ['POST', '/api/approvals/:id', answerApproval],
  ['POST', '/api/approvals/:id/extend', extendApproval],
];

export const ROUTES: readonly HttpRoute[] = [
  ...Object.values(DIALECTS).map(
    (dialect): HttpRoute => ({
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
  { method: 'POST', path: '/api/session', access: PUBLIC, handle: signIn },
  { method: 'GET', path: '/api/session', access: CONSOLE, handle: showSignIn },
  { method: 'DELETE', path: '/api/session', access: PUBLIC, handle: signOut, whileDraining: true },
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
  ...APPROVALS.map(([method, path, handle]): HttpRoute => {
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
