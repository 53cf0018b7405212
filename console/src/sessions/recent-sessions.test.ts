import { expect, it } from 'vitest';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { RECENT_MOST, recentOf } from './recent-sessions.js';

const session = (id: string, minute: number, more: Partial<SessionWire> = {}): SessionWire => ({
  id,
  key: 'alice',
  model: 'coder',
  engine: 'native',
  state: 'live',
  title: id,
  parent: null,
  pinned: false,
  archived: false,
  mode: null,
  root: null,
  created_at: '2026-03-01T00:00:00Z',
  updated_at: `2026-03-01T00:${String(minute).padStart(2, '0')}:00Z`,
  expires_at: '2026-03-02T00:00:00Z',
  running: false,
  interrupted: false,
  resumable: false,
  pending_approvals: 0,
  usage: null,
  ...more,
});

const shown = (
  sessions: readonly SessionWire[],
  changed: readonly (readonly [string, SessionWire | null])[],
  before: ReadonlyMap<string, SessionWire | null> = new Map(),
) => {
  const { pinned, others } = recentOf({ sessions, more: false, before }, new Map(changed), 'alice');
  return { pinned: pinned.map(({ title }) => title), others: others.map(({ title }) => title) };
};

it('events move, add, rename, pin and take away what was fetched', () => {
  const fetched = [session('p', 1, { pinned: true }), session('c', 4), session('b', 3), session('a', 2)];
  expect(shown(fetched, [])).toEqual({ pinned: ['p'], others: ['c', 'b', 'a'] });
  expect(
    shown(fetched, [
      ['a', session('a', 9)],
      ['b', session('b', 3, { pinned: true, title: 'named' })],
      ['c', null],
      ['new', session('new', 8)],
      ['p', session('p', 1)],
    ]),
  ).toEqual({ pinned: ['named'], others: ['a', 'new', 'p'] });
});

it('leaves out what is archived, has expired or is of another key', () => {
  const changed = [
    session('archived', 5, { archived: true }),
    session('expired', 5, { state: 'expired' }),
    session('foreign', 5, { key: 'bob' }),
  ];
  expect(
    shown(
      [session('a', 1)],
      changed.map((each) => [each.id, each]),
    ),
  ).toEqual({ pinned: [], others: ['a'] });
});

it('takes what was fetched for newer than what the events had said before', () => {
  const stale = session('a', 1, { title: 'stale' });
  const gone = session('gone', 7);
  const before = new Map<string, SessionWire | null>([
    ['a', stale],
    ['gone', gone],
    ['back', null],
  ]);
  const fetched = [session('back', 3), session('a', 1, { title: 'renamed' })];
  expect(shown(fetched, [...before], before).others).toEqual(['back', 'renamed']);
});

it('has no more than fit', () => {
  const many = Array.from({ length: RECENT_MOST + 5 }, (_, n) => session(`s${n}`, n));
  expect(shown(many, []).others).toHaveLength(RECENT_MOST);
});
