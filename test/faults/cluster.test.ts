/**
 * A cluster under load while nodes are killed, PostgreSQL crashes, wires are cut or slow and clocks differ: nothing
 * happens twice, nothing is lost, every client is done. A sample in `npm test`, all of it with `npm run test:cluster`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cutListeners, startPostgres, type TestPostgres } from '../support/postgres.js';
import { ClusterBed, planOf } from './cluster-bed.js';
import { approveAll, ClusterClient } from './cluster-client.js';
import { violations } from './cluster-history.js';
import { count, LONG, SEED, TIMEOUT_MS } from './counts.js';
import { Random } from './random.js';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

const CLIENTS = count(3, 10);
/** In full, whichever comes first. */
const ALL_TURNS = 2000;
const ALL_MS = 20 * 60_000;
const TURNS_OF_SESSION = 4;
/** Turns between two disturbances. */
const CALM = count(1, 8);
/** In a sample these, in any order, and one of the others. */
const ALWAYS: ReadonlySet<string> = new Set([
  'a node is killed in the middle of an effect',
  'PostgreSQL crashes',
]);

type Disturbance = (bed: ClusterBed, random: Random) => Promise<() => void>;
const MENDED = () => {};

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  'a node is killed in the middle of an effect': async (bed) => {
    await (await bed.nextEffect()).crash();
    return MENDED;
  },
  'any node is killed': async ({ nodes }, random) => {
    await random.pick(nodes).crash();
    return MENDED;
  },
  'PostgreSQL crashes': async (bed) => {
    await bed.server.stop('immediate');
    await bed.server.start();
    return MENDED;
  },
  'a node cannot be reached by the others': async ({ nodes }, random) => {
    const { peers } = random.pick(nodes).wires;
    peers.cut();
    return () => peers.mend();
  },
  'a node is slow to reach, and so is its database': async ({ nodes }, random) => {
    const { peers, store } = random.pick(nodes).wires;
    for (const wire of [peers, store]) wire.slow(30);
    return () => {
      for (const wire of [peers, store]) wire.slow(0);
    };
  },
  'a node is cut off from its database for a moment': async ({ nodes }, random) => {
    const { store } = random.pick(nodes).wires;
    store.cut();
    return () => store.mend();
  },
  'connections that listen are cut': async (bed) => {
    await cutListeners(bed.server, bed.database);
    return MENDED;
  },
  'a node is stopped and started again': async ({ nodes }, random) => {
    await random.pick(nodes).restart();
    return MENDED;
  },
};

/** In an order of the seed, each of them before any comes again. Clients go on until it is done. */
async function disturb(bed: ClusterBed, random: Random, progress: Progress): Promise<string[]> {
  const done: string[] = [];
  const began = performance.now();
  const isOver = () => !LONG || progress.turns >= ALL_TURNS || performance.now() - began > ALL_MS;
  do {
    const all = random.shuffled(Object.entries(DISTURBANCES));
    const [one] = all.filter(([name]) => !ALWAYS.has(name));
    for (const [name, disturbance] of all) {
      if (!LONG && !ALWAYS.has(name) && name !== one?.[0]) continue;
      await progress.after(CALM);
      bed.history.push({ kind: 'disturbed', what: name });
      const mend = await disturbance(bed, random);
      done.push(name);
      await progress.after(1);
      mend();
    }
  } while (!isOver());
  await progress.after(CLIENTS);
  return done;
}

/** Turns that are over, for who waits for so many more. */
class Progress {
  turns = 0;
  isOver = false;
  #waiting: { until: number; resolve(): void }[] = [];

  turnDone(): void {
    this.turns += 1;
    const due = this.#waiting.filter(({ until }) => until <= this.turns);
    this.#waiting = this.#waiting.filter((each) => !due.includes(each));
    for (const { resolve } of due) resolve();
  }

  after(turns: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ until: this.turns + turns, resolve }));
  }
}

it(`three nodes lose, double and leave out nothing (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  const bed = await ClusterBed.start(server);
  const progress = new Progress();
  let isIdle = false;
  const [turns, relays]: [string[], string[]] = [[], []];
  const run = async (index: number, kind: 't' | 'p') => {
    const client = new ClusterClient(bed, new Random(SEED + index + (kind === 't' ? 0 : 1000)));
    for (let turn = 0; !progress.isOver; turn += 1) {
      const name = `${kind}${index}x${turn}`;
      (kind === 't' ? turns : relays).push(name);
      if (kind === 'p') await client.relay(name);
      else {
        await client.talk(name, turn % TURNS_OF_SESSION === 0);
        progress.turnDone();
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) => [run(index, 't'), run(index, 'p')]).flat();
  const approving = approveAll(bed, new Random(SEED + 3000), () => isIdle);
  const disturbances = await disturb(bed, new Random(SEED + 2000), progress);
  progress.isOver = true;
  await Promise.all(clients);
  isIdle = true;
  await approving;
  await bed.readEffects();
  expect(violations(bed.history, planOf(turns, relays))).toEqual([]);
  expect(disturbances.length).toBeGreaterThanOrEqual(3);
  // It is looked at what did happen, and not at nothing.
  expect(bed.history.filter(({ kind }) => kind === 'effect').length).toBeGreaterThan(0);
  await bed.close();
});
