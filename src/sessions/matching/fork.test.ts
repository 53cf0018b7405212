import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  asTurn,
  call,
  handBack,
  result,
  SessionsBench,
  said,
  speak,
  user,
} from '../../../test/support/sessions-bench.js';
import type { Block, Message } from '../../core/conversation.js';
import { sessionLease } from '../../store/leases.js';
import { newSessionId } from '../persistence/session-factory.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const A: Message[] = [user('a')];
const B: Message[] = [...A, said('A'), user('b')];
const C: Message[] = [...B, said('B'), user('c')];

describe('a history that ends earlier', () => {
  it('forks from there, and the old branch stays', async () => {
    const { id } = await bench.say(A, 'A');
    await bench.say(B, 'B');
    await bench.say(C, 'C');
    const fork = await bench.turn([...A, said('A'), user('other')]);
    expect([fork.how, fork.forkNumber, fork.transcript.length]).toEqual(['fork', 1, 5]);
    expect(await bench.sessions.get(fork.id)).toMatchObject({ parent: id, title: 'a' });
    await speak(fork, 'O');
    const old = await bench.turn([...C, said('C'), user('d')]);
    expect([old.how, old.id, old.transcript.length]).toEqual(['continue', id, 13]);
    const own = await bench.turn([...A, said('A'), user('other'), said('O'), user('p')]);
    expect([own.how, own.id]).toEqual(['continue', fork.id]);
  });

  it('finds its position in the fork when the parent is deleted', async () => {
    const { id } = await bench.say(A, 'A');
    await bench.say(B, 'B');
    const fork = await bench.say([...A, said('A'), user('other')], 'O');
    await bench.sessions.delete(id, 'alice');
    const again = await bench.turn([...A, said('A'), user('third')]);
    expect([again.how, again.forkNumber, again.transcript.length]).toEqual(['fork', 2, 5]);
    expect(await bench.sessions.get(again.id)).toMatchObject({ parent: fork.id });
  });

  it('has its unknown later messages in the fork as real blocks', async () => {
    await bench.say(A, 'A');
    const foreign = [
      user('b'),
      said('edited', call('x', 'f')),
      user(result('x', 'r')),
      said('so'),
      user('c'),
    ];
    const fork = await bench.turn([...A, said('A'), ...foreign]);
    expect(fork.how).toBe('fork');
    expect(fork.transcript.slice(4)).toEqual(foreign);
  });

  it('at a hand-back takes the built-in results of that message into the fork', async () => {
    const calls = [call('c1'), call('c2')];
    await handBack(await bench.turn(A), calls, { here: [call('s1', 'Bash')] });
    const results = user(result('c1', '1'), result('c2', '2'));
    await speak(await bench.turn([...A, said(...calls), results]), 'Done.');
    const fork = await bench.turn([...A, said(...calls), user('rather not')]);
    expect(fork.how).toBe('fork');
    expect(fork.transcript.slice(2)).toMatchObject([
      {
        content: [
          { toolUseId: 's1', isError: false },
          { toolUseId: 'c1', isError: true },
          { toolUseId: 'c2', isError: true },
        ],
      },
      user('rather not'),
    ]);
    const other = await bench.turn([...A, said(...calls), user(result('c1', '1'), result('c2', 'else'))]);
    expect(other.how).toBe('fork');
    expect(other.transcript.at(-1)).toEqual(
      user(result('s1', 'ran s1'), result('c1', '1'), result('c2', 'else')),
    );
    expect(other.claimId('c1')).not.toBe('c1');
  });

  it('sent again with the results that a fork answered gets the answer of that fork', async () => {
    const calls = [call('c1')];
    await bench.handBack(A, calls);
    const tell = (text: string) => [...A, said(...calls), user(result('c1', text))];
    await speak(await bench.turn(tell('one')), 'One.');
    const fork = await bench.turn(tell('two'));
    await speak(fork, 'Two.');
    expect(await bench.attach(tell('two'))).toMatchObject({ kind: 'answered', session: fork.id });
    expect(await bench.attach(tell('one'))).toMatchObject({ answer: { blocks: said('One.').content } });
    const third = await bench.turn(tell('three'));
    expect(await bench.attach(tell('three'))).toMatchObject({ kind: 'running', session: third.id });
    await third.abandon();
    expect((await bench.turn(tell('three'))).id).toBe(third.id);
  });

  it('sent under a session id forks, from the beginning where nothing is common', async () => {
    const { id } = await bench.say(A, 'A');
    await bench.say(B, 'B');
    expect((await bench.turn(B, { id })).how).toBe('fork');
    const apart = await bench.turn([user('x'), said('y'), user('z')], { id });
    expect([apart.how, apart.transcript.length, apart.forkNumber]).toEqual(['fork', 3, 1]);
    expect(await bench.sessions.get(apart.id)).toMatchObject({ parent: id });
  });
});

describe('two sessions with the same history', () => {
  /** Two of one key, both at the end of `B`. */
  const twins = async () => {
    await bench.say(A, 'A');
    const one = await bench.say(B, 'B');
    const other = await bench.say(B, 'B');
    return [one.id, other.id];
  };

  it('the idle one is continued; with both busy the request is refused', async () => {
    const ids = await twins();
    const first = await bench.turn(C);
    const second = await bench.turn([...B, said('B'), user('else')]);
    expect([second.how, [first.id, second.id].sort()]).toEqual(['continue', ids.sort()]);
    const third = bench.attach([...B, said('B'), user('third')]);
    await expect(third).rejects.toMatchObject({ code: 'conflict', detail: 'session_busy' });
  });
});

describe('a history that no session has', () => {
  it('is imported also where its session cannot be read', async () => {
    const { id, principal } = await bench.say(A, 'A');
    const grant = await bench.store.leases.acquire(sessionLease(id), 'later', 1000);
    if (!grant.granted) throw new Error('Nobody else holds it.');
    await bench.store.sessions.checkpoint(id, grant.lease, { metadata: { version: 2 } });
    const imported = await bench.turn(B);
    expect([imported.how, imported.principal, imported.id === id]).toEqual(['import', principal, false]);
  });

  it('is imported unchanged, calls and results as blocks', async () => {
    const history: Message[] = [
      user('a'),
      said('let me see', call('x', 'f')),
      user(result('x', 'r')),
      said('so'),
      user('b'),
    ];
    const imported = await bench.turn(history);
    expect([imported.how, imported.transcript, imported.began]).toEqual(['import', history, 5]);
    expect(await bench.sessions.get(imported.id)).not.toHaveProperty('parent');
  });

  it('takes the results at its end for the calls of its last message', async () => {
    const history = [
      user('a'),
      said(call('x', 'f'), call('y', 'f')),
      user(result('y', '2')),
      user(result('x', '1')),
    ];
    const imported = await bench.turn(history);
    expect(imported.transcript).toEqual([...history.slice(0, 2), user(result('x', '1'), result('y', '2'))]);
    await speak(imported, 'Done.');
    expect(await bench.attach(history)).toMatchObject({ kind: 'answered', session: imported.id });
  });

  it('with some of the results at its end waits for the others', async () => {
    const history = [user('a'), said(call('x', 'f'), call('y', 'f'))];
    const waiting = await bench.attach([...history, user(result('y', '2'))]);
    expect(waiting).toMatchObject({ kind: 'waiting', how: 'import', open: [{ id: 'x' }] });
    const on = await bench.turn([...history, user(result('x', '1'), result('y', '2'))]);
    expect(on.how).toBe('continue');
  });

  it('gets an error result for each call without one', async () => {
    const imported = await bench.turn([
      user('a'),
      said(call('x', 'f'), call('y', 'f')),
      user(result('x', '1')),
      said('so', call('z', 'f')),
      user('never mind'),
    ]);
    expect(imported.transcript).toMatchObject([
      user('a'),
      {},
      {
        content: [
          { toolUseId: 'x', isError: false },
          { toolUseId: 'y', isError: true },
        ],
      },
      {},
      { content: [{ toolUseId: 'z', isError: true }] },
      user('never mind'),
    ]);
  });

  it('with an answer between calls and results is put in order', async () => {
    const [x, y] = [call('x', 'f'), call('y', 'f')];
    const imported = await bench.turn([
      user('a'),
      said(x, y),
      user(result('x', '1')),
      said(y),
      user(result('y', '2')),
      said('so'),
      user('b'),
    ]);
    expect(imported.transcript).toEqual([
      user('a'),
      said(x, y),
      user(result('x', '1'), result('y', '2')),
      said('so'),
      user('b'),
    ]);
  });

  it('that ends with such an answer is matched by either fingerprint', async () => {
    const [x, y, z] = [call('x', 'f'), call('y', 'f'), call('z', 'f')];
    const base = [user('a'), said(x, y, z)];
    const echo = [...base, user(result('x', '1')), said(y, z), user(result('y', '2'))];
    const waiting = await bench.attach(echo);
    expect(waiting).toMatchObject({ kind: 'waiting', how: 'import', open: [{ id: 'z' }] });
    const all = [result('x', '1'), result('y', '2'), result('z', '3')];
    const turn = await bench.turn([...base, user(...all)]);
    expect([turn.how, turn.transcript]).toEqual(['continue', [...base, user(...all)]]);
    await turn.abandon();
    const other = await bench.turn([...echo, said(z), user(result('z', '3'))]);
    expect(other.id).toBe(turn.id);
  });

  it('is imported once and matched afterwards', async () => {
    const history = [user('x'), said('y'), user('z')];
    const imported = await bench.say(history, 'Z');
    expect((await bench.turn(history)).how).toBe('fork');
    expect(await bench.turn([...history, said('Z'), user('on')])).toMatchObject({
      how: 'continue',
      id: imported.id,
    });
  });
});

describe('two API keys', () => {
  it('with the same history never share a session', async () => {
    const { id } = await bench.say(A, 'A');
    const bob = await bench.turn(B, { principal: 'bob' });
    expect([bob.how, bob.id === id]).toEqual(['import', false]);
    await expect(bench.attach([user('b')], { id, principal: 'bob' })).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
    });
  });

  it('match no session of another engine or folder', async () => {
    const { id } = await bench.say(A, 'A');
    for (const other of [{ root: '/other' }, { engine: 'claude-code' as const }]) {
      expect((await bench.turn(B, other)).how).toBe('import');
      await expect(bench.attach(B, { ...other, id })).rejects.toMatchObject({ code: 'conflict' });
    }
  });

  it('get a refusal for a session that never existed or has expired', async () => {
    await expect(bench.attach(A, { id: newSessionId() })).rejects.toMatchObject({ code: 'not_found' });
    const { id } = await bench.say(A, 'A');
    bench.clock.now += 3_600_001;
    await expect(bench.attach(B, { id })).rejects.toMatchObject({ code: 'not_found' });
    expect((await bench.turn(B)).how).toBe('import');
  });
});

describe('tools and system prompt of an earlier request', () => {
  const tools = [{ name: 'get_weather', inputSchema: { type: 'object' } }];
  const system = [{ type: 'text' as const, text: 'Be brief.' }];

  it('are kept for a request without them, and written once', async () => {
    const { id } = await bench.say(A, 'A', { tools, system });
    const on = await bench.say(B, 'B');
    expect([on.tools, on.system]).toEqual([tools, system]);
    await bench.say(C, 'C', { tools: [{ inputSchema: { type: 'object' }, name: 'get_weather' }], system });
    expect(await bench.store.transcripts.read(id, { channel: 'setup' })).toHaveLength(2);
    const changed = await bench.turn([user('d')], { id, tools: [{ name: 'other' }] });
    expect([changed.tools, changed.system]).toEqual([[{ name: 'other' }], system]);
    expect(await bench.store.transcripts.read(id, { channel: 'setup' })).toHaveLength(3);
  });

  it('are copied to a fork', async () => {
    await bench.say(A, 'A', { tools, system });
    await bench.say(B, 'B');
    const fork = await bench.turn(B);
    expect([fork.how, fork.tools, fork.system]).toEqual(['fork', tools, system]);
  });
});

describe('a client that rewrites the history it echoes', () => {
  const image: Block = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } };
  const cached: Block = {
    type: 'text',
    text: 'look: it',
    extensions: { 'anthropic-messages': { cache_control: { type: 'ephemeral' } } },
  };
  const c1 = call('c1', 'get', { city: 'Paris', days: [1, 2], more: { x: 1, y: null } });
  const asked = user('look: it', image);
  const answer = said({ type: 'thinking', thinking: 'hm', signature: 's' }, 'One.\n\nTwo.', c1);
  const given: Block = {
    type: 'tool_result',
    toolUseId: 'c1',
    content: [{ type: 'text', text: 'sun ny' }, image],
    isError: false,
  };
  const REWRITES: Readonly<Record<string, Message[]>> = {
    nothing: [asked, answer, user(given), said('Fine.')],
    'thinking dropped': [asked, said('One.\n\nTwo.', c1), user(given), said('Fine.')],
    'keys of arguments in another order': [
      asked,
      said('One.\n\nTwo.', call('c1', 'get', { more: { y: null, x: 1 }, days: [1, 2], city: 'Paris' })),
      user(given),
      said('Fine.'),
    ],
    'texts of the assistant split': [asked, said('One.'), said('Two.', c1), user(given), said('Fi', 'ne.')],
    'texts of the user split': [user('look:', 'it', image), answer, user(given), said('Fine.')],
    'texts joined without blanks': [asked, said('One.Two.', c1), user(given), said(' Fine. ')],
    'cache_control added': [user(cached, image), answer, user(given), said('Fine.')],
    'empty texts added': [
      user('', 'look: it', image),
      said('', ...answer.content),
      user(given),
      said('Fine.', ''),
    ],
    'calls in a message of their own': [asked, said('One.\n\nTwo.'), said(c1), user(given), said('Fine.')],
    'empty messages added': [asked, answer, user(), user(given), said(), said('Fine.'), said()],
    'the result split': [
      asked,
      answer,
      user({
        ...given,
        content: [
          ...[
            { type: 'text' as const, text: 'sun' },
            { type: 'text' as const, text: 'ny' },
          ],
          image,
        ],
      }),
      said('Fine.'),
    ],
    'extensions lost': [
      asked,
      said('One.\n\nTwo.', { ...c1, extensions: { 'openai-chat': { index: 0 } } }),
      user(given),
      said('Fine.'),
    ],
  };

  it.each(Object.entries(REWRITES))('continues its session: %s', async (_, told) => {
    const turn = await bench.turn([asked]);
    turn.transcript.push(answer);
    await turn.complete({
      answer: { blocks: answer.content, reason: 'tool_use' },
      handedBack: { calls: [c1], open: [c1], results: new Map() },
    });
    await speak(await bench.turn([asked, answer, user(given)]), 'Fine.');
    const on = asTurn(await bench.attach([...told, user('next')]));
    expect([on.how, on.id]).toEqual(['continue', turn.id]);
    expect(on.transcript.at(-1)).toEqual(user('next'));
  });

  it.each<[string, Message[]]>([
    ['another text', [user('look: at', image), answer, user(given), said('Fine.')]],
    [
      'another image',
      [user('look: it', { ...image, source: { type: 'url', url: 'u' } }), answer, user(given), said('Fine.')],
    ],
    [
      'another argument',
      [asked, said('One.\n\nTwo.', call('c1', 'get', { city: 'Rome' })), user(given), said('Fine.')],
    ],
    ['another answer', [asked, answer, user(given), said('Finer.')]],
    ['another result', [asked, answer, user(result('c1', 'rain')), said('Fine.')]],
    ['a result that failed', [asked, answer, user({ ...given, isError: true }), said('Fine.')]],
    ['another role', [asked, answer, user(given), said('Fine.'), { role: 'system', content: [] }, said('x')]],
  ])('does not continue it when the content differs: %s', async (_, told) => {
    const turn = await bench.turn([asked]);
    turn.transcript.push(answer);
    await turn.complete({
      answer: { blocks: answer.content, reason: 'tool_use' },
      handedBack: { calls: [c1], open: [c1], results: new Map() },
    });
    await speak(await bench.turn([asked, answer, user(given)]), 'Fine.');
    const on = asTurn(await bench.attach([...told, user('next')]));
    expect(on.id).not.toBe(turn.id);
  });
});
