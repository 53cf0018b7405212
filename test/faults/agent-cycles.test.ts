/**
 * Conversations that are begun, wait for their client and are forgotten, again and again: nothing of
 * them stays, be it a process, a file, a timer, a socket or a row. Clock and timers are the test's.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { descendants, type SeenProcess } from '../support/processes.js';
import { ScriptedAgentModel } from '../support/scripted-agent-model.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { isRecord } from '../support/violation.js';
import { ENGINES, type EngineName, MODEL } from './agent-bed.js';
import { CLIENTS, user } from './agent-client.js';
import { bash, lookup, says } from './agent-script.js';
import { count, TIMEOUT_MS } from './counts.js';
import { inParallel, inTime } from './fault-gateway.js';

const TTL_S = 60;
/** The store is cleared every ten minutes. */
const PASS_MS = 700_000;
const CYCLES: Readonly<Record<EngineName, { all: number; batch: number; atOnce: number }>> = {
  native: { all: count(80, 1000), batch: 50, atOnce: 4 },
  'claude-code': { all: count(4, 50), batch: 2, atOnce: 2 },
};

/** Where conversations leave rows. Traces, usage and the audit are kept for people, for their own time. */
const TABLES = ['sessions', 'transcript', 'history', 'calls', 'answers', 'leases', 'approvals', 'rules'];

/** Besides the store. */
const KEPT: readonly string[] = ['toolgate.yaml'];

const PATIENCE_MS = 30_000;
const LOOK_MS = 20;

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

interface Left {
  processes: string[];
  files: string[];
  rows: Record<string, number>;
  timers: number;
  /** What else would keep a process from ending. */
  resources: Record<string, number>;
}

function rowCount(database: Database.Database, table: string): number {
  const row: unknown = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get();
  return isRecord(row) ? Number(row['rows']) : Number.NaN;
}

function rowsIn(folder: string): Record<string, number> {
  const database = new Database(join(folder, '.toolgate', 'toolgate.db'), { readonly: true });
  try {
    return Object.fromEntries(TABLES.map((table) => [table, rowCount(database, table)]));
  } finally {
    database.close();
  }
}

/** A folder may go while it is looked at. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(folder, { recursive: true, withFileTypes: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
}

/** No folders, of which some are there as long as the gateway is. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !/^toolgate\.db(-wal|-shm)?$/.test(name))
    .toSorted();
}

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  // Connections that are kept for the next request, and work of the thread pool, come and go.
  for (const name of process.getActiveResourcesInfo()) {
    if (name === 'TCPSocketWrap' || name.includes('Req') || /Immediate|Timeout/.test(name)) continue;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Without those that were there before the test. */
const processesBut = (others: ReadonlySet<number>): SeenProcess[] =>
  descendants(process.pid).filter(({ pid }) => !others.has(pid));

const look = async (folder: string, others: ReadonlySet<number>): Promise<Left> => ({
  processes: processesBut(others).map(({ command }) => command),
  files: await filesIn(folder),
  rows: rowsIn(folder),
  timers: vi.getTimerCount(),
  resources: resources(),
});

/** What should be gone: rows and files at all, the rest beyond what was there before. */
function tooMuch(now: Left, before: Left = now): string[] {
  const had = [...before.processes];
  const processes = now.processes.filter((command) => {
    const at = had.indexOf(command);
    if (at >= 0) had.splice(at, 1);
    return at < 0;
  });
  const counts = (left: Left): Record<string, number> => ({ ...left.resources, timers: left.timers });
  const grown = Object.entries(counts(now)).filter(([name, count]) => count > (counts(before)[name] ?? 0));
  return [
    ...Object.entries(now.rows).flatMap(([table, count]) => (count > 0 ? [`${count} rows in ${table}`] : [])),
    ...now.files.filter((name) => !KEPT.includes(name)),
    ...processes,
    ...grown.map(([name, count]) => `${count} ${name} instead of ${counts(before)[name] ?? 0}`),
  ];
}

describe.each(ENGINES)('%s', (engine) => {
  const { all, batch, atOnce } = CYCLES[engine];

  it(`leaves nothing behind after ${all} conversations`, { timeout: TIMEOUT_MS * 2 }, async () => {
    const others = new Set(descendants(process.pid).map(({ pid }) => pid));
    const { path: folder } = await tempFolder('toolgate-cycles');
    const { path: work } = await tempFolder('toolgate-cycles-work');
    vi.stubEnv('TMPDIR', folder);
    vi.useFakeTimers({
      toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
      shouldAdvanceTime: true,
    });
    const model = new ScriptedAgentModel();
    const upstream = await startUpstream(model.script);
    const gateway = await startTestGateway({
      folder,
      config: {
        upstreams: { scripted: upstream.config('anthropic-messages') },
        models: { [MODEL]: { engine, upstream: 'scripted', model: 'm', cwd: work, tools: ['Bash', 'Read'] } },
        permissions: { mode: 'allow' },
        sandbox: 'off',
        sessions: { ttl_s: TTL_S },
      },
    });
    const cycle = new Cycle(gateway, model, () => look(folder, others));
    // The first ones load what all of them use.
    await cycle.run(batch, atOnce);
    const before = await cycle.cleared();
    for (let done = batch; done < all; done += batch) await cycle.run(batch, atOnce);
    await cycle.cleared(before);
    expect(model.problems).toEqual([]);
    vi.useRealTimers();
    await gateway.close();
    expect(processesBut(others)).toEqual([]);
    expect(await filesIn(folder)).toEqual([...KEPT]);
  });
});

class Cycle {
  readonly #gateway: TestGateway;
  readonly #model: ScriptedAgentModel;
  readonly #look: () => Promise<Left>;
  #number = 0;

  constructor(gateway: TestGateway, model: ScriptedAgentModel, look: () => Promise<Left>) {
    this.#gateway = gateway;
    this.#model = model;
    this.#look = look;
  }

  /** So many conversations wait for results that never come, until their time is over. */
  async run(batch: number, atOnce: number): Promise<void> {
    const numbers = Array.from({ length: batch }, () => this.#number++);
    await inParallel(numbers, atOnce, (number) => this.#park(number));
    await vi.advanceTimersByTimeAsync(PASS_MS);
  }

  async #park(number: number): Promise<void> {
    const prompt = `Cycle ${number}.`;
    const calls = [lookup(`cycle_${number}`)];
    // Some use a tool that has files and processes of its own.
    if (number % 25 === 0) calls.push(bash(`cycle_${number}_x`, 'seq 1 20000; sleep 600 & echo started'));
    this.#model.play(prompt, [says('Waiting. ', ...calls)]);
    const client = CLIENTS[number % CLIENTS.length] ?? CLIENTS[0];
    const asking = { url: this.#gateway.url, key: 'any', model: MODEL, lines: [user(prompt)] };
    const reply = await inTime(client.ask(asking), prompt);
    expect(reply.calls.map(({ id }) => id)).toEqual([`cycle_${number}`]);
  }

  /** Time passes until all of it is gone: what ends by itself takes a while. */
  async cleared(before?: Left): Promise<Left> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      await vi.advanceTimersByTimeAsync(PASS_MS);
      const left = await this.#look();
      const still = tooMuch(left, before);
      if (still.length === 0) return left;
      if (performance.now() > end) throw new Error(`These stayed:\n${still.join('\n')}`);
      await pause(LOOK_MS);
    }
  }
}
