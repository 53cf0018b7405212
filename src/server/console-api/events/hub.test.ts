import { describe, expect, it } from 'vitest';
import type { TurnSink } from '../../../activity/activity.js';
import type { Approval, ApprovalEvent } from '../../../permissions/approvals.js';
import type { ConsoleEvent } from '../wire/events.js';
import { EventHub, type EventReader } from './hub.js';
import type { EventLimits } from './limits.js';
import type { Viewer } from './viewer.js';

const LOG = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const STAYS = new AbortController().signal;

function approval(id: string, principal = 'alice', state: Approval['state'] = 'pending'): Approval {
  return {
    ...{ id, principal, state, session: 's', toolUseId: 't', tool: 'Bash', input: {} },
    ...{ describe: { title: id, kind: 'command' }, suggestions: [], digest: 'd', createdAt: 0 },
  };
}

/** What the store has, and a moment in which it is being asked. */
class FakeApprovals {
  readonly items: Approval[] = [];
  onList: () => void = () => {};
  readonly #listeners = new Set<(event: ApprovalEvent) => void>();

  async list() {
    const items = [...this.items];
    this.onList();
    return { items };
  }

  subscribe(listener: (event: ApprovalEvent) => void) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(event: ApprovalEvent) {
    for (const listener of this.#listeners) listener(event);
  }
}

class FakeReader implements EventReader {
  readonly viewer: Viewer;
  readonly events: ConsoleEvent[] = [];
  readonly writes: Buffer[] = [];

  constructor(principal = 'alice', all = false) {
    this.viewer = { principal, all };
  }

  write(bytes: Buffer): void {
    this.writes.push(bytes);
    for (const frame of bytes.toString().split('\n\n')) {
      const [, data] = frame.split('\ndata: ');
      if (data !== undefined) this.events.push(JSON.parse(data));
    }
  }
}

function start(limits: Partial<EventLimits> = {}) {
  const approvals = new FakeApprovals();
  const time = { now: 0 };
  const hub = new EventHub({ approvals, log: LOG, limits, now: () => time.now });
  const open = async (reader = new FakeReader(), lastId?: string) => {
    await hub.open(reader, lastId, STAYS);
    return reader;
  };
  return { hub, approvals, time, open };
}

const flushed = () => new Promise<void>((resolve) => setImmediate(resolve));
const begin = (hub: EventHub, principal = 'alice', id = 't1'): TurnSink =>
  hub.begin({ id, session: 's1', principal, model: 'm', message: [] });

describe('EventHub', () => {
  it('sends each event to the readers that may see it, with the id of the one before it', async () => {
    const { hub, open } = start();
    const [alice, bob, root] = [
      await open(),
      await open(new FakeReader('bob')),
      await open(new FakeReader('root', true)),
    ];
    begin(hub, 'alice').end({ end: 'complete' });
    begin(hub, 'bob', 't2').end({ end: 'complete' });
    hub.publish(null, { type: 'mcp', server: 'docs', state: 'connected' });
    await flushed();
    const heard = (reader: FakeReader) =>
      reader.events.slice(1).map((event) => (event.type === 'turn' ? event.turn : event.type));
    expect(heard(alice)).toEqual(['t1', 't1', 'mcp']);
    expect(heard(bob)).toEqual(['t2', 't2', 'mcp']);
    expect(heard(root)).toEqual(['t1', 't1', 't2', 't2', 'mcp']);
    for (const { events } of [alice, bob, root]) {
      expect(events.map(({ prev }) => prev)).toEqual([null, ...events.slice(0, -1).map(({ id }) => id)]);
    }
  });

  it.each([false, true])(
    'shows one who comes late all that was said, watched before: %s',
    async (watched) => {
      const { hub, open } = start({ turnChars: 2_000 });
      if (watched) await open();
      const turn = begin(hub);
      const sub = { id: 'a1', label: 'sub', parent: 't1' };
      const say = (type: 'text' | 'thinking', text: string, agent?: typeof sub) =>
        turn.observe({ type, text, session: 's1', ...(agent && { agent }) });
      say('thinking', 'h');
      say('thinking', 'm');
      for (const piece of ['o', 'n', 'e']) say('text', piece);
      say('text', 'su', sub);
      say('text', ' two');
      say('text', 'b', sub);
      turn.observe({ type: 'call-began', id: 'c1', name: 'Read', session: 's1' });
      say('text', 'three');
      const [snapshot] = (await open(new FakeReader())).events;
      const said = (event: ConsoleEvent | undefined) =>
        event?.type === 'snapshot' ? event.turns.flatMap(({ chunks }) => chunks) : [];
      expect(said(snapshot).map((chunk) => ('text' in chunk ? chunk.text : chunk.type))).toEqual([
        'hm',
        'one two',
        'sub',
        'tool_use',
        'three',
      ]);
      for (let pieces = 0; pieces < 300; pieces += 1) say('text', 'x'.repeat(10));
      const [later] = (await open(new FakeReader())).events;
      expect(JSON.stringify(said(later)).length).toBeLessThan(3_000);
    },
  );

  it.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
    'loses no question that comes up while a reader connects, %i steps in',
    async (ticks) => {
      const { hub, approvals, open } = start();
      approvals.subscribe(({ type, approval: { id, principal } }) => {
        hub.publish(principal, { type: 'mcp', server: id, state: type });
      });
      approvals.onList = () => {
        let later = Promise.resolve();
        for (let step = 0; step < ticks; step += 1) later = later.then(() => {});
        void later.then(() => approvals.tell({ type: 'requested', approval: approval('new') }));
      };
      const reader = await open();
      await flushed();
      await flushed();
      const told = reader.events.map((event) =>
        event.type === 'snapshot' ? event.approvals.length : event.type,
      );
      expect([[1], [0, 'mcp'], [1, 'mcp']]).toContainEqual(told);
    },
  );

  it('makes the bytes once for all readers that see the same', async () => {
    const { hub, open } = start();
    const readers = [await open(), await open(), await open()];
    begin(hub);
    await flushed();
    const last = readers.map(({ writes }) => writes.at(-1));
    expect(last[1]).toBe(last[0]);
    expect(last[2]).toBe(last[0]);
  });

  it('makes a snapshot once for all who see the same, until something happens', async () => {
    const { hub, time, open } = start();
    const turn = begin(hub);
    const first = async (reader: FakeReader) => (await open(reader)).writes[0];
    const alice = await first(new FakeReader());
    expect(await first(new FakeReader())).toBe(alice);
    expect(String(await first(new FakeReader('bob')))).not.toContain('t1');
    const root = await first(new FakeReader('root', true));
    expect(await first(new FakeReader('admin', true))).toBe(root);
    // A key may have any name.
    expect(String(await first(new FakeReader('all')))).not.toContain('t1');
    turn.observe({ session: 's1', type: 'text', text: 'new' });
    const after = await open();
    expect(after.events).toMatchObject([{ turns: [{ chunks: [{ text: 'new' }] }] }]);
    time.now = 60_000;
    expect((await open()).events).toMatchObject([{ now: new Date(60_000).toISOString() }]);
  });

  it('makes what was missed once for all who missed the same', async () => {
    const { hub, open } = start();
    const last = (await open()).events[0]?.id;
    begin(hub);
    const [one, two] = [await open(new FakeReader(), last), await open(new FakeReader(), last)];
    expect(one.events).toMatchObject([{ type: 'turn', prev: last }]);
    expect(two.writes[0]).toBe(one.writes[0]);
    const bob = await open(new FakeReader('bob'), last);
    expect(bob.events).toEqual([]);
  });

  it('bounds a snapshot, but has every question whole, and goes on from it without a gap', async () => {
    const { hub, approvals, open } = start({ snapshotBytes: 40_000 });
    const asked = { ...approval('large'), input: { command: 'x'.repeat(35_000) } };
    approvals.items.push(asked);
    const turns = ['t1', 't2', 't3'].map((id) => begin(hub, 'alice', id));
    for (const turn of turns) turn.observe({ session: 's1', type: 'text', text: 'y'.repeat(30_000) });
    const reader = await open();
    turns[0]?.observe({ session: 's1', type: 'text', text: 'more' });
    await flushed();
    const [snapshot, next] = reader.events;
    expect(snapshot).toMatchObject({
      approvals: [{ id: 'large', input: asked.input }],
      turns: ['t1', 't2', 't3'].map((turn) => ({ turn, truncated: true, chunks: [{ type: 'text' }] })),
    });
    // A quarter is for the turns, however much is asked.
    expect(reader.writes[0]?.length).toBeLessThan(35_000 + 10_000 + 2_000);
    expect(next).toMatchObject({ text: 'more', prev: snapshot?.id });
  });

  it('puts pieces that come in one go together', async () => {
    const { hub, open } = start();
    const reader = await open();
    const turn = begin(hub);
    for (const text of ['a', 'b', 'c']) turn.observe({ session: 's1', type: 'text', text });
    turn.observe({ session: 's1', type: 'call-began', id: 'x', name: 'Read' });
    for (const json of ['{', '}']) turn.observe({ session: 's1', type: 'call-input', id: 'x', json });
    turn.observe({ session: 's1', type: 'text', text: 'd' });
    await flushed();
    expect(reader.events.slice(2)).toMatchObject([
      { type: 'text', text: 'abc' },
      { type: 'tool_use', complete: false },
      { type: 'tool_input_delta', delta: '{}' },
      { type: 'text', text: 'd' },
    ]);
  });

  it('keeps nothing to replay while nobody reads, but for a while after the last one left', async () => {
    const { hub, time, open } = start({ keepMs: 1000 });
    const reader = await open();
    const last = reader.events[0]?.id;
    hub.leave(reader);
    begin(hub);
    await flushed();
    const back = await open(new FakeReader(), last);
    expect(back.events).toMatchObject([{ type: 'turn', prev: last }]);
    hub.leave(back);
    time.now = 5000;
    expect(hub.watched).toBe(false);
    hub.publish('alice', { type: 'mcp', server: 'docs', state: 'connected' });
    const late = await open(new FakeReader(), back.events[0]?.id);
    expect(late.events).toMatchObject([{ type: 'snapshot', turns: [{ turn: 't1' }] }]);
  });

  it('includes decisions and questions in a snapshot that arrive while it is made', async () => {
    const { approvals, open } = start();
    approvals.items.push(approval('old'), approval('decided'));
    approvals.onList = () => {
      approvals.tell({ type: 'requested', approval: approval('new') });
      approvals.tell({ type: 'requested', approval: approval('of bob', 'bob') });
      approvals.tell({ type: 'resolved', approval: approval('decided', 'alice', 'denied') });
    };
    const reader = await open();
    const [snapshot] = reader.events;
    expect(snapshot?.type === 'snapshot' && snapshot.approvals.map(({ id }) => id)).toEqual(['old', 'new']);
  });

  it('has everything published before in a snapshot, and nothing of it twice', async () => {
    const { hub, approvals, open } = start();
    await open(new FakeReader('root', true));
    const turn = begin(hub);
    turn.observe({ session: 's1', type: 'text', text: 'before' });
    approvals.onList = () => turn.observe({ session: 's1', type: 'text', text: ', meanwhile' });
    const reader = await open();
    turn.observe({ session: 's1', type: 'text', text: ', after' });
    await flushed();
    expect(reader.events).toMatchObject([
      { type: 'snapshot', turns: [{ chunks: [{ text: 'before, meanwhile' }] }] },
      { type: 'text', text: ', after' },
    ]);
  });

  it('ignores events of a turn after its end', async () => {
    const { hub, open } = start();
    const reader = await open();
    const turn = begin(hub);
    expect(hub.turnOf('s1')).toBe('t1');
    turn.end({ end: 'stopped' });
    turn.observe({ session: 's1', type: 'text', text: 'late' });
    turn.end({ end: 'complete' });
    await flushed();
    expect(hub.turnOf('s1')).toBeUndefined();
    expect(reader.events.slice(1)).toMatchObject([{ state: 'began' }, { state: 'ended', end: 'stopped' }]);
  });

  it('shows a turn of another node to viewers of every class, whichever heard of it last', async () => {
    const { hub, open } = start();
    const mirrors = ['all', 'key alice'].map((view) => hub.mirror(view));
    const began = { type: 'turn', state: 'began', session: 's1', turn: 't1' } as const;
    const facts = { model: 'm', began_at: '2026-01-01T00:00:00Z', message: [] };
    for (const mirror of mirrors) mirror.take({ ...began, ...facts });
    for (const reader of [await open(new FakeReader('root', true)), await open()])
      expect(reader.events).toMatchObject([{ type: 'snapshot', turns: [{ turn: 't1' }] }]);
    // Another node runs the next turn of the session: of what the first one showed nothing is left.
    hub.mirror('all').take({ ...began, ...facts, turn: 't2' });
    expect((await open(new FakeReader('root', true))).events).toMatchObject([
      { type: 'snapshot', turns: [{ turn: 't2' }] },
    ]);
  });
});
