import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asTurn, call, result, SessionsBench, said, user } from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const C1 = call('c1', 'get', { of: 1 });
const OTHER = call('c1', 'get', { of: 2 });
const R1 = result('c1', 'one');
const END = [said('Done.'), user('more')];

describe('a request with ambiguous call ids', () => {
  const CALLS: readonly [string, Message[]][] = [
    ['in a history', [user('go'), said(C1, OTHER), user(R1), said('Well.'), user('again'), ...END]],
    ['that are the same', [user('go'), said(C1, C1), user(R1), ...END]],
    ['whose results come', [user('go'), said(C1, OTHER), user(R1)]],
  ];
  it.each(CALLS)('is refused for two calls of a message with one id, %s', async (_, messages) => {
    await expect(bench.attach(messages)).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      message: expect.stringContaining('"c1" is used for two calls'),
    });
    expect((await bench.sessions.list({ limit: 10 })).items).toEqual([]);
  });

  const RESULTS: readonly [string, Message[]][] = [
    ['in one message', [user(R1, result('c1', 'two'))]],
    ['in messages behind each other', [user(R1), user(result('c1', 'two'))]],
    ['of which one failed', [user(R1, result('c1', 'one', true)), ...END]],
  ];
  it.each(RESULTS)('is refused for two different results of a call, %s', async (_, behind) => {
    const parked = await bench.handBack([user('go')], [C1]);
    const sent = bench.attach([user('go'), said(C1), ...behind]);
    await expect(sent).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('"c1"'),
    });
    expect(await bench.store.toolCalls.list(parked.id)).toMatchObject([{ id: 'c1', state: 'open' }]);
  });

  it('is accepted with the same result twice, which is used once', async () => {
    await bench.handBack([user('go')], [C1]);
    const turn = asTurn(await bench.attach([user('go'), said(C1), user(R1, R1)]));
    expect(turn.transcript).toEqual([user('go'), said(C1), user(R1)]);
  });

  it('is accepted where a later message uses an id again', async () => {
    const history = [user('go'), said(C1), user(R1), said(OTHER), user(result('c1', 'two')), ...END];
    expect(asTurn(await bench.attach(history)).transcript).toEqual(history);
  });
});
