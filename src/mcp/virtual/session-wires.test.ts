import { describe, expect, it } from 'vitest';
import { VIRTUAL_LIMITS } from './limits.js';
import { loadServerSdk } from './sdk.js';
import { sseWire } from './session-wires.js';

const MEBIBYTE = 'x'.repeat(1024 * 1024);

describe('HTTP with SSE', () => {
  it('ends with a client that asks on and on and does not read', async () => {
    const { transport, respond } = sseWire(await loadServerSdk(), '/mcp/gateway?sessionId=1', VIRTUAL_LIMITS);
    const { body } = await respond(new Request('http://gateway/'), undefined);
    const answer = { jsonrpc: '2.0', id: 1, result: { text: MEBIBYTE } } as const;
    const sent: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      await transport.send(answer).then(
        () => sent.push('sent'),
        () => sent.push('refused'),
      );
    }
    expect(sent.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 'sent'));
    expect(sent.slice(9)).toEqual(Array.from({ length: 11 }, () => 'refused'));
    await expect(body?.getReader().read()).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('goes on with a client that reads', async () => {
    const { transport, respond } = sseWire(await loadServerSdk(), '/mcp/gateway?sessionId=1', VIRTUAL_LIMITS);
    const reader = (await respond(new Request('http://gateway/'), undefined)).body?.getReader();
    for (let id = 0; id < 20; id += 1) {
      await transport.send({ jsonrpc: '2.0', id, result: { text: MEBIBYTE } });
      expect((await reader?.read())?.done).toBe(false);
    }
  });
});
