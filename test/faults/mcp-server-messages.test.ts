/**
 * Random JSON-RPC from an MCP server, between a call and its answer: results, errors, notifications and requests
 * that no server should send, some about the call itself. Each call comes to an end, an answer that nothing spoke
 * for is the server's own, and the connection serves on.
 */
import { describe, expect, it } from 'vitest';
import fc from '../support/fast-check.js';
import { oddServer, testClient, textOf } from '../support/mcp-servers.js';
import { count, TIMEOUT_MS } from './counts.js';

const RUNS = count(150, 10_000);
/** Where the server puts the id of the call. */
const CALL = '$ID';

const value = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, '', '\u0000', [], {}, '__proto__'),
  fc.string({ maxLength: 30 }),
  fc.object({ maxDepth: 2, maxKeys: 3 }),
);
const id = fc.oneof(value, fc.integer({ min: 0, max: 50 }), fc.constant(CALL));
const version = fc.oneof({ weight: 4, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: value });
const METHODS = [
  ...['ping', 'sampling/createMessage', 'roots/list', 'elicitation/create', 'tools/call', 'no/such'],
  ...['notifications/progress', 'notifications/message', 'notifications/cancelled'],
  ...['notifications/resources/updated', 'notifications/tasks/status', 'notifications/elicitation/complete'],
] as const;
const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...METHODS) },
  { weight: 1, arbitrary: value },
);
const params = fc.oneof(
  value,
  fc.record(
    { requestId: id, progressToken: id, progress: value, total: value, message: value, _meta: value },
    { requiredKeys: [] },
  ),
);
const result = fc.oneof(
  value,
  fc.record(
    {
      content: fc.oneof(
        value,
        fc.array(fc.record({ type: fc.constantFrom('text', 'image', 'x'), text: value })),
      ),
      ...{ isError: value, structuredContent: value, resultType: value, task: value, _meta: value },
      ...{ inputRequests: value, requestState: value, nextCursor: value },
    },
    { requiredKeys: [] },
  ),
);
const message = fc.oneof(
  value,
  fc.record({ jsonrpc: version, id, result }),
  fc.record({ jsonrpc: version, id, error: fc.oneof(value, fc.record({ code: value, message: value })) }),
  fc.record({ jsonrpc: version, id, result, error: value }),
  fc.record({ jsonrpc: version, id, method, params }),
  fc.record({ jsonrpc: version, method, params }),
);

/** What names the call, or takes it back, may end it. */
const isAboutCall = (text: string): boolean => text.includes(CALL);

describe('what an MCP server sends between a call and its answer', () => {
  it('loses no answer, holds up no call and ends no connection', { timeout: TIMEOUT_MS }, async () => {
    const client = testClient({ odd: oddServer('says') });
    await client.settled(AbortSignal.timeout(60_000));
    const process = textOf(await client.call('odd', 'pid'));
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 4 }), fc.integer(), async (said, number) => {
        const sound = `sound ${number}`;
        const lines = said.map((each) => JSON.stringify(each));
        const answer = await client.call('odd', 'say', { lines, sound });
        expect(answer.content, lines.join('\n')).toBeInstanceOf(Array);
        // An id that is the call's by chance is about it as well.
        if (lines.every((line) => !isAboutCall(line) && !/"id":\d/.test(line))) {
          expect(textOf(answer), lines.join('\n')).toBe(sound);
        }
        expect(textOf(await client.call('odd', 'pid')), lines.join('\n')).toBe(process);
      }),
      { numRuns: RUNS },
    );
    expect(client.status()).toMatchObject([{ state: 'connected' }]);
    expect(client.lines.filter(({ message: logged }) => logged.includes('bug'))).toEqual([]);
  });
});
