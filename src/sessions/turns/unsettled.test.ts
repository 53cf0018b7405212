import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, result, SessionsBench, said, user } from '../../../test/support/sessions-bench.js';
import type { ToolUseBlock } from '../../core/conversation.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const read = call('r', 'Read');
const edit = call('e', 'Edit');
const ask = call('c');

/** The client's call is handed back while one of the gateway's own has not run. */
async function handedBackEarly(): Promise<void> {
  const turn = await bench.turn([user('hi')]);
  const calls: ToolUseBlock[] = [read, edit, ask];
  turn.transcript.push(said(...calls));
  await turn.complete({
    answer: { blocks: [ask], reason: 'tool_use' },
    handedBack: { calls, open: [ask], results: new Map([['r', result('r', 'read')]]) },
  });
}

const answer = [user('hi'), said(ask), user(result('c', 'found'))];

describe('server calls that had not run when client calls were handed back', () => {
  it('are outstanding when the results arrive', async () => {
    await handedBackEarly();
    const turn = await bench.turn(answer);
    expect(turn.transcript).toEqual([user('hi'), said(read, edit, ask)]);
    expect(turn.outstanding?.calls.map(({ id }) => id)).toEqual(['r', 'e', 'c']);
    expect([...(turn.outstanding?.results.values() ?? [])]).toEqual([
      result('r', 'read'),
      result('c', 'found'),
    ]);
    expect(turn.outstanding?.started).toEqual(new Set());
    expect(await turn.start(edit)).toBe(true);
    await turn.finish(result('e', 'edited'));
    turn.transcript.push(user(result('r', 'read'), result('e', 'edited'), result('c', 'found')));
    await turn.save();
    turn.transcript.push(said('done'));
    await turn.complete({ answer: { blocks: said('done').content, reason: 'end_turn' } });
    const states = (await bench.store.toolCalls.list(turn.id)).map(({ id, state }) => [id, state]);
    expect(states.toSorted()).toEqual([
      ['c', 'used'],
      ['e', 'used'],
    ]);
    expect(await bench.attach(answer)).toMatchObject({ kind: 'answered', session: turn.id });
  });

  it('are outstanding again where that turn breaks, and never run twice', async () => {
    await handedBackEarly();
    const first = await bench.turn(answer);
    await first.start(edit);
    await first.abandon();
    const again = await bench.turn(answer);
    expect(again.id).toBe(first.id);
    expect(again.outstanding?.results.get('c')).toEqual(result('c', 'found'));
    expect(again.outstanding?.started).toEqual(new Set(['e']));
  });

  it('get no result where the user says something beside the results', async () => {
    await handedBackEarly();
    const turn = await bench.turn([user('hi'), said(ask), user(result('c', 'found'), 'and hurry')]);
    expect(turn.outstanding).toBeUndefined();
    const told = JSON.stringify(turn.transcript.at(-1));
    expect(told).toContain('stopped before the call was made');
    expect(told).toContain('and hurry');
  });
});
