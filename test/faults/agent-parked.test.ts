/** Many conversations that wait for their clients: what they cost, and that each wakes with what is its own. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { descendants, isClaudeCode } from '../support/processes.js';
import { AgentBed, KEYS, MODEL } from './agent-bed.js';
import { CLIENTS, type Line, type Reply, resultOf, results, said, user } from './agent-client.js';
import { lookup, says, words } from './agent-script.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { inParallel, inTime } from './fault-gateway.js';
import { Random } from './random.js';

const MB = 1024 * 1024;
const PARKED = 100;
const NATIVE_LIMIT_MB = 100;
const MAX_LIVE = 3;

const promptOf = (number: number): string =>
  `Parked conversation ${number} is about ${'a few words. '.repeat(20)}`;

/** The client is one of four in turn. */
const clientOf = (number: number) => CLIENTS[number % CLIENTS.length] ?? CLIENTS[0];

class Lot {
  readonly #bed: AgentBed;
  readonly #parked = new Map<number, Reply>();

  constructor(bed: AgentBed) {
    this.#bed = bed;
  }

  async park(number: number): Promise<void> {
    const key = `Parked conversation ${number} `;
    this.#bed.model.play(key, [
      says(`Waiting ${number}. `, lookup(`park_${number}_a`), lookup(`park_${number}_b`)),
      ({ told }) =>
        words(
          `Woken ${number} with ${JSON.stringify(told.at(-1))
            .match(/park_\d+_[ab]/g)
            ?.join(' ')}`,
        ),
    ]);
    const reply = await this.#ask(number, [user(promptOf(number))]);
    expect(reply.calls.map(({ id }) => id)).toEqual([`park_${number}_a`, `park_${number}_b`]);
    this.#parked.set(number, reply);
  }

  async wake(number: number): Promise<void> {
    const parked = this.#parked.get(number);
    if (parked === undefined) throw new Error(`${number} was not parked`);
    const lines = [user(promptOf(number)), said(parked), results(parked.calls.map(resultOf))];
    const reply = await this.#ask(number, lines);
    const ids = ['a', 'b'].flatMap((letter) => Array(2).fill(`park_${number}_${letter}`));
    expect(reply.text).toBe(`Woken ${number} with ${ids.join(' ')}`);
    expect([reply.session, reply.attach]).toEqual([parked.session, 'continue']);
  }

  #ask(number: number, lines: readonly Line[]): Promise<Reply> {
    const { url } = this.#bed;
    const asking = { url, key: KEYS.storm, model: MODEL, lines };
    return inTime(clientOf(number).ask(asking), `conversation ${number}`);
  }
}

/** Resident memory of the gateway, once its garbage is gone. */
async function memoryOf(bed: AgentBed, turn: number): Promise<number> {
  bed.gateway.signal('SIGUSR2');
  await bed.gateway.printed(new RegExp(`^memory ${turn} `, 'm'));
  const status = await readFile(`/proc/${bed.gateway.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

it(`native: ${PARKED} parked sessions take less than ${NATIVE_LIMIT_MB} MB together`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const probe = new URL('./memory-probe.mjs', import.meta.url).href;
  const bed = await AgentBed.start('native', { env: { NODE_OPTIONS: `--import=${probe}` } });
  const lot = new Lot(bed);
  // What the first conversations load is not theirs.
  for (const number of [1000, 1001, 1002, 1003]) await lot.park(number);
  const before = await memoryOf(bed, 1);
  const numbers = Array.from({ length: PARKED }, (_, number) => number);
  await inParallel(numbers, 4, (number) => lot.park(number));
  const grown = (await memoryOf(bed, 2)) - before;
  console.log(
    `${PARKED} parked sessions: ${(grown / MB).toFixed(1)} MB, ${(grown / PARKED / 1024).toFixed(0)} KB each`,
  );
  expect(grown / MB).toBeLessThan(NATIVE_LIMIT_MB);
  await inParallel(new Random(SEED).shuffled(numbers), 4, (number) => lot.wake(number));
  expect(bed.model.problems).toEqual([]);
  expect(descendants(bed.gateway.pid)).toEqual([]);
  await bed.close();
});

it(`claude-code: no more than ${MAX_LIVE} processes, and each conversation wakes right`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const bed = await AgentBed.start('claude-code', { sessions: { max_live: MAX_LIVE } });
  const lot = new Lot(bed);
  const { pid } = bed.gateway;
  let most = 0;
  const look = (): void => {
    const own = descendants(pid).filter((each) => each.parent === pid && isClaudeCode(each));
    most = Math.max(most, own.length);
  };
  const watch = setInterval(look, 100);
  try {
    const numbers = Array.from({ length: count(5, PARKED) }, (_, number) => number);
    for (const number of numbers) await lot.park(number);
    await inParallel(new Random(SEED).shuffled(numbers), 4, (number) => lot.wake(number));
    look();
  } finally {
    clearInterval(watch);
  }
  expect(bed.model.problems).toEqual([]);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(MAX_LIVE);
  await bed.close();
});
