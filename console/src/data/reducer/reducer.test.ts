import { describe, expect, it } from 'vitest';
import {
  approvalOf,
  type NewChunk,
  ScriptedGateway,
  TIME,
} from '../../../../test/support/scripted-gateway.js';
import { mergeCards } from './align.js';
import { applyEvent, noteApproval } from './apply-event.js';
import { newCard } from './cards.js';
import { type ConsoleState, INITIAL_STATE } from './console-state.js';
import type { Part, ToolCard } from './view.js';

const call = (id: string) =>
  ({ type: 'tool_use', tool_use_id: id, name: 'Bash', complete: true, input: { command: 'make' } }) as const;
const start = (id: string) =>
  ({
    type: 'tool_start',
    tool_use_id: id,
    name: 'Bash',
    kind: 'command',
    title: 'Run make',
    command: 'make',
    diff: null,
    because: null,
  }) as const;
const result = (id: string, outcome = 'done'): Extract<NewChunk, { type: 'tool_result' }> => ({
  type: 'tool_result',
  tool_use_id: id,
  name: 'Bash',
  outcome,
  is_error: outcome !== 'done',
  duration_ms: 7,
  content: [{ type: 'text', text: 'made' }],
  truncated: false,
  because: null,
});

const after = (gateway: ScriptedGateway, from: ConsoleState = INITIAL_STATE): ConsoleState =>
  gateway.events.reduce((state, event) => applyEvent(state, event), from);

const partsOf = (state: ConsoleState, session = 's1'): readonly Part[] =>
  state.turns.get(session)?.parts ?? [];

function cardOf(parts: readonly Part[], id: string): ToolCard {
  const part = parts.find((each) => each.kind === 'tool' && each.card.id === id);
  if (part?.kind !== 'tool') throw new Error(`There is no card ${id}`);
  return part.card;
}

function begun(): ScriptedGateway {
  const gateway = new ScriptedGateway();
  gateway.begin('t1');
  return gateway;
}

describe('the state of the page', () => {
  it('has the colours of a result where it was watched, and keeps them beside what is written', () => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.chunk({ ...result('c1'), shown: '\u001b[32mmade\u001b[0m' });
    const watched = cardOf(partsOf(after(gateway)), 'c1');
    expect(watched).toMatchObject({ shown: '\u001b[32mmade\u001b[0m', state: 'success' });
    const written: ToolCard = { ...newCard('c1', 'Bash'), state: 'success', result: watched.result };
    expect(mergeCards(written, watched).shown).toBe('\u001b[32mmade\u001b[0m');
    expect(written.shown).toBeUndefined();
  });

  it('shows what was said, what is thought and said, and each call in its place', () => {
    const gateway = begun();
    gateway.chunk({ type: 'thinking', text: 'Hm' });
    gateway.chunk({ type: 'text', text: 'Let ' });
    gateway.chunk({ type: 'text', text: 'me' });
    gateway.chunk(call('c1'));
    gateway.chunk({ type: 'text', text: 'Done' });
    const parts = partsOf(after(gateway));
    expect(parts.map(({ kind }) => kind)).toEqual(['user', 'thinking', 'text', 'tool', 'text']);
    expect(parts[2]).toMatchObject({ text: 'Let me', streaming: false });
    expect(parts[4]).toMatchObject({ text: 'Done', streaming: true });
    expect(new Set(parts.map(({ key }) => key)).size).toBe(5);
  });

  it('shows arguments as they come, under the id that holds in the end', () => {
    const gateway = begun();
    gateway.chunk({ type: 'tool_use', tool_use_id: 'early', name: 'Bash', complete: false });
    gateway.chunk({ type: 'tool_input_delta', tool_use_id: 'early', delta: '{"comm' });
    expect(cardOf(partsOf(after(gateway)), 'early')).toMatchObject({ inputText: '{"comm', state: 'pending' });
    gateway.chunk({ ...call('c1'), was: 'early' });
    const parts = partsOf(after(gateway));
    expect(parts).toHaveLength(2);
    expect(cardOf(parts, 'c1')).toMatchObject({ inputText: '', input: { command: 'make' } });
  });

  it('takes a call away that will not be made', () => {
    const gateway = begun();
    gateway.chunk({ type: 'tool_use', tool_use_id: 'c1', name: 'Bash', complete: false });
    gateway.chunk({ type: 'dropped', tool_use_ids: ['c1'] });
    expect(partsOf(after(gateway)).map(({ kind }) => kind)).toEqual(['user']);
  });

  it.each([
    ['done', 'success'],
    ['failed', 'error'],
    ['invalid', 'error'],
    ['timed-out', 'error'],
    ['denied', 'denied'],
    ['unattended', 'denied'],
    ['expired', 'expired'],
    ['aborted', 'cancelled'],
    ['something new', 'error'],
  ])('shows a call whose outcome is %s as %s', (outcome, state) => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.chunk(result('c1', outcome));
    expect(cardOf(partsOf(after(gateway)), 'c1')).toMatchObject({ state, durationMs: 7 });
  });

  it('shows a call as waiting while its question waits, and goes on with it', () => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.ask(approvalOf('q1', { tool_use_id: 'c1' }));
    expect(cardOf(partsOf(after(gateway)), 'c1')).toMatchObject({
      state: 'waiting',
      approval: 'q1',
      title: 'Run make',
    });
    gateway.resolve('q1', 'allowed');
    expect(cardOf(partsOf(after(gateway)), 'c1').state).toBe('pending');
    gateway.chunk(start('c1'));
    expect(cardOf(partsOf(after(gateway)), 'c1')).toMatchObject({
      state: 'running',
      startedAt: Date.parse(TIME),
    });
  });

  it('puts a question on its card also where the call is told later', () => {
    const gateway = begun();
    gateway.ask(approvalOf('q1', { tool_use_id: 'c1' }));
    gateway.chunk(call('c1'));
    expect(cardOf(partsOf(after(gateway)), 'c1')).toMatchObject({ state: 'waiting', approval: 'q1' });
  });

  it('keeps a refusal that is told as an error like any other', () => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.ask(approvalOf('q1', { tool_use_id: 'c1' }));
    gateway.resolve('q1', 'denied');
    gateway.chunk(result('c1', 'failed'));
    expect(cardOf(partsOf(after(gateway)), 'c1').state).toBe('denied');
  });

  it('does not put an old decision on a new call of the same id', () => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.ask(approvalOf('q1', { tool_use_id: 'c1', created_at: '2025-12-31T00:00:00.000Z' }));
    gateway.resolve('q1', 'denied');
    gateway.end();
    gateway.begin('t2');
    gateway.chunk(call('c1'));
    expect(cardOf(partsOf(after(gateway)), 'c1').state).toBe('pending');
  });

  it('nests what sub-agents do under the calls that started them, however deep', () => {
    const gateway = begun();
    const outer = { id: 'a1', label: 'look', parent: 'c1' };
    const inner = { id: 'a2', label: 'look closer', parent: 'c2' };
    gateway.chunk(call('c1'));
    gateway.chunk({ type: 'agent_start', description: 'look' }, { agent: outer });
    gateway.chunk(call('c2'), { agent: outer });
    gateway.chunk({ type: 'text', text: 'deep' }, { agent: inner });
    gateway.chunk(call('c3'), { agent: inner });
    gateway.ask(approvalOf('q1', { tool_use_id: 'c3', agent: 'a2' }));
    const top = partsOf(after(gateway));
    expect(top.map(({ kind }) => kind)).toEqual(['user', 'tool']);
    const below = cardOf(top, 'c1').agent?.parts ?? [];
    const deepest = cardOf(below, 'c2').agent?.parts ?? [];
    expect(deepest[0]).toMatchObject({ kind: 'text', text: 'deep' });
    expect(cardOf(deepest, 'c3')).toMatchObject({ state: 'waiting', approval: 'q1' });
  });

  it('shows a sub-agent whose call nobody told of', () => {
    const gateway = begun();
    gateway.chunk({ type: 'text', text: 'hi' }, { agent: { id: 'a1', label: 'x', parent: 'lost' } });
    expect(cardOf(partsOf(after(gateway)), 'lost').agent?.parts).toHaveLength(1);
  });

  it('never brings a decided question back, nor shortens the time of one that waits', () => {
    const asked = approvalOf('q1');
    const later = { ...asked, expires_at: '2026-01-01T09:00:00.000Z' };
    const waiting = noteApproval(noteApproval(INITIAL_STATE, later), asked);
    expect(waiting.approvals.get('q1')?.expires_at).toBe(later.expires_at);
    const decided = noteApproval(waiting, { ...asked, state: 'denied' });
    expect(noteApproval(decided, later)).toBe(decided);
    const snapshot = applyEvent(decided, {
      type: 'snapshot',
      id: 'e.1',
      prev: null,
      now: TIME,
      approvals: [later],
      turns: [],
    });
    expect(snapshot.approvals.get('q1')?.state).toBe('denied');
  });

  it('drops with a snapshot what waits no more, and what runs no more', () => {
    const gateway = begun();
    gateway.ask(approvalOf('q1'));
    const state = after(gateway);
    const reborn = applyEvent(state, {
      type: 'snapshot',
      id: 'e2.0',
      prev: null,
      now: TIME,
      approvals: [],
      turns: [],
    });
    expect([reborn.approvals.size, reborn.turns.size]).toEqual([0, 0]);
    expect(reborn.changes.sessions).toBe(state.changes.sessions + 1);
  });

  it('takes the clock of the gateway from what is said now, not from what is said again', () => {
    const gateway = new ScriptedGateway();
    const at = Date.parse(TIME) - 60_000;
    let state = applyEvent(INITIAL_STATE, gateway.snapshot(), at);
    expect(state.skewMs).toBe(60_000);
    state = applyEvent(state, gateway.ask(approvalOf('q1')), at + 9_000);
    expect(state.skewMs).toBe(60_000);
    state = applyEvent(state, gateway.say({ type: 'ping', now: TIME }), at + 9_000);
    expect(state.skewMs).toBe(51_000);
  });

  it('ignores what a newer gateway says', () => {
    const gateway = begun();
    const known = after(gateway);
    const event: unknown = { type: 'weather', id: 'e1.9', prev: gateway.id };
    const told = gateway.events.concat(JSON.parse(JSON.stringify(event)));
    const state = told.reduce((next, each) => applyEvent(next, each), INITIAL_STATE);
    expect({ ...state, lastId: known.lastId }).toEqual(known);
  });

  it('says how a turn ended, and leaves no card as if it ran', () => {
    const gateway = begun();
    gateway.chunk(call('c1'));
    gateway.chunk(start('c1'));
    gateway.chunk(call('c2'));
    gateway.end('s1', 'stopped');
    const parts = partsOf(after(gateway));
    expect(cardOf(parts, 'c1').state).toBe('unknown');
    expect(cardOf(parts, 'c2').state).toBe('cancelled');
    expect(parts.at(-1)).toMatchObject({ kind: 'note', note: { type: 'stopped' } });
  });

  it('copies nothing but what an event touches', () => {
    const gateway = begun();
    gateway.begin('t2', 's2');
    for (let index = 0; index < 5_000; index++) gateway.chunk(call(`c${index}`));
    gateway.chunk({ type: 'text', text: 'a' });
    const state = after(gateway);
    const next = applyEvent(state, gateway.chunk({ type: 'text', text: 'b' }));
    expect(next.turns.get('s2')).toBe(state.turns.get('s2'));
    expect(next.approvals).toBe(state.approvals);
    const [before, now] = [partsOf(state), partsOf(next)];
    expect(now.slice(0, -1).every((part, at) => part === before[at])).toBe(true);
    expect(now.at(-1)).toMatchObject({ text: 'ab', key: before.at(-1)?.key });
  });
});
