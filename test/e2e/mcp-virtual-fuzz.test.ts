/** Bodies that no client sends, in both eras: each is refused in JSON-RPC, and nothing runs. */
import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { answerOf, connect, NEWEST, startVirtual, stateless, textOf } from './mcp-virtual-harness.js';

const RUNS = Number(process.env['TOOLGATE_FUZZ_RUNS'] ?? 300);

const METHODS = [
  'tools/call',
  'tools/list',
  'server/discover',
  'initialize',
  'subscriptions/listen',
  'resources/read',
  'prompts/get',
  'tasks/get',
  'notifications/cancelled',
  'ping',
  'no/such',
  '__proto__',
] as const;

const value = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, '', '\u0000', [], {}, '__proto__', 'tools/call'),
  fc.string({ maxLength: 40 }),
  fc.object({ maxDepth: 2 }),
  fc.array(fc.integer(), { maxLength: 3 }),
);

const META = stateless('x')['params'];

/** Never a call that could run: its name is none of a tool. */
const params = fc.oneof(
  value,
  fc.record({ name: value, arguments: value, _meta: value }),
  fc.record({ notifications: value }).map((more) => ({ ...more, ...(META as object) })),
  fc.record({ name: value, arguments: value, inputResponses: value, requestState: value }).map((more) => ({
    ...more,
    ...(META as object),
  })),
);

const message = fc.oneof(
  value,
  fc.record({
    jsonrpc: fc.oneof(fc.constant('2.0'), value),
    id: value,
    method: fc.constantFrom(...METHODS),
    params,
  }),
  fc.record({ jsonrpc: fc.constant('2.0'), id: value, method: value, params: fc.constant(META) }),
  fc.record({ jsonrpc: fc.constant('2.0'), method: fc.constantFrom(...METHODS), params }),
  fc.record({ jsonrpc: fc.constant('2.0'), id: value, result: value }),
);

/** Right but for what it is about: most are answered as streams. */
const heard = fc
  .record({
    id: fc.oneof(fc.integer(), fc.string({ maxLength: 10 })),
    method: fc.constantFrom('tools/call', 'resources/read', 'prompts/get', 'tools/list', 'tasks/get'),
    name: fc.string({ minLength: 1, maxLength: 20 }).filter((name) => /^[a-z0-9]+$/i.test(name)),
    more: fc.record({ arguments: value, inputResponses: value, requestState: value }, { requiredKeys: [] }),
  })
  .map(({ id, method, name, more }) => ({
    ...{ jsonrpc: '2.0', id, method },
    params: { ...more, name: `no-${name}`, uri: `no-${name}`, taskId: `no-${name}`, ...(META as object) },
  }));

/** What 2026-07-28 wants to be said twice. */
function headersFor(sent: unknown, revision: string | undefined): Record<string, string> {
  if (!isRecord(sent) || !isRecord(sent['params']) || revision !== NEWEST) return {};
  const { method, params } = sent;
  const { name } = params;
  if (typeof method !== 'string' || typeof name !== 'string' || !/^no-\w+$/.test(name)) return {};
  return { 'mcp-method': method, 'mcp-name': name };
}

const messagesOf = (sent: unknown): JsonRecord[] => (Array.isArray(sent) ? sent : [sent]).filter(isRecord);

const listens = (sent: unknown): boolean =>
  messagesOf(sent).some((each) => each['method'] === 'subscriptions/listen');

/** Every event is a message of JSON-RPC, and each request is answered once, under its id. */
function expectAnswers(stream: string, sent: unknown): void {
  const asked = messagesOf(sent)
    .filter((each) => 'method' in each && 'id' in each)
    .map(({ id }) => JSON.stringify(id));
  const answered = stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))
    .filter(isRecord);
  for (const each of answered) expect(each, stream).toMatchObject({ jsonrpc: '2.0' });
  const ids = answered.filter((each) => !('method' in each)).map(({ id }) => JSON.stringify(id));
  expect(ids.toSorted(), stream).toEqual([...new Set(asked)].toSorted());
}

const body = fc.oneof(message, heard, fc.array(message, { maxLength: 4 }));

const version = fc.constantFrom(undefined, NEWEST, '2025-11-25', '2030-01-01', '', 'x'.repeat(300));

describe('JSON-RPC bodies that are wrong', () => {
  it('are answered with what they are, and leave the server as it was', async () => {
    const gateway = await startVirtual();
    const { client } = await connect(gateway);
    let streams = 0;
    await fc.assert(
      fc.asyncProperty(body, version, fc.constantFrom('gateway', 'auth'), async (sent, revision, server) => {
        const stop = new AbortController();
        const response = await fetch(`${gateway.url}/mcp/${server}?model=here`, {
          method: 'POST',
          headers: {
            authorization: 'Bearer key-of-alice',
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
            ...headersFor(sent, revision),
          },
          body: JSON.stringify(sent),
          signal: stop.signal,
        });
        expect(response.status, JSON.stringify(sent)).toBeLessThan(500);
        if (response.status === 202) return;
        if (response.status === 200 && response.headers.get('content-type')?.includes('event-stream')) {
          // Of those that listen there is no end; all others end with their last answer.
          if (listens(sent)) stop.abort();
          else {
            streams += 1;
            expectAnswers(await response.text(), sent);
          }
          return;
        }
        expect(await answerOf(response)).toMatchObject({ jsonrpc: '2.0' });
      }),
      { numRuns: RUNS, seed: 20_260_728 },
    );
    expect(streams).toBeGreaterThan(0);
    expect(await readdir(gateway.work)).toEqual([]);
    expect(textOf(await client.callTool({ name: 'Bash', arguments: { command: 'echo well' } }))).toContain(
      'well',
    );
  });
});
