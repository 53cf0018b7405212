/**
 * A server of 2026-07-28 with the tasks extension, written by hand from its specification because the SDK
 * has none: every call is a task. It holds the client to the wire and keeps what the client got wrong.
 */

import { deferred } from './gate.js';
import { startSite } from './loopback-site.js';
import { isRecord, type JsonRecord } from './violation.js';

export interface TaskPeer {
  url: string;
  /** What the client did that the specification forbids. */
  violations: string[];
  /** Methods about tasks, in order. */
  seen: string[];
  /** What `tasks/update` brought. */
  answers: unknown[];
  cancelled: Promise<string>;
}

const META = 'io.modelcontextprotocol/';
const TASKS = `${META}tasks`;
const TIMES = { createdAt: '2026-11-18T10:00:00Z', lastUpdatedAt: '2026-11-18T10:00:00Z' };

/** What `tasks/get` says one after the other; the last for ever. `cut` breaks the connection in place of an answer. */
export async function startTaskPeer(script: readonly (JsonRecord | 'cut')[]): Promise<TaskPeer> {
  const violations: string[] = [];
  const seen: string[] = [];
  const answers: unknown[] = [];
  const cancelled = deferred<string>();
  let asked = 0;
  const task = { taskId: 'task-1', ...TIMES, ttlMs: 60_000, pollIntervalMs: 100 };
  const answer = (method: string, params: JsonRecord): JsonRecord | undefined => {
    switch (method) {
      case 'server/discover':
        return {
          ttlMs: 0,
          cacheScope: 'private',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {}, extensions: { [TASKS]: {} } },
        };
      case 'tools/list':
        return {
          ttlMs: 0,
          cacheScope: 'private',
          tools: [{ name: 'slow', description: 'slow', inputSchema: { type: 'object' } }],
        };
      case 'tools/call':
        return { ...task, resultType: 'task', status: 'working', statusMessage: 'begun' };
      case 'tasks/get': {
        const step = script[Math.min(asked, script.length - 1)];
        asked += 1;
        return step === 'cut' ? undefined : { ...task, ...step };
      }
      case 'tasks/update':
        answers.push(params['inputResponses']);
        return {};
      case 'tasks/cancel':
        cancelled.resolve(String(params['taskId']));
        return {};
      default:
        violations.push(`${method} is not known`);
        return {};
    }
  };
  const site = await startSite(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (!isRecord(message) || !isRecord(message['params'])) throw new Error('no request');
    const { params, id } = message;
    const method = String(message['method']);
    const meta = isRecord(params['_meta']) ? params['_meta'] : {};
    const capabilities = JSON.stringify(meta[`${META}clientCapabilities`]);
    if (!capabilities?.includes(`"extensions":{"${TASKS}":{}}`)) violations.push(`${method} without tasks`);
    if (request.headers['mcp-method'] !== method) violations.push(`${method}: Mcp-Method`);
    if (method.startsWith('tasks/')) {
      seen.push(method);
      if (request.headers['mcp-name'] !== 'task-1') violations.push(`${method}: Mcp-Name`);
      if (params['taskId'] !== 'task-1') violations.push(`${method}: taskId`);
    }
    const result = answer(method, params);
    if (result === undefined) {
      request.socket.destroy();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }));
  });
  return { url: site.url('/mcp'), violations, seen, answers, cancelled: cancelled.promise };
}
