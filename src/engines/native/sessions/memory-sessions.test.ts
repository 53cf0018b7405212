import { describe, expect, it } from 'vitest';
import type { Block, Message } from '../../../core/conversation.js';
import { FakeRuntime, resultOf, userSays } from '../testing.js';
import { MemorySessions } from './memory-sessions.js';
import type { Attachment, AttachRequest } from './native-sessions.js';

const workspace = { root: '/w', home: '/home/u' };
const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });

function setUp(options: { max?: number; ttlMs?: number } = {}) {
  const runtime = new FakeRuntime();
  const clock = { now: 1_000 };
  const sessions = new MemorySessions({
    openTools: ({ id, principal }) => runtime.openSession({ id, principal, workspace }),
    onProblem: (error) => {
      throw error;
    },
    now: () => clock.now,
    ...options,
  });
  const attach = (messages: readonly Message[], rest: Partial<AttachRequest> = {}) =>
    sessions.attach({
      principal: 'alice',
      workspace,
      messages,
      tools: [],
      system: [],
      oneCall: false,
      ...rest,
    });
  /** One turn whose answer is the text, with a call and its result behind it that the client does not see. */
  const turn = async (messages: readonly Message[], answer: string, id?: string) => {
    const attached = asTurn(await attach(messages, { id }));
    const hidden: Block[] = [{ type: 'tool_use', id: `s_${answer}`, name: 'Read', input: {} }];
    const transcript = [
      ...attached.transcript,
      { role: 'assistant' as const, content: hidden },
      resultOf(`s_${answer}`, 'hidden'),
      said(answer),
    ];
    attached.session.complete({
      transcript,
      compacted: false,
      answer: { blocks: said(answer).content, reason: 'end_turn' },
    });
    return attached;
  };
  return { sessions, attach, turn, clock, runtime };
}

function asTurn(attached: Attachment): Extract<Attachment, { kind: 'turn' }> {
  if (attached.kind !== 'turn') throw new Error(`It is ${attached.kind}`);
  return attached;
}

describe('a session named by its id', () => {
  it('goes on with the new messages alone, and knows what the client did not see', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    const on = asTurn(await attach([userSays('a'), said('A'), userSays('b')], { id: session.id }));
    expect(on.how).toBe('continue');
    expect(on.session.id).toBe(session.id);
    expect(on.transcript).toHaveLength(5);
    expect(on.transcript.at(-1)).toEqual(userSays('b'));
  });

  it('knows a history that the client tells in another way', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a  b')], 'One. \n\nTwo.');
    const retold: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x' },
          { type: 'text', text: 'One.' },
        ],
      },
      said('Two.'),
      userSays('c'),
    ];
    expect(asTurn(await attach(retold, { id: session.id })).how).toBe('continue');
  });

  it('goes on where the client sends nothing but what is new', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    const on = asTurn(await attach([userSays('b')], { id: session.id }));
    expect([on.how, on.transcript.length]).toEqual(['continue', 5]);
  });

  it('goes on with nothing new, after a pause', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    const on = asTurn(await attach([userSays('a'), said('A')], { id: session.id }));
    expect([on.how, on.transcript.length]).toEqual(['continue', 4]);
  });

  it('is forked where the history ends earlier or says something else; the old one stays', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    await turn([userSays('a'), said('A'), userSays('b')], 'B', session.id);
    const again = asTurn(await attach([userSays('a'), said('A'), userSays('b')], { id: session.id }));
    expect(again.how).toBe('fork');
    expect(again.session.id).not.toBe(session.id);
    expect(again.session.forkNumber).toBe(1);
    expect(again.transcript).toHaveLength(5);
    const edited = asTurn(await attach([userSays('a'), said('A'), userSays('other')], { id: session.id }));
    expect([edited.how, edited.transcript.length]).toEqual(['fork', 5]);
    const on = asTurn(
      await attach([userSays('a'), said('A'), userSays('b'), said('B'), userSays('c')], { id: session.id }),
    );
    expect([on.how, on.transcript.length]).toEqual(['continue', 9]);
  });

  it('is unknown when it never was, and when its time is over', async () => {
    const { turn, attach, clock, runtime } = setUp({ ttlMs: 100 });
    await expect(attach([userSays('a')], { id: 'ses_x' })).rejects.toMatchObject({ code: 'not_found' });
    const { session } = await turn([userSays('a')], 'A');
    await session.toolSession();
    clock.now += 101;
    await expect(attach([userSays('b')], { id: session.id })).rejects.toMatchObject({ code: 'not_found' });
    expect(runtime.closed).toEqual([session.id]);
  });

  it("is not another key's, and not of another folder", async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    const { id } = session;
    await expect(attach([userSays('b')], { id, principal: 'bob' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const other = { root: '/other', home: '/home/u' };
    await expect(attach([userSays('b')], { id, workspace: other })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('keeps the tools and the system prompt of an earlier request', async () => {
    const { turn, attach } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    const { id } = session;
    const tools = [{ name: 'get_weather' }];
    const one = asTurn(await attach([userSays('b')], { id, tools, system: [{ type: 'text', text: 's' }] }));
    one.session.abandon(one.transcript);
    const two = asTurn(await attach([userSays('c')], { id }));
    expect(two.session.tools).toEqual(tools);
    expect(two.session.system).toEqual([{ type: 'text', text: 's' }]);
  });
});

describe('sessions', () => {
  it('that were unused longest go first, and those that are busy stay', async () => {
    const { turn, attach, sessions } = setUp({ max: 2 });
    const busy = asTurn(await attach([userSays('busy')]));
    const first = await turn([userSays('a')], 'A');
    await turn([userSays('b')], 'B');
    expect(sessions.size).toBe(2);
    await expect(attach([userSays('x')], { id: first.session.id })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(attach([userSays('x')], { id: busy.session.id })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('close what they opened', async () => {
    const { turn, sessions, runtime } = setUp();
    const { session } = await turn([userSays('a')], 'A');
    await session.toolSession();
    await sessions.close();
    expect(runtime.closed).toEqual([session.id]);
  });

  it('take a foreign history as it is, calls and results as blocks', async () => {
    const { attach } = setUp();
    const history: Message[] = [
      userSays('a'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f', input: {} }] },
      resultOf('x', 'r'),
    ];
    const imported = asTurn(await attach(history));
    expect(imported.how).toBe('import');
    expect(imported.transcript).toEqual(history);
  });

  it('give no id to two calls, also while both are on their way', async () => {
    const { attach } = setUp();
    const [one, two] = [asTurn(await attach([userSays('a')])), asTurn(await attach([userSays('b')]))];
    expect(one.session.claimId('call_0')).toBe('call_0');
    expect(two.session.claimId('call_0')).not.toBe('call_0');
    const bob = asTurn(await attach([userSays('c')], { principal: 'bob' }));
    expect(bob.session.claimId('call_0')).toBe('call_0');
  });

  it('that were made for a request that failed at once are gone', async () => {
    const { attach, sessions, turn } = setUp();
    const failed = asTurn(await attach([userSays('a')]));
    failed.session.discard(failed.transcript);
    expect(sessions.size).toBe(0);
    const { session } = await turn([userSays('a')], 'A');
    const next = asTurn(await attach([userSays('b')], { id: session.id }));
    next.session.discard(next.transcript);
    expect(sessions.size).toBe(1);
  });

  it('do not take a foreign call for an open one that happens to have its id', async () => {
    const { attach } = setUp();
    const first = asTurn(await attach([userSays('a')]));
    const call = { type: 'tool_use' as const, id: 'call_0', name: 'f', input: { a: 1 } };
    first.session.complete({
      transcript: [userSays('a'), { role: 'assistant', content: [call] }],
      compacted: false,
      answer: { blocks: [call], reason: 'tool_use' },
      handedBack: { calls: [call], open: [call], results: new Map() },
    });
    const other: Message = { role: 'assistant', content: [{ ...call, input: { a: 2 } }] };
    expect(asTurn(await attach([userSays('z'), other, resultOf('call_0', 'r')])).how).toBe('import');
    const same: Message = { role: 'assistant', content: [call] };
    expect(asTurn(await attach([userSays('z'), same, resultOf('call_0', 'r')])).how).toBe('continue');
  });
});
