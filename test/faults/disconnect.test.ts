/**
 * Clients that leave, at every stage of a request and in both ways in which one can leave: the
 * upstream's request ends at once, and nothing that was opened for them stays open.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnOfLoop } from '../support/gate.js';
import { openHandles } from '../support/handles.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { answer, hang, json, sse } from '../support/scripted-upstream.js';
import { count, TIMEOUT_MS } from './counts.js';
import {
  ask,
  askBytes,
  type Fault,
  type FaultBed,
  inTime,
  metric,
  PATIENCE_MS,
  startFaultBed,
} from './fault-gateway.js';
import { ANSWER, errorBody, eventsOf, good, held } from './upstream-answers.js';
import { WIRES, type Wire } from './wires.js';

/** Of each stage, dialect of the upstream and dialect of the client: more than 200 in all. */
const CLIENTS = count(4, 24);
const WORDS = 'I look it up';
/** Between two tries: longer than any test waits for something to end. */
const PAUSE_S = 600;

interface Stage {
  fault: Fault;
  stream: boolean;
  /** What a client has seen when it leaves; without, it leaves when the upstream has its request. */
  seen?: string;
  /** The upstream has said all that it will say: there is nothing to abort, only to stop waiting. */
  answered?: boolean;
}

function stagesOf(wire: Wire): Record<string, Stage> {
  const events = eventsOf(wire);
  const [start = ''] = events;
  const word = events.findIndex((event) => event.includes(WORDS));
  const begun = events.slice(0, word + 1);
  const whole = JSON.stringify(wire.whole(ANSWER));
  const busy = json(errorBody(wire, 'overloaded_error', 'It is busy.'), {
    status: 529,
    headers: { 'retry-after': String(PAUSE_S) },
    end: 'close',
  });
  return {
    'in the middle of a stream': {
      // Long enough that it never comes to its end by itself.
      fault: { reply: () => sse([...begun, ...Array.from({ length: 20_000 }, () => events[word] ?? '')]) },
      stream: true,
      seen: WORDS,
    },
    'while the upstream is silent': {
      fault: { reply: sse(begun, { end: 'hang' }) },
      stream: true,
      seen: WORDS,
    },
    'before the first word': { fault: { reply: sse([start], { end: 'hang' }) }, stream: true },
    'before the head': { fault: { reply: hang() }, stream: true },
    'without a stream': { fault: { reply: hang() }, stream: false },
    'in the middle of a whole answer': {
      fault: {
        reply: answer(whole, {
          headers: { 'content-type': 'application/json' },
          cutAt: whole.length / 2,
          end: 'hang',
        }),
      },
      stream: false,
    },
    'between two tries': { fault: { reply: busy }, stream: true, answered: true },
  };
}

const STAGES = Object.keys(stagesOf(WIRES[0] ?? fail('no dialect')));

function fail(what: string): never {
  throw new Error(what);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turnOfLoop();
}

/** Those of requests; the servers listen all the time. */
const ofRequests = (): string[] => openHandles().filter((kind) => kind !== 'TCPServerWrap');

/** Not by a timer: one would be among the handles that are waited for. */
async function patiently(work: () => Promise<void>, when: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let over = false;
  const working = work().finally(() => {
    over = true;
  });
  while (!over && performance.now() < deadline) await turnOfLoop();
  if (!over) throw new Error(`Still open ${when}: ${ofRequests().join(', ') || 'requests'}`);
  await working;
}

describe.each(WIRES)('clients that leave a gateway in front of $name', (upstream) => {
  const stages = stagesOf(upstream);
  let bed: FaultBed;
  beforeAll(async () => {
    const faults = Object.entries(stages).map(([name, { fault }]) => [name, fault]);
    bed = await startFaultBed(
      upstream,
      { ...Object.fromEntries(faults), fine: { reply: good(upstream, { end: 'close' }) } },
      { retryBudgetMs: 2 * PAUSE_S * 1000 },
    );
  });
  afterAll(() => bed.close());

  /** Nothing that was opened for a client is open any more, on either side of the gateway. */
  async function settled(): Promise<void> {
    // The request for the figures is itself one that is open.
    await until(async () => (await metric(bed.url, 'toolgate_open_requests')) === 1);
    expect(await metric(bed.url, 'toolgate_open_streams')).toBe(0);
    await bed.server.whenIdle();
    await bed.server.whenDisconnected();
    // What the store writes a moment later has a timer of its own, which ends by itself.
    await until(() => ofRequests().length === 0);
  }

  async function abandon(client: Wire, model: string, stage: Stage): Promise<void> {
    const before = bed.requests(model).length;
    const connections: RawConnection[] = await Promise.all(
      Array.from({ length: CLIENTS }, () => openRaw(bed.url)),
    );
    const bytes = askBytes(bed.url, client, { stream: stage.stream, model });
    await Promise.all(connections.map((connection) => connection.send(bytes)));
    await until(() => bed.requests(model).length === before + CLIENTS);
    if (stage.seen !== undefined) {
      for (const connection of connections) await connection.bodyHas(stage.seen);
    }
    const requests = bed.requests(model).slice(before);
    if (stage.answered) {
      for (const request of requests) expect(await request.outcome).toBe('answered');
      await turnOfLoop(5);
    }
    await Promise.all(
      connections.map((connection, index) => connection.leave(index % 2 === 0 ? 'reset' : 'close')),
    );
    if (stage.answered) return;
    for (const request of requests) await inTime(request.aborted, `${model}: the upstream goes on`);
  }

  it.each(STAGES)('leave nothing open: %s', { timeout: TIMEOUT_MS }, async (name) => {
    const stage = stages[name] ?? fail(name);
    const warm = await ask(bed.url, upstream, { stream: true, model: 'fine' });
    expect(held(upstream, warm).failed).toBe(false);
    await patiently(settled, 'before');
    for (const client of WIRES) await inTime(abandon(client, name, stage), `${client.name} ${name}`);
    await patiently(settled, 'after');
    expect(bed.requests(name)).toHaveLength(WIRES.length * CLIENTS);
    const next = await ask(bed.url, upstream, { stream: true, model: 'fine' });
    expect(held(upstream, next).failed).toBe(false);
  });
});
