import { describe, expect, it } from 'vitest';
import type { BlockWire } from '../../../src/activity/wire.js';
import type { ConsoleEvent } from '../../../src/server/console-api/wire/events.js';
import type {
  MessageWire,
  RecordedTurnWire,
  SessionContentWire,
  SessionWire,
} from '../../../src/server/console-api/wire/sessions.js';
import { ManualClock, settled } from '../../../test/support/manual-world.js';
import { type NewChunk, ScriptedGateway } from '../../../test/support/scripted-gateway.js';
import { ApiError, type Fetch, requestOf } from './api.js';
import { ConversationSource } from './conversation-source.js';
import { applyEvent } from './reducer/apply-event.js';
import { StateStore } from './reducer/console-state.js';
import type { Part } from './reducer/view.js';

const TIME = '2026-01-01T00:00:00.000Z';
const text = (said: string): BlockWire => ({ type: 'text', text: said });
const use = (id: string): BlockWire => ({ type: 'tool_use', id, name: 'Read', input: { file_path: id } });
const gave = (id: string, ...content: BlockWire[]): BlockWire => ({
  type: 'tool_result',
  tool_use_id: id,
  is_error: false,
  content,
});
const picture = (href?: string): BlockWire => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', size: 8, ...(href === undefined ? {} : { href }) },
});

type Said = [turn: number, role: 'user' | 'assistant', ...content: BlockWire[]];

/** So many turns of a question and its answer. */
const talk = (turns: number): Said[] =>
  Array.from({ length: turns }, (_, turn): Said[] => [
    [turn, 'user', text(`ask ${turn}`)],
    [turn, 'assistant', text(`answer ${turn}`)],
  ]).flat();

const SESSION: SessionWire = {
  id: 's1',
  key: 'alice',
  model: 'coder',
  engine: 'native',
  state: 'live',
  title: null,
  parent: null,
  pinned: false,
  archived: false,
  mode: null,
  root: '/w',
  created_at: TIME,
  updated_at: TIME,
  expires_at: TIME,
  running: false,
  interrupted: false,
  resumable: false,
  pending_approvals: 0,
  usage: null,
};

/** A gateway with one conversation, and a page that looks at it. */
function look(...said: Said[]) {
  const server = {
    said,
    session: SESSION as SessionWire | undefined,
    /** Indexes of instructions, which are left out. */
    instructions: new Set<number>(),
    turns: [] as RecordedTurnWire[],
    asked: [] as string[],
    hold: undefined as Promise<void> | undefined,
  };
  const messages = (): MessageWire[] =>
    server.said
      .map(([turn, role, ...content], index) => ({ index, turn, role, content }))
      .filter(({ index }) => !server.instructions.has(index));
  const answer = (path: string): unknown => {
    const { searchParams, pathname } = new URL(path, 'http://gateway');
    if (pathname === '/api/approvals') return { data: [] };
    if (server.session === undefined) return undefined;
    const before = Math.min(Number(searchParams.get('before') ?? server.said.length), server.said.length);
    const from = Math.max(0, before - Number(searchParams.get('limit')));
    const content: SessionContentWire = {
      ...server.session,
      messages: messages().filter(({ index }) => index >= from && index < before),
      total: server.said.length,
      open_calls: [],
      turns: server.turns,
    };
    return content;
  };
  const fetch: Fetch = async (path) => {
    if (!path.startsWith('/api/approvals')) server.asked.push(path.replace(/^.*\?/, ''));
    const found = answer(path);
    await server.hold;
    return new Response(JSON.stringify(found ?? {}), { status: found === undefined ? 404 : 200 });
  };
  const store = new StateStore();
  const source = new ConversationSource('s1', { ...new ManualClock(), request: requestOf(fetch), store });
  const events = new ScriptedGateway();
  let told = 0;
  const hear = async (): Promise<void> => {
    for (const event of events.events.slice(told)) store.update((state) => applyEvent(state, event));
    told = events.events.length;
    await settled();
  };
  const chunk = (each: NewChunk): ConsoleEvent => events.chunk(each);
  const end = source.subscribe(() => {});
  return { server, source, store, events, hear, chunk, end, outline: () => source.get().parts.map(line) };
}

function line(part: Part): string {
  switch (part.kind) {
    case 'user':
      return part.content.map((block) => (block.type === 'text' ? block.text : block.type)).join();
    case 'text':
    case 'thinking':
      return part.text;
    case 'tool':
      return `${part.card.id} ${part.card.state}`;
    case 'media':
      return part.content.map(({ type }) => type).join();
    case 'note':
      return part.note.type;
  }
}

const STEP: NewChunk = { type: 'model_start', step: 1, model: 'm' };
const says = (said: string): NewChunk => ({ type: 'text', text: said });
const calls = (id: string): NewChunk => ({
  type: 'tool_use',
  tool_use_id: id,
  name: 'Read',
  complete: true,
  input: { file_path: id },
});
const returns = (id: string, ...content: BlockWire[]): NewChunk => ({
  type: 'tool_result',
  tool_use_id: id,
  name: 'Read',
  outcome: 'done',
  is_error: false,
  duration_ms: 5,
  content,
  truncated: false,
  because: null,
});

describe('the pages of a conversation', () => {
  it('come from the newest to the oldest, and leave what is there as it is', async () => {
    const { source, server } = look(...talk(250));
    await settled();
    const newest = source.get().parts;
    expect(newest.map(line).at(0)).toBe('ask 150');
    await source.get().loadEarlier?.();
    const both = source.get().parts;
    expect(both.map(line).at(0)).toBe('ask 50');
    expect(both.slice(-newest.length).every((part, at) => part === newest[at])).toBe(true);
    await source.get().loadEarlier?.();
    expect(source.get().parts).toHaveLength(500);
    expect(source.get().loadEarlier).toBeUndefined();
    expect(server.asked).toEqual(['limit=200', 'before=300&limit=200', 'before=100&limit=200']);
  });

  it('join in the middle of a turn: a result behind the seam belongs to the call in front of it', async () => {
    const long: Said[] = Array.from(
      { length: 201 },
      (_, at): Said =>
        at % 2 === 0 ? [0, 'assistant', use(`c${at}`)] : [0, 'user', gave(`c${at - 1}`, text('ok'))],
    );
    const { source, outline } = look([0, 'user', text('go')], ...long, [0, 'user', gave('c200')]);
    await settled();
    expect(outline().at(-1)).toBe('c200 success');
    const last = source.get().parts.at(-1);
    await source.get().loadEarlier?.();
    expect(outline().slice(0, 3)).toEqual(['go', 'c0 success', 'c2 success']);
    expect(source.get().parts).toHaveLength(102);
    expect(source.get().parts.at(-1)).toBe(last);
  });

  it('go on over places whose messages are not told', async () => {
    const { source, server } = look(...talk(250));
    for (const place of [0, 298, 299]) server.instructions.add(place);
    await settled();
    while (source.get().loadEarlier !== undefined) await source.get().loadEarlier?.();
    expect(source.get().parts).toHaveLength(497);
  });

  it('asked for twice at once are there once', async () => {
    const { source } = look(...talk(150));
    await settled();
    const { loadEarlier } = source.get();
    await Promise.all([loadEarlier?.(), loadEarlier?.()]);
    expect(source.get().parts).toHaveLength(300);
  });

  it('stay when the newest is fetched again', async () => {
    const { source, server, events, hear } = look(...talk(150));
    await settled();
    await source.get().loadEarlier?.();
    const before = source.get().parts;
    server.said = talk(151);
    events.say({ type: 'session', what: 'changed', session: SESSION });
    await hear();
    const after = source.get().parts;
    expect(after.map(line).slice(-2)).toEqual(['ask 150', 'answer 150']);
    expect(before.every((part, at) => part === after[at])).toBe(true);
  });
});

describe('a turn that runs', () => {
  it('stands behind the transcript, and is not doubled by what is written of it', async () => {
    const { server, source, events, hear, chunk, outline } = look(...talk(1));
    await settled();
    const before = source.get().parts;
    server.said = [...talk(1), [1, 'user', text('go')], [1, 'assistant', text('first'), use('c1')]];
    events.begin('t1');
    chunk(says('first'));
    chunk(calls('c1'));
    await hear();
    expect(outline()).toEqual(['ask 0', 'answer 0', 'go', 'first', 'c1 pending']);
    expect(source.get()).toMatchObject({ status: 'ready', running: true });
    expect(source.get().parts.slice(0, 2)).toEqual(before);
    expect(source.get().parts[0]).toBe(before[0]);
  });

  it('is once what the transcript has when it has ended, with what only the events knew', async () => {
    const { server, source, events, hear, chunk, outline } = look();
    events.begin('t1');
    chunk(calls('c1'));
    chunk(returns('c1', text('short')));
    chunk(says('done'));
    await hear();
    const keys = source.get().parts.map(({ key }) => key);
    server.said = [
      [0, 'user', text('go')],
      [0, 'assistant', use('c1')],
      [0, 'user', gave('c1', text('in full'))],
      [0, 'assistant', text('done')],
    ];
    events.end();
    await hear();
    expect(outline()).toEqual(['go', 'c1 success', 'done']);
    expect(source.get().running).toBe(false);
    expect(source.get().parts[1]).toMatchObject({ card: { durationMs: 5, result: [text('in full')] } });
    // The same rows on the page.
    expect(source.get().parts.map(({ key }) => key)).toEqual(keys);
    events.begin('t2', 's1', [text('go')]);
    chunk(says('again'));
    await hear();
    expect(outline()).toEqual(['go', 'c1 success', 'done', 'go', 'again']);
  });

  it('shows a failure that the transcript knows nothing of', async () => {
    const { server, events, hear, chunk, outline } = look();
    server.said = [[0, 'user', text('go')]];
    events.begin('t1');
    chunk(says('half of'));
    events.end('s1', 'failed');
    await hear();
    expect(outline()).toEqual(['go', 'half of', 'failed']);
  });

  it('goes on after a restart of the gateway, behind what was done before it', async () => {
    const { server, store, source, events, hear, chunk, outline } = look();
    server.said = [[0, 'user', text('go')]];
    events.begin('t1');
    chunk(says('first'));
    chunk(calls('c1'));
    await hear();
    server.said.push([0, 'assistant', text('first'), use('c1')], [0, 'user', gave('c1', text('ok'))]);
    const began = { session: 's1', turn: 't2', began_at: TIME, model: 'coder', message: [text('go')] };
    const tell = async (event: ConsoleEvent): Promise<void> => {
      store.update((state) => applyEvent(state, event));
      await settled();
    };
    const turns = [{ ...began, chunks: [] }];
    await tell({ type: 'snapshot', id: 'e2.0', prev: null, now: TIME, approvals: [], turns });
    const where = { session: 's1', turn: 't2', agent: null, at: TIME };
    await tell({ type: 'text', text: 'done', id: 'e2.1', prev: 'e2.0', ...where });
    expect(outline()).toEqual(['go', 'first', 'c1 success', 'done']);
    expect(source.get().running).toBe(true);
  });

  it('that is no longer told of ends with what the transcript has', async () => {
    const { server, store, source, events, hear, chunk, outline } = look();
    events.begin('t1');
    chunk(says('do'));
    await hear();
    server.said = [
      [0, 'user', text('go')],
      [0, 'assistant', text('done')],
    ];
    const snapshot = {
      type: 'snapshot' as const,
      id: 'e2.0',
      prev: null,
      now: TIME,
      approvals: [],
      turns: [],
    };
    store.update((state) => applyEvent(state, snapshot));
    await settled();
    expect(outline()).toEqual(['go', 'done']);
    expect(source.get().running).toBe(false);
  });

  it('shows a picture as soon as the transcript has it: with the next step', async () => {
    const { server, source, events, hear, chunk } = look();
    server.said = [[0, 'user', text('go')]];
    events.begin('t1');
    chunk(STEP);
    chunk(calls('c1'));
    chunk(returns('c1', picture()));
    await hear();
    const asked = server.asked.length;
    server.said.push(
      [0, 'assistant', use('c1')],
      [0, 'user', gave('c1', picture('/api/sessions/s1/media/x'))],
    );
    chunk(STEP);
    await hear();
    expect(source.get().parts[1]).toMatchObject({
      card: { result: [{ source: { href: '/api/sessions/s1/media/x' } }] },
    });
    chunk(STEP);
    await hear();
    expect(server.asked.length).toBe(asked + 1);
  });
});

describe('a conversation', () => {
  it('that was summed up is shown as it is now, from its first place on', async () => {
    const { server, source, events, hear, outline } = look(...talk(250));
    await settled();
    await source.get().loadEarlier?.();
    server.said = [
      [0, 'user', text('Summary')],
      ...talk(2).map(([turn, ...rest]): Said => [turn + 1, ...rest]),
    ];
    events.say({ type: 'session', what: 'changed', session: SESSION });
    await hear();
    expect(outline()).toEqual(['Summary', 'ask 0', 'answer 0', 'ask 1', 'answer 1']);
    expect(source.get().loadEarlier).toBeUndefined();
  });

  it('that was summed up and has grown beyond what it was keeps nothing of before', async () => {
    const { server, source, events, hear, outline } = look(...talk(150));
    await settled();
    await source.get().loadEarlier?.();
    server.said = talk(160).map(([turn, role]): Said => [turn, role, text(`other ${turn}`)]);
    events.say({ type: 'session', what: 'changed', session: SESSION });
    await hear();
    await source.get().loadEarlier?.();
    expect(outline()).toHaveLength(320);
    expect(outline().filter((each) => !each.startsWith('other'))).toEqual([]);
  });

  it('shows pictures and documents of an answer in their place', async () => {
    const paper: BlockWire = { type: 'document', title: 'Plan', source: { type: 'file', file_id: 'f' } };
    const { outline } = look(
      [0, 'user', text('draw')],
      [0, 'assistant', text('here'), picture('/api/x'), paper, text('and there')],
    );
    await settled();
    expect(outline()).toEqual(['draw', 'here', 'image,document', 'and there']);
  });

  it('that is deleted is gone, also when an answer about it was on its way', async () => {
    const { server, source, events, hear } = look(...talk(1));
    await settled();
    let release = (): void => {};
    server.hold = new Promise((resolve) => {
      release = resolve;
    });
    events.say({ type: 'session', what: 'changed', session: SESSION });
    await hear();
    server.session = undefined;
    events.say({ type: 'session', what: 'deleted', session: { id: 's1' } });
    await hear();
    expect(source.get().status).toBe('missing');
    release();
    await settled();
    expect(source.get().status).toBe('missing');
  });

  it('that does not exist is missing, and one that cannot be fetched says why', async () => {
    const { server, source, end } = look();
    server.session = undefined;
    await settled();
    // The first answer was made while it existed.
    end();
    source.subscribe(() => {});
    await settled();
    expect(source.get().status).toBe('missing');
    const store = new StateStore();
    const broken = new ConversationSource('s1', {
      ...new ManualClock(),
      store,
      request: () => Promise.reject(new ApiError(500, { error: { message: 'The disk is full.' } })),
    });
    broken.subscribe(() => {});
    await settled();
    expect(broken.get()).toMatchObject({ status: 'failed', problem: 'The disk is full.' });
  });

  const RECORD: RecordedTurnWire = {
    turn: 0,
    id: 'req_1',
    began_at: TIME,
    model: 'coder',
    chunks: [
      {
        ...{ type: 'tool_start', tool_use_id: 'c1', name: 'Read', kind: 'read', title: 'Read c1' },
        ...{ command: null, diff: null, because: 'rule Read', agent: null, at: TIME },
      },
      {
        ...{ type: 'tool_result', tool_use_id: 'c1', name: 'Read', outcome: 'done', is_error: false },
        ...{ duration_ms: 7, content: [], truncated: false, because: 'rule Read', agent: null, at: TIME },
      },
    ],
    ended: { end: 'complete', stop_reason: 'end_turn', error: null },
  };
  const READ: Said[] = [
    [0, 'user', text('read it')],
    [0, 'assistant', use('c1')],
    [0, 'user', gave('c1', text('content'))],
    [0, 'assistant', text('read')],
  ];

  const lookAt = async (turn: RecordedTurnWire, ...said: Said[]) => {
    const looking = look(...said);
    looking.server.turns = [turn];
    looking.events.say({ type: 'session', what: 'changed', session: SESSION });
    await looking.hear();
    return looking;
  };

  it('that nobody watched shows why a call ran and how long, and the result of the transcript', async () => {
    const { source, outline } = await lookAt(RECORD, ...READ);
    expect(outline()).toEqual(['read it', expect.stringContaining('c1'), 'read']);
    const card = source.get().parts.find((part) => part.kind === 'tool')?.card;
    expect(card).toMatchObject({ state: 'success', title: 'Read c1', because: 'rule Read', durationMs: 7 });
    expect(card?.result).toEqual([text('content')]);
  });

  it('whose gateway died says of a call without a result that its outcome is unknown', async () => {
    const record = { ...RECORD, chunks: RECORD.chunks.slice(0, 1), ended: null };
    const { source } = await lookAt(record, ...READ.slice(0, 2));
    const card = source.get().parts.find((part) => part.kind === 'tool')?.card;
    expect(card).toMatchObject({ state: 'unknown', title: 'Read c1', because: 'rule Read' });
  });

  it('that a person stopped says so, with what had been said and printed', async () => {
    const chunks: RecordedTurnWire['chunks'] = [
      { type: 'text', text: 'Let me', agent: null, at: TIME },
      {
        ...{ type: 'tool_use', tool_use_id: 'c1', name: 'Bash', complete: true },
        ...{ input: { command: 'make' }, agent: null, at: TIME },
      },
    ];
    const ended = { end: 'stopped', stop_reason: null, error: null } as const;
    const { outline, source } = await lookAt({ ...RECORD, chunks, ended }, ...READ.slice(0, 1));
    expect(outline().slice(0, 2)).toEqual(['read it', 'Let me']);
    expect(source.get().parts.at(-1)).toMatchObject({ kind: 'note', note: { type: 'stopped' } });
    const card = source.get().parts.find((part) => part.kind === 'tool')?.card;
    expect(card).toMatchObject({ state: 'cancelled', input: { command: 'make' } });
  });
});
