import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-world.js';
import { approvalOf, ScriptedGateway } from '../../../test/support/scripted-gateway.js';
import { applyEvent, noteApproval } from '../data/reducer/apply-event.js';
import { StateStore } from '../data/reducer/console-state.js';
import { chatRoute, INBOX, type Notice, Notifier } from './notifier.js';
import { strings } from './strings.js';

const MINUTE_MS = 60_000;

function notifierOf() {
  const clock = new ManualClock();
  const store = new StateStore();
  const open = new Map<string, Notice>();
  const shown: Notice[] = [];
  const ports = {
    settings: { approvals: true, turnEnds: true },
    seen: new Set<string>(),
    looking: false,
    may: true,
    own: new Set(['s1']),
  };
  const notifications = new Notifier({
    ...clock,
    store,
    settings: () => ports.settings,
    mayShow: () => ports.may,
    isSeen: (route) => (route === undefined ? ports.looking : ports.seen.has(route)),
    isOwn: (session) => ports.own.has(session),
    text: () => strings.en,
    show: (notice) => {
      shown.push(notice);
      open.set(notice.tag, notice);
      return () => open.delete(notice.tag);
    },
  });
  notifications.start();
  const inMinutes = (minutes: number): string => new Date(clock.now() + minutes * MINUTE_MS).toISOString();
  const ask = (id: string, minutes = 30, more = {}): void =>
    store.update((state) => noteApproval(state, approvalOf(id, { expires_at: inMinutes(minutes), ...more })));
  return { clock, store, open, shown, ports, notifications, ask, inMinutes };
}

describe('notifications', () => {
  it('call for a question once, by its tool and its title, and lead to its conversation', () => {
    const { ask, shown, store } = notifierOf();
    ask('q1', 30, { input: { command: 'make SECRET=1' } });
    store.update((state) => ({ ...state, skewMs: 1 }));
    expect(shown).toEqual([
      { tag: 'q1', title: 'Approval needed: Bash', body: 'Run make', to: chatRoute('s1'), again: false },
    ]);
    expect(JSON.stringify(shown)).not.toContain('SECRET');
  });

  it('lead to the inbox where several wait', () => {
    const { ask, shown } = notifierOf();
    ask('q1');
    ask('q2');
    expect(shown.map(({ to }) => to)).toEqual([chatRoute('s1'), INBOX]);
  });

  it('say nothing to somebody who looks at it already', () => {
    const { ask, shown, ports } = notifierOf();
    ports.seen.add(chatRoute('s1'));
    ask('q1');
    ports.seen = new Set([INBOX]);
    ask('q2');
    expect(shown).toEqual([]);
  });

  it('are not shown where they are switched off, not allowed, or for another tab to show', () => {
    const { ask, shown, ports } = notifierOf();
    ports.settings = { approvals: false, turnEnds: true };
    ask('q1');
    ports.settings = { approvals: true, turnEnds: true };
    ports.may = false;
    ask('q2');
    expect(shown).toEqual([]);
  });

  it('are taken back when the question is decided, wherever that was', () => {
    const { ask, open, store } = notifierOf();
    ask('q1');
    ask('q2');
    store.update((state) => noteApproval(state, approvalOf('q1', { state: 'denied' })));
    expect([...open.keys()]).toEqual(['q2']);
  });

  it('call once more five minutes before the end, and again after an extension', async () => {
    const { ask, clock, shown, store, inMinutes } = notifierOf();
    ask('q1', 30);
    await clock.pass(24 * MINUTE_MS);
    expect(shown).toHaveLength(1);
    await clock.pass(MINUTE_MS);
    expect(shown.at(-1)).toMatchObject({ tag: 'q1', body: 'Expires in 5 minutes: Run make', again: true });
    store.update((state) => noteApproval(state, approvalOf('q1', { expires_at: inMinutes(30) })));
    await clock.pass(25 * MINUTE_MS);
    expect(shown).toHaveLength(3);
    await clock.pass(60 * MINUTE_MS);
    expect(shown).toHaveLength(3);
  });

  it('do not call twice for what has little time from the beginning', async () => {
    const { ask, clock, shown } = notifierOf();
    ask('q1', 5);
    await clock.pass(10 * MINUTE_MS);
    expect(shown).toHaveLength(1);
  });

  it('go by the clock of the gateway', async () => {
    const { ask, clock, shown, store } = notifierOf();
    store.update((state) => ({ ...state, skewMs: 10 * MINUTE_MS }));
    ask('q1', 30);
    await clock.pass(15 * MINUTE_MS);
    expect(shown).toHaveLength(2);
  });

  it('tell of the end of a turn that was begun here, while nobody looks', () => {
    const { store, shown, ports } = notifierOf();
    const gateway = new ScriptedGateway();
    for (const session of ['s1', 's2']) gateway.begin(`t ${session}`, session);
    gateway.end('s1');
    gateway.end('s2');
    gateway.begin('t3', 's1');
    gateway.end('s1', 'failed');
    for (const event of gateway.events) store.update((state) => applyEvent(state, event));
    expect(shown.map(({ tag, title }) => [tag, title])).toEqual([
      ['turn s1', 'coder has finished'],
      ['turn s1', 'coder stopped with an error'],
    ]);
    ports.looking = true;
    gateway.begin('t4', 's1');
    gateway.end('s1');
    for (const event of gateway.events) store.update((state) => applyEvent(state, event));
    expect(shown).toHaveLength(2);
  });

  it('show no signs that turn a text around', () => {
    const { ask, shown } = notifierOf();
    ask('q1', 30, { tool: 'mcp__a__b', describe: { title: 'Run \u202Eevil\nline', kind: 'command' } });
    expect(shown[0]?.body).toBe('Run evil line');
  });
});
