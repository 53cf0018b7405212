/** Every route of `/api`, as data. */
import type { Access } from '../access/auth.js';
import type { HttpRoute } from '../http/route-table.js';
import { answerApproval, extendApproval, getApproval, listApprovals } from './approvals.js';
import { atOwner } from './at-owner.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { readEvents, readNodeEvents } from './events/event-streams.js';
import { NODE_EVENTS_PATH } from './events/node-feed.js';
import { listConsoleModels, listFolders } from './folders.js';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.js';
import {
  addMcpServer,
  describeMcpClient,
  finishMcpSignIn,
  listMcpServers,
  reconnectMcpServer,
  removeMcpServer,
} from './mcp.js';
import { getMedia } from './media.js';
import { answerFromProvider, listTargets, testTarget } from './notify.js';
import { addBrowser, answerFromBrowser, listBrowsers, removeBrowser } from './push.js';
import { getTrace, listTraces, showUsage } from './records.js';
import { reloadConfiguration } from './reload.js';
import { addRule, listRules, previewRule, revokeRule, testRules } from './rules.js';
import {
  deleteSession,
  forkSession,
  getSession,
  labelSession,
  listMessages,
  listSessions,
  resumeSession,
  sayMessage,
  startChat,
  stopSession,
  withdrawMessage,
} from './sessions.js';
import { showSignIn, signIn, signOut } from './sign-in.js';
import { listTools, showStatus } from './status.js';
import {
  addUpstream,
  exportUpstreams,
  findLocalUpstreams,
  listUpstreams,
  removeUpstream,
  testUpstream,
} from './upstreams.js';

const PUBLIC: Access = { area: 'public' };
const CONSOLE: Access = { area: 'console' };
/** The rate of a key counts here as well. */
const TALK: Access = { area: 'console', scope: 'call', counted: true };
const APPROVE: Access = { area: 'console', scope: 'approve' };
const ADMIN: Access = { area: 'console', scope: 'admin' };

/** Also while the gateway drains: what runs may be waiting for an answer. */
const APPROVALS: readonly (readonly [HttpRoute<ConsoleApiContext>['method'], string, ConsoleApiHandler])[] = [
  ['GET', '/api/approvals', listApprovals],
  ['GET', '/api/approvals/:id', getApproval],
  ['POST', '/api/approvals/:id', answerApproval],
  ['POST', '/api/approvals/:id/extend', extendApproval],
];

export const CONSOLE_ROUTES: readonly HttpRoute<ConsoleApiContext>[] = [
  { method: 'POST', path: '/api/session', access: PUBLIC, handle: signIn },
  { method: 'GET', path: '/api/session', access: CONSOLE, handle: showSignIn },
  { method: 'DELETE', path: '/api/session', access: PUBLIC, handle: signOut, whileDraining: true },
  { method: 'GET', path: '/api/sessions', access: CONSOLE, handle: listSessions },
  { method: 'GET', path: '/api/sessions/:id', access: CONSOLE, handle: getSession },
  { method: 'PATCH', path: '/api/sessions/:id', access: CONSOLE, handle: labelSession },
  { method: 'DELETE', path: '/api/sessions/:id', access: CONSOLE, handle: atOwner(deleteSession) },
  { method: 'POST', path: '/api/sessions/:id/fork', access: CONSOLE, handle: forkSession },
  {
    method: 'POST',
    path: '/api/sessions/:id/stop',
    access: CONSOLE,
    handle: atOwner(stopSession),
    whileDraining: true,
  },
  { method: 'POST', path: '/api/sessions/:id/resume', access: TALK, handle: atOwner(resumeSession) },
  { method: 'GET', path: '/api/sessions/:id/messages', access: CONSOLE, handle: atOwner(listMessages) },
  { method: 'POST', path: '/api/sessions/:id/messages', access: TALK, handle: atOwner(sayMessage) },
  {
    method: 'DELETE',
    path: '/api/sessions/:id/messages/:message',
    access: TALK,
    handle: atOwner(withdrawMessage),
  },
  { method: 'GET', path: '/api/sessions/:id/media/:media', access: CONSOLE, handle: getMedia },
  { method: 'POST', path: '/api/chat', access: TALK, handle: startChat },
  { method: 'GET', path: '/api/models', access: CONSOLE, handle: listConsoleModels },
  { method: 'GET', path: '/api/folders', access: CONSOLE, handle: listFolders },
  { method: 'GET', path: '/api/events', access: CONSOLE, handle: readEvents },
  { method: 'GET', path: NODE_EVENTS_PATH, access: CONSOLE, handle: readNodeEvents, whileDraining: true },
  { method: 'GET', path: '/api/status', access: CONSOLE, handle: showStatus },
  { method: 'GET', path: '/api/tools', access: CONSOLE, handle: listTools },
  { method: 'GET', path: '/api/traces', access: CONSOLE, handle: listTraces },
  { method: 'GET', path: '/api/traces/:id', access: CONSOLE, handle: getTrace },
  { method: 'GET', path: '/api/usage', access: CONSOLE, handle: showUsage },
  ...APPROVALS.map(([method, path, handle]): HttpRoute<ConsoleApiContext> => {
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
  { method: 'GET', path: '/api/keys', access: ADMIN, handle: listKeys },
  { method: 'POST', path: '/api/keys', access: ADMIN, handle: createKey },
  { method: 'DELETE', path: '/api/keys', access: ADMIN, handle: revokeKey },
  { method: 'DELETE', path: '/api/keys/:id', access: ADMIN, handle: revokeKey },
  { method: 'POST', path: '/api/keys/:id/rotate', access: ADMIN, handle: rotateKey },
  { method: 'GET', path: '/api/upstreams', access: ADMIN, handle: listUpstreams },
  { method: 'POST', path: '/api/upstreams', access: ADMIN, handle: addUpstream },
  { method: 'POST', path: '/api/upstreams/test', access: ADMIN, handle: testUpstream },
  { method: 'GET', path: '/api/upstreams/local', access: ADMIN, handle: findLocalUpstreams },
  { method: 'GET', path: '/api/upstreams/export', access: ADMIN, handle: exportUpstreams },
  { method: 'DELETE', path: '/api/upstreams/:name', access: ADMIN, handle: removeUpstream },
  { method: 'POST', path: '/api/reload', access: ADMIN, handle: reloadConfiguration },
  { method: 'GET', path: '/api/notify', access: ADMIN, handle: listTargets },
  { method: 'POST', path: '/api/notify/:target/test', access: ADMIN, handle: testTarget },
  {
    method: 'POST',
    path: '/api/notify/:target/answer',
    access: PUBLIC,
    handle: answerFromProvider,
    whileDraining: true,
  },
  { method: 'GET', path: '/api/push', access: APPROVE, handle: listBrowsers },
  { method: 'POST', path: '/api/push', access: APPROVE, handle: addBrowser },
  { method: 'DELETE', path: '/api/push/:id', access: APPROVE, handle: removeBrowser },
  {
    method: 'POST',
    path: '/api/push/answer',
    access: PUBLIC,
    handle: answerFromBrowser,
    whileDraining: true,
  },
  { method: 'GET', path: '/api/mcp/:name/client', access: PUBLIC, handle: describeMcpClient },
  { method: 'GET', path: '/api/mcp/:name/callback', access: PUBLIC, handle: finishMcpSignIn },
];
