import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Attachment, AttachRequest, Turn } from '../../sessions/sessions.js';
import type { Answer, ModelRequest } from '../engine.js';
import { type Attached, attachTurn } from './attach-turn.js';
import { LiveTurns } from './live-turns.js';

const NEVER = () => Promise.reject(new Error('not asked'));

function turnOf(id: string, key: string): Turn {
  return {
    id,
    key,
    principal: 'alice',
    user: undefined,
    root: '/',
    how: 'new',
    forkNumber: 0,
    tools: [],
    system: [],
    transcript: [],
    began: 0,
    spoken: [],
    before: 0,
    outstanding: undefined,
    state: undefined,
    losses: [],
    signal: new AbortController().signal,
    steps: () => 0,
    save: NEVER,
    claimId: (each) => each,
    start: NEVER,
    finish: NEVER,
    complete: NEVER,
    abandon: NEVER,
    recordFrom: () => {},
    saveRecord: NEVER,
    takeSteering: () => [],
    discard: NEVER,
  };
}

const REQUEST: AttachRequest = {
  principal: 'alice',
  engine: 'native',
  model: 'm',
  root: '/',
  request: { messages: [], tools: [], system: [] },
};

const HEAD = { upstream: 'u', losses: [], headers: { 'x-session-id': 's' } };

function setUp(...attachments: (Attachment | GatewayError)[]) {
  const turns = new LiveTurns();
  const ends: string[] = [];
  const delivered: string[] = [];
  let asked = 0;
  const attach = (call: Partial<ModelRequest> = {}): Promise<Attached> =>
    attachTurn({
      sessions: {
        async attach() {
          asked += 1;
          const next = attachments.length > 1 ? attachments.shift() : attachments[0];
          if (next === undefined || next instanceof GatewayError) throw next;
          return next;
        },
        delivered: (session, key) => void delivered.push(`${session} ${key}`),
        passedOn: () => {},
      },
      turns,
      call: { signal: new AbortController().signal, ...call },
      request: REQUEST,
      pingMs: 60_000,
      onEnd: async ({ id }) => void ends.push(id),
    });
  return { attach, turns, ends, delivered, asked: () => asked };
}

function begun(attached: Attached) {
  if (attached.kind !== 'turn') throw new Error('It is an answer');
  return attached;
}

async function heard(answer: Answer): Promise<string> {
  if (answer.body.kind !== 'events') throw new Error('bytes');
  let text = '';
  for await (const batch of answer.body.batches) {
    for (const event of batch) if (event.type === 'text') text += event.text;
  }
  return text;
}

async function* says(...texts: string[]): AsyncGenerator<readonly ModelEvent[], void, void> {
  for (const text of texts) yield [{ type: 'text', text }];
}

const RUNNING: Attachment = { kind: 'running', session: 's', how: 'new', key: 'k' };
const TURN: Attachment = { kind: 'turn', turn: turnOf('s', 'k') };

describe('the same request sent again', () => {
  it('gets the running answer from the beginning, with its head', async () => {
    const { attach, ends } = setUp(TURN, RUNNING);
    const announced: object[] = [];
    const { running } = begun(await attach());
    const joining = attach({ announce: (headers) => announced.push(headers) });
    const first = running.begin(HEAD, says('a', 'b'));
    const second = await joining;
    if (second.kind !== 'answer') throw new Error('It is a turn');
    expect(second.answer.upstream).toBe('u');
    expect(second.answer.headers).toEqual(HEAD.headers);
    expect(await Promise.all([heard(first), heard(second.answer)])).toEqual(['ab', 'ab']);
    expect(ends).toEqual(['s']);
    expect(announced).toEqual([{ 'x-session-id': 's', 'x-toolgate-attach': 'new' }]);
  });

  it('fails with the error of the first', async () => {
    const { attach, ends } = setUp(TURN, RUNNING);
    const { running } = begun(await attach());
    const joining = attach();
    const failure = new GatewayError('rate_limited', 'slow down');
    const joined = expect(joining).rejects.toBe(failure);
    await new Promise(setImmediate);
    await running.fail(failure);
    await joined;
    expect(ends).toEqual(['s']);
  });

  it('keeps the turn running when the first client leaves', async () => {
    const { attach } = setUp(TURN, RUNNING);
    const gone = new AbortController();
    const { running } = begun(await attach({ signal: gone.signal }));
    const joining = attach();
    await new Promise(setImmediate);
    gone.abort();
    expect(running.signal.aborted).toBe(false);
    running.begin(HEAD, says('a'));
    const second = await joining;
    if (second.kind !== 'answer') throw new Error('It is a turn');
    expect(await heard(second.answer)).toBe('a');
  });

  it('waits for a turn that is being stopped, and then is attached anew', async () => {
    const { attach, asked } = setUp(TURN, RUNNING, TURN);
    const gone = new AbortController();
    const { running } = begun(await attach({ signal: gone.signal }));
    gone.abort();
    const again = attach();
    await new Promise(setImmediate);
    expect(asked()).toBe(2);
    await running.fail(new Error('stopped'));
    expect((await again).kind).toBe('turn');
  });

  it('gets a conflict that says what to do where nothing can be joined', async () => {
    const { attach } = setUp(RUNNING);
    await expect(attach()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Send it again'),
    });
  });
});

describe('another request to the session', () => {
  it('waits while the previous turn is being stopped', async () => {
    const { attach } = setUp(TURN, new GatewayError('conflict', 'busy'), TURN);
    const gone = new AbortController();
    const { running } = begun(await attach({ signal: gone.signal }));
    gone.abort();
    const next = attach();
    await new Promise(setImmediate);
    await running.fail(new Error('stopped'));
    expect((await next).kind).toBe('turn');
  });

  it('is refused while a turn runs', async () => {
    const conflict = new GatewayError('conflict', 'busy');
    const { attach } = setUp(TURN, conflict);
    begun(await attach());
    await expect(attach()).rejects.toBe(conflict);
  });
});

describe('an answer without a model', () => {
  it('has the open calls, or what was said before', async () => {
    const waiting = setUp({
      kind: 'waiting',
      session: 's',
      how: 'continue',
      open: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }],
      losses: [],
    });
    const given = setUp({
      kind: 'answered',
      session: 's',
      how: 'continue',
      key: 'k',
      answer: { blocks: [{ type: 'text', text: 'Hi' }], reason: 'stop_sequence', stopSequence: '#' },
      losses: [],
    });
    const events: ModelEvent[][] = [];
    for (const { attach } of [waiting, given]) {
      const attached = await attach();
      if (attached.kind !== 'answer' || attached.answer.body.kind !== 'events') throw new Error('no answer');
      expect(attached.answer.upstream).toBe('toolgate');
      expect(attached.answer.headers).toEqual({ 'x-session-id': 's', 'x-toolgate-attach': 'continue' });
      const all: ModelEvent[] = [];
      for await (const batch of attached.answer.body.batches) all.push(...batch);
      events.push(all.filter(({ type }) => type !== 'usage'));
    }
    expect(events).toEqual([
      [
        { type: 'tool', key: 'c', id: 'c', name: 'f' },
        { type: 'tool-input', key: 'c', json: '{"a":1}' },
        { type: 'tool-end', key: 'c' },
        { type: 'stop', reason: 'tool_use' },
      ],
      [
        { type: 'text', text: 'Hi' },
        { type: 'break' },
        { type: 'stop', reason: 'stop_sequence', stopSequence: '#' },
      ],
    ]);
  });
});

describe('closing the turns', () => {
  it('stops every turn for every reader and waits for it', async () => {
    const { attach, turns, ends } = setUp(TURN);
    const { running } = begun(await attach());
    async function* endless(): AsyncGenerator<readonly ModelEvent[], void, void> {
      yield [{ type: 'text', text: 'a' }];
      await new Promise((resolve) => running.signal.addEventListener('abort', resolve));
    }
    const reading = heard(running.begin(HEAD, endless()));
    await new Promise(setImmediate);
    await turns.close();
    expect(ends).toEqual(['s']);
    await reading;
  });
});

describe('the delivery of an answer', () => {
  it('is recorded in the session, also for a joined reader and a replayed answer', async () => {
    const running = setUp(TURN, { kind: 'running', session: 's', how: 'new', key: 'k' });
    const { turn, running: first } = begun(await running.attach());
    const joining = running.attach();
    const own = first.begin(HEAD, nothing());
    own.delivery?.confirm();
    const joined = await joining;
    if (joined.kind !== 'answer') throw new Error('It is a turn');
    joined.answer.delivery?.confirm();
    const name = `${turn.id} ${turn.key}`;
    expect(running.delivered).toEqual([name, name]);

    const given = setUp({
      kind: 'answered',
      session: 's',
      how: 'new',
      key: 'k2',
      answer: { blocks: [], reason: 'end_turn' },
      losses: [],
    });
    const again = await given.attach();
    if (again.kind !== 'answer') throw new Error('It is a turn');
    again.answer.delivery?.confirm();
    expect(given.delivered).toEqual(['s k2']);
  });
});

async function* nothing(): AsyncGenerator<readonly ModelEvent[], void, void> {}
