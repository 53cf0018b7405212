import { describe, expect, it } from 'vitest';
import { idempotencyMark } from '../../sessions/history/history-fingerprint.js';
import { ownerOfThisProcess, RELEASED } from '../../sessions/persistence/lease-keeper.js';
import type { SessionProgress } from '../../sessions/sessions.js';
import { sessionLease } from '../../store/leases.js';
import type { Session } from '../../store/sessions.js';
import { type SessionFacts, sessionsToWire } from './session-wire.js';

const session = (id: string): Session => ({
  ...{ id, principal: 'alice', model: 'coder', engine: 'native', state: 'live' },
  ...{ createdAt: 1, updatedAt: 2, expiresAt: 3, metadata: {} },
});

const turn = { running: false, stopped: false, idempotency: undefined };

const RUN = {
  ...{ id: '', principal: 'alice', owner: RELEASED, attempts: 1, startedAt: 1 },
  state: 'interrupted' as const,
};

function facts(standings: Record<string, SessionProgress>, held: Record<string, string> = {}) {
  const asked: string[] = [];
  const made: SessionFacts = {
    sessions: { get: async () => undefined, standing: ({ id }) => standings[id] },
    store: {
      usage: {
        summarise: async () => {
          asked.push('usage');
          return [];
        },
      },
      approvals: {
        waiting: async () => {
          asked.push('approvals');
          return new Map([['s1', 2]]);
        },
      },
      leases: {
        holders: async () => {
          asked.push('leases');
          return new Map(Object.entries(held).map(([id, owner]) => [sessionLease(id), owner]));
        },
      },
      runs: {
        ofSessions: async (sessions) => {
          asked.push('runs');
          const of = sessions.map((id) => ({ ...RUN, id: `run-of-${id}`, session: id }));
          return new Map(of.map((run) => [run.session, run]));
        },
      },
    },
  };
  return { asked, made };
}

describe('the list of sessions', () => {
  it('takes four reads of the store, however many sessions there are', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const standings = Object.fromEntries(ids.map((id) => [id, { root: '/w', turn }]));
    const { asked, made } = facts(standings);
    const shown = await sessionsToWire(made, ids.map(session));
    expect(shown).toHaveLength(50);
    expect(asked.sort()).toEqual(['approvals', 'leases', 'runs', 'usage']);
    expect(shown[1]).toMatchObject({ pending_approvals: 2, usage: null, root: '/w' });
  });

  it('marks a session as interrupted only where its turn is neither running nor stopped', async () => {
    const { made } = facts(
      {
        broken: { root: '', turn },
        running: { root: '', turn: { ...turn, running: true } },
        stopped: { root: '', turn: { ...turn, stopped: true } },
        elsewhere: { root: '', turn },
        dead: { root: '', turn },
        done: { root: '', turn: undefined },
      },
      { elsewhere: ownerOfThisProcess(), dead: RELEASED },
    );
    const names = ['broken', 'running', 'stopped', 'elsewhere', 'dead', 'done'];
    const shown = await sessionsToWire(made, names.map(session));
    expect(shown.map(({ interrupted, running }) => [interrupted, running])).toEqual([
      [true, false],
      [false, true],
      [false, false],
      [false, true],
      [true, false],
      [false, false],
    ]);
    expect(shown[0]?.root).toBeNull();
  });

  it('marks a session as resumable where the broken turn is that of the newest run', async () => {
    const ofRun = { ...turn, idempotency: idempotencyMark('run-of-own') };
    const { made } = facts({
      own: { root: '', turn: ofRun },
      client: { root: '', turn },
      stopped: { root: '', turn: { ...ofRun, stopped: true } },
      done: { root: '', turn: undefined },
    });
    const shown = await sessionsToWire(made, ['own', 'client', 'stopped', 'done'].map(session));
    expect(shown.map(({ interrupted, resumable }) => [interrupted, resumable])).toEqual([
      [true, true],
      [true, false],
      [false, false],
      [false, false],
    ]);
  });
});
