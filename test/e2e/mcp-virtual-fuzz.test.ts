/** Bodies that no client sends, in both eras: each is refused in JSON-RPC, and nothing runs. */
import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

const body = fc.oneof(message, fc.array(message, { maxLength: 4 }));

const version = fc.constantFrom(undefined, NEWEST, '2025-11-25', '2030-01-01', '', 'x'.repeat(300));

describe('JSON-RPC bodies that are wrong', () => {
  it('are answered with what they are, and leave the server as it was', async () => {
    const gateway = await startVirtual();
    const { client } = await connect(gateway);
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
          },
          body: JSON.stringify(sent),
          signal: stop.signal,
        });
        expect(response.status, JSON.stringify(sent)).toBeLessThan(500);
        if (response.status === 202) return;
        if (response.status === 200 && response.headers.get('content-type')?.includes('event-stream')) {
          // A session that was opened, or a stream that goes on.
          stop.abort();
          return;
        }
        expect(await answerOf(response)).toMatchObject({ jsonrpc: '2.0' });
      }),
      { numRuns: RUNS, seed: 20_260_728 },
    );
    expect(await readdir(gateway.work)).toEqual([]);
    expect(textOf(await client.callTool({ name: 'Bash', arguments: { command: 'echo well' } }))).toContain(
      'well',
    );
  });
});
