import { describe, expect, it } from 'vitest';
import { EventMemory } from './event-memory.js';
import { VIRTUAL_LIMITS } from './limits.js';
import type { JSONRPCMessage } from './sdk.js';

const message = (id: number, text = ''): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { text } });

async function replayed(memory: EventMemory, last: string): Promise<JSONRPCMessage[]> {
  const sent: JSONRPCMessage[] = [];
  await memory.replayEventsAfter(last, {
    send: async (_id, each) => {
      sent.push(each);
    },
  });
  return sent;
}

describe('what a client has missed', () => {
  it('is what came after the event that it has, on the same stream', async () => {
    const memory = new EventMemory(VIRTUAL_LIMITS);
    const first = await memory.storeEvent('a', message(1));
    await memory.storeEvent('b', message(2));
    await memory.storeEvent('a', message(3));
    expect(await memory.getStreamIdForEventId(first)).toBe('a');
    expect(await replayed(memory, first)).toEqual([message(3)]);
  });

  it('is forgotten by number and by size, the oldest first', async () => {
    const few = new EventMemory({ storedEvents: 2, storedChars: 10_000 });
    const ids = [];
    for (const id of [1, 2, 3]) ids.push(await few.storeEvent('a', message(id)));
    expect(await Promise.all(ids.map((id) => few.getStreamIdForEventId(id)))).toEqual([undefined, 'a', 'a']);
    const small = new EventMemory({ storedEvents: 100, storedChars: 300 });
    const old = await small.storeEvent('a', message(1, 'x'.repeat(150)));
    const large = await small.storeEvent('a', message(2, 'x'.repeat(500)));
    expect(await small.getStreamIdForEventId(old)).toBeUndefined();
    // Its client is about to be told: the newest is kept, whatever its size.
    expect(await small.getStreamIdForEventId(large)).toBe('a');
    await expect(replayed(small, old)).rejects.toThrow();
  });
});
