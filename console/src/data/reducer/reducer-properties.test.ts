/** However events are repeated, cut or begun in the middle, the page ends in the same state. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentRef } from '../../../../src/activity/wire.js';
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import { approvalOf, ScriptedGateway } from '../../../../test/support/scripted-gateway.js';
import { applyEvent } from './apply-event.js';
import { type ConsoleState, INITIAL_STATE } from './console-state.js';
import type { Part } from './view.js';

const USAGE = { input_tokens: 3, output_tokens: 2, cache_read_tokens: 1, cache_write_tokens: 0 };

interface Move {
  step: (typeof STEPS)[number];
  session: 's1' | 's2';
  deep: number;
  pick: number;
}

const STEPS = [
  ...(['begin', 'end', 'text', 'text', 'thinking', 'model', 'call', 'call', 'run'] as const),
  ...(['ask', 'ask', 'decide', 'decide', 'finish', 'finish', 'drop', 'other'] as const),
];

const moves = fc.array(
  fc.record<Move>({
    step: fc.constantFrom(...STEPS),
    session: fc.constantFrom('s1', 's2'),
    deep: fc.nat({ max: 2 }),
    pick: fc.nat({ max: 1000 }),
  }),
  { minLength: 40, maxLength: 120 },
);

interface OpenCall {
  id: string;
  session: string;
  agent: AgentRef | null;
  state: 'began' | 'whole' | 'asked' | 'running';
}

/** Events that could be; with the places between them where a snapshot may be taken. */
function play(list: readonly Move[]): {
  events: ConsoleEvent[];
  cuts: { at: number; snapshot: ConsoleEvent }[];
} {
  const gateway = new ScriptedGateway();
  const calls: OpenCall[] = [];
  const running = new Set<string>();
  const cuts: { at: number; snapshot: ConsoleEvent }[] = [];
  let names = 0;
  for (const { step, session, deep, pick } of list) {
    const own = calls.filter((call) => call.session === session);
    const agents = own.filter(({ state }) => state === 'running').slice(0, deep);
    const parent = agents.at(-1);
    const agent =
      parent === undefined ? null : { id: `agent of ${parent.id}`, label: 'a', parent: parent.id };
    const where = { session, agent };
    const call = own[pick % Math.max(1, own.length)];
    const at = call === undefined ? where : { session, agent: call.agent };
    if (step === 'begin') {
      if (running.has(session)) continue;
      running.add(session);
      names += 1;
      gateway.begin(`turn ${names}`, session);
    } else if (!running.has(session)) continue;
    else if (step === 'end') {
      // A turn ends after its calls.
      if (own.length > 0) continue;
      running.delete(session);
      gateway.end(session, pick % 2 === 0 ? 'complete' : 'stopped');
    } else if (step === 'text' || step === 'thinking') gateway.chunk({ type: step, text: `${pick} ` }, where);
    else if (step === 'model')
      gateway.chunk({ type: 'usage', step: 1, stop_reason: 'x', usage: USAGE }, where);
    else if (step === 'other') gateway.say({ type: 'mcp', server: 'docs', state: 'connected' });
    else if (step === 'call') {
      names += 1;
      const id = `call_${names}`;
      gateway.chunk({ type: 'tool_use', tool_use_id: id, name: 'Bash', complete: false }, where);
      gateway.chunk({ type: 'tool_input_delta', tool_use_id: id, delta: '{"command":' }, where);
      calls.push({ id, session, agent, state: 'began' });
    } else if (call === undefined) continue;
    else if (step === 'drop' && call.state === 'began') {
      gateway.chunk({ type: 'dropped', tool_use_ids: [call.id] }, at);
      calls.splice(calls.indexOf(call), 1);
    } else if (step === 'run' || step === 'ask') {
      if (call.state === 'began') {
        gateway.chunk(
          {
            type: 'tool_use',
            tool_use_id: call.id,
            name: 'Bash',
            complete: true,
            input: { command: 'make' },
          },
          at,
        );
        call.state = 'whole';
      } else if (call.state === 'whole' && step === 'ask') {
        const id = `question ${call.id}`;
        gateway.ask(approvalOf(id, { session, agent: call.agent?.id ?? null, tool_use_id: call.id }));
        gateway.chunk(
          { type: 'tool_waiting', tool_use_id: call.id, name: 'Bash', title: 'Run make', approval: id },
          at,
        );
        call.state = 'asked';
      } else if (call.state === 'whole') start(gateway, call, at);
    } else if (step === 'decide' && call.state === 'asked') {
      const state = (['allowed', 'denied', 'expired', 'covered'] as const)[pick % 4] ?? 'allowed';
      gateway.resolve(`question ${call.id}`, state);
      if (state === 'allowed' || state === 'covered') start(gateway, call, at);
      else finish(gateway, call, at, state, calls);
    } else if (step === 'finish' && call.state === 'running') {
      // What works for it ends first.
      if (calls.some((other) => other.agent?.parent === call.id)) continue;
      finish(gateway, call, at, pick % 3 === 0 ? 'failed' : 'done', calls);
    }
    cuts.push({ at: gateway.events.length, snapshot: gateway.snapshot() });
  }
  return { events: gateway.events, cuts };
}

type Where = { session: string; agent: AgentRef | null };

function start(gateway: ScriptedGateway, call: OpenCall, where: Where): void {
  call.state = 'running';
  gateway.chunk(
    {
      type: 'tool_start',
      tool_use_id: call.id,
      name: 'Bash',
      kind: 'command',
      title: 'Run make',
      command: 'make',
      diff: null,
      because: null,
    },
    where,
  );
}

function finish(
  gateway: ScriptedGateway,
  call: OpenCall,
  where: Where,
  outcome: string,
  calls: OpenCall[],
): void {
  calls.splice(calls.indexOf(call), 1);
  gateway.chunk(
    {
      type: 'tool_result',
      tool_use_id: call.id,
      name: 'Bash',
      outcome,
      is_error: outcome !== 'done',
      duration_ms: 5,
      content: [{ type: 'text', text: outcome }],
      truncated: false,
      because: null,
    },
    where,
  );
}

const reduceAll = (events: readonly ConsoleEvent[], state: ConsoleState = INITIAL_STATE): ConsoleState =>
  events.reduce((next, event) => applyEvent(next, event), state);

it('knows the same when events are told twice, at any time', () => {
  fc.assert(
    fc.property(moves, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 30 }), (list, repeats) => {
      const { events } = play(list);
      const told = [...events];
      for (const [which, where] of repeats) {
        const event = events[which % events.length];
        if (event === undefined) continue;
        // After it was first reported.
        const first = told.indexOf(event);
        told.splice(first + 1 + (where % (told.length - first)), 0, event);
      }
      expect(reduceAll(told)).toEqual(reduceAll(events));
    }),
  );
});

it('knows the same when the connection breaks anywhere and what followed is told again', () => {
  fc.assert(
    fc.property(moves, fc.nat(), fc.nat(), (list, cut, back) => {
      const { events } = play(list);
      const end = cut % events.length;
      const heard = reduceAll(events.slice(0, end));
      const again = events.slice(end - (back % (end + 1)));
      expect(reduceAll(again, heard)).toEqual(reduceAll(events));
    }),
  );
});

it('knows the same of what waits and runs from a snapshot as from the beginning', () => {
  fc.assert(
    fc.property(moves, fc.nat(), (list, which) => {
      const { events, cuts } = play(list);
      const cut = cuts[which % Math.max(1, cuts.length)];
      if (cut === undefined) return;
      const late = reduceAll([cut.snapshot, ...events.slice(cut.at)]);
      expect(current(late)).toEqual(current(reduceAll(events)));
    }),
  );
});

it('knows the same when a snapshot comes in the middle of what it has heard', () => {
  fc.assert(
    fc.property(moves, fc.nat(), fc.nat(), (list, which, heard) => {
      const { events, cuts } = play(list);
      const cut = cuts[which % Math.max(1, cuts.length)];
      if (cut === undefined) return;
      const before = events.slice(0, heard % (cut.at + 1));
      expect(current(reduceAll([...before, cut.snapshot, ...events.slice(cut.at)]))).toEqual(
        current(reduceAll(events)),
      );
    }),
  );
});

it('never shows a question as waiting again once it was decided, in whatever order events come', () => {
  fc.assert(
    fc.property(moves, fc.array(fc.nat(), { maxLength: 60 }), (list, order) => {
      const { events } = play(list);
      let state = INITIAL_STATE;
      const decided = new Set<string>();
      for (const which of order) {
        const event = events[which % events.length];
        if (event === undefined) continue;
        state = applyEvent(state, event);
        for (const { id, state: now } of state.approvals.values()) {
          if (now !== 'pending') decided.add(id);
          else expect(decided).not.toContain(id);
        }
      }
    }),
  );
});

/** Pending approvals and running turns, without what only a connected page has seen. */
function current(state: ConsoleState): object {
  return {
    approvals: [...state.approvals.values()]
      .filter((approval) => approval.state === 'pending')
      .toSorted(byId),
    turns: [...state.turns.values()]
      .filter(({ ended }) => ended === undefined)
      .toSorted((a, b) => (a.session < b.session ? -1 : 1))
      .map(({ parts, ...turn }) => ({ ...turn, parts: parts.map(plain) })),
    lastId: state.lastId,
  };
}

function plain(part: Part): unknown {
  if (part.kind !== 'tool') return part;
  const { card } = part;
  const { kind, command, ...rest } = card;
  const agent = card.agent && { ...card.agent, parts: card.agent.parts.map(plain) };
  // Of a call that never ran only its question had said what it is.
  return { key: part.key, card: card.startedAt === undefined ? { ...rest, agent } : { ...card, agent } };
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

it('plays every kind of step', () => {
  const seen = new Set(
    fc
      .sample(moves, 50)
      .flatMap((list) => play(list).events.map((event) => ('what' in event ? event.what : event.type))),
  );
  expect([...seen].toSorted()).toEqual(
    expect.arrayContaining(['dropped', 'requested', 'resolved', 'text', 'tool_result', 'turn']),
  );
});
