import { describe, expect, it } from 'vitest';
import type { SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import { type LiveSessions, statusOf } from '../../sessions/live-sessions.js';
import { familyRows, stillIn, upToDate } from './session-rows.js';

const NOTHING_LIVE: LiveSessions = { running: new Set(), ended: new Set(), waiting: new Map() };

const session = (id: string, more: Partial<SessionWire> = {}): SessionWire => ({
  id,
  key: 'alice',
  model: 'coder',
  engine: 'native',
  state: 'live',
  title: null,
  parent: null,
  pinned: false,
  archived: false,
  mode: null,
  root: null,
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
  expires_at: '2026-03-02T00:00:00Z',
  running: false,
  interrupted: false,
  resumable: false,
  pending_approvals: 0,
  usage: null,
  ...more,
});

describe('the state of a session', () => {
  it.each([
    [{}, 'idle'],
    [{ state: 'parked' as const }, 'client'],
    [{ state: 'hibernated' as const }, 'client'],
    [{ interrupted: true }, 'interrupted'],
    [{ running: true, interrupted: true }, 'running'],
    [{ running: true, pending_approvals: 2 }, 'waiting'],
  ])('of %j is %s', (more, status) => {
    expect(statusOf(session('a', more), NOTHING_LIVE)).toBe(status);
  });

  it('follows later events', () => {
    const live = (more: Partial<LiveSessions>): LiveSessions => ({ ...NOTHING_LIVE, ...more });
    expect(statusOf(session('a'), live({ running: new Set(['a']) }))).toBe('running');
    expect(statusOf(session('a', { running: true }), live({ ended: new Set(['a']) }))).toBe('idle');
    expect(statusOf(session('a'), live({ waiting: new Map([['a', 1]]) }))).toBe('waiting');
  });
});

describe('a list filtered by state', () => {
  const list = [session('a'), session('b', { running: true }), session('c', { state: 'expired' })];
  const ids = (sessions: SessionWire[]) => sessions.map(({ id }) => id);

  it('drops sessions that have left the state since it was fetched', () => {
    const live = { ...NOTHING_LIVE, running: new Set(['a']) };
    expect(ids(stillIn(list, 'idle', NOTHING_LIVE))).toEqual(['a']);
    expect(ids(stillIn(list, 'idle', live))).toEqual([]);
    expect(ids(stillIn(list, 'running', live))).toEqual(['a', 'b']);
  });

  it('has every session that can be opened where no state is chosen', () => {
    expect(ids(stillIn(list, undefined, NOTHING_LIVE))).toEqual(['a', 'b']);
  });
});

describe('the result of a search', () => {
  const match = { text: 'the fence', from: 4, to: 9 };
  const found = [session('a', { match }), session('b'), session('c', { updated_at: '2026-03-01T12:00:00Z' })];

  it('shows sessions as they are now, in its own order, without deleted ones', () => {
    const changed = new Map([
      ['a', session('a', { title: 'painted', updated_at: '2026-03-01T08:00:00Z' })],
      ['b', null],
      ['c', session('c', { title: 'reported before it was fetched' })],
      ['d', session('d')],
    ]);
    expect(upToDate(found, changed)).toMatchObject([
      { id: 'a', title: 'painted', match },
      { id: 'c', title: null },
    ]);
  });
});

describe('forks', () => {
  const shown = (sessions: SessionWire[]) =>
    familyRows(sessions).map(({ session: { id }, depth }) => `${'-'.repeat(depth)}${id}`);

  it('stand under their parent, and the family at the place of its newest', () => {
    const list = [
      session('grandchild', { parent: 'child' }),
      session('other'),
      session('child', { parent: 'root' }),
      session('root'),
      session('orphan', { parent: 'elsewhere' }),
    ];
    expect(shown(list)).toEqual(['root', '-child', '--grandchild', 'other', 'orphan']);
  });

  it('are all there, also in a circle', () => {
    const list = [
      session('a', { parent: 'b' }),
      session('b', { parent: 'a' }),
      session('c', { parent: 'c' }),
    ];
    expect(
      shown(list)
        .map((line) => line.replaceAll('-', ''))
        .toSorted(),
    ).toEqual(['a', 'b', 'c']);
  });
});
