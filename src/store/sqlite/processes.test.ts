/** Processes that are killed, and processes that race: what one event loop cannot show. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ownSession } from '../../../test/contracts/store/place.js';
import { openStore } from '../open/open-store.js';

type Said = Record<string, unknown>;

let folder = '';
let script = '';
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
  script = join(folder, 'child.mjs');
  const libsql = pathToFileURL(createRequire(import.meta.url).resolve('libsql')).href;
  await build({
    entryPoints: [fileURLToPath(new URL('../../../test/support/store-process.ts', import.meta.url))],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'libsql',
        setup: (builder) => {
          builder.onResolve({ filter: /^libsql$/ }, () => ({ path: libsql, external: true }));
        },
      },
    ],
  });
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rm(folder, { recursive: true }));

function start(...args: string[]): { child: ChildProcess; said: AsyncIterable<Said> } {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  if (child.stdout === null) throw new Error('no output');
  return { child, said: parse(child.stdout) };
}

// The interface is made by whoever begins to read: lines that came before would be lost.
async function* parse(input: Readable): AsyncGenerator<Said> {
  for await (const line of createInterface({ input })) yield JSON.parse(line);
}

it.each([3, 50, 200])(
  'keeps everything a killed process was told is written (after %i lines)',
  async (count) => {
    const path = join(folder, `kill-${count}.db`);
    const { child, said } = start('write', path);
    const promised: Said[] = [];
    for await (const line of said) {
      promised.push(line);
      // What was said before the signal arrived still counts: the loop goes on to the end.
      if (promised.length === count) child.kill('SIGKILL');
    }
    expect(promised.length).toBeGreaterThanOrEqual(count);
    const store = await openStore(`sqlite:${path}`, { baseDir: folder });
    const session = String(promised[0]?.['session']);
    const calls = new Map((await store.toolCalls.list(session)).map((call) => [call.id, call]));
    for (const { kind, id } of promised) {
      const call = calls.get(String(id));
      if (kind === 'call') expect(call).toBeDefined();
      if (kind === 'result') expect(call?.result?.content).toEqual([{ type: 'text', text: id }]);
      if (kind === 'decision') expect((await store.approvals.get(String(id)))?.state).toBe('allowed');
    }
    expect((await store.transcripts.read(session)).map(({ uuid }) => uuid)).toEqual([...calls.keys()]);
    // The dead process still holds its lease until its node starts again under its name.
    expect(await store.leases.acquire(`session:${session}`, 'child', 1)).toMatchObject({ granted: false });
    expect(await store.leases.releaseAll('child')).toBe(1);
    expect(await store.leases.acquire(`session:${session}`, 'child', 1)).toMatchObject({ granted: true });
    await store.close();
  },
);

it('lets exactly one of three processes win each lease, decision, use and result', async () => {
  const rounds = 120;
  const path = join(folder, 'race.db');
  const store = await openStore(`sqlite:${path}`, { baseDir: folder, now: () => 1 });
  const { step } = await ownSession(store, 's', { expiresAt: 8_000_000_000_000 });
  for (let n = 0; n < rounds; n++) {
    await step({ open: [{ id: `c${n}`, name: 'f', input: {}, runBy: 'client' }] });
    await store.approvals.create({
      ...{ id: `a${n}`, session: 's', principal: 'p', toolUseId: `c${n}`, tool: 'f', digest: 'd' },
      ...{ input: {}, describe: {}, suggestions: [] },
    });
  }
  const racers = [1, 2, 3].map(() => start('race', path, String(rounds)));
  const iterators = racers.map(({ said }) => said[Symbol.asyncIterator]());
  for (const iterator of iterators) expect((await iterator.next()).value).toEqual({ kind: 'ready' });
  const exits = racers.map(({ child }) => once(child, 'exit'));
  for (const { child } of racers) child.stdin?.write('go\n');
  const results: Said[][] = await Promise.all(
    iterators.map(async (iterator) => {
      const rows: Said[] = [];
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) rows.push(next.value);
      return rows;
    }),
  );
  expect((await Promise.all(exits)).map(([code]) => code)).toEqual([0, 0, 0]);
  const tokens: unknown[] = [];
  for (let n = 0; n < rounds; n++) {
    const round = results.map((rows) => rows[n] ?? {});
    const count = (key: string) => round.filter((row) => row[key] === true).length;
    const granted = round.filter((row) => row['lease'] !== null);
    expect([granted.length, count('decided'), count('used'), count('recorded'), count('conflict')]).toEqual([
      1, 1, 1, 1, 2,
    ]);
    tokens.push(granted[0]?.['lease']);
    // Winner and losers name the same decider.
    expect(new Set(round.map((row) => row['by'])).size).toBe(1);
  }
  expect(new Set(tokens).size).toBe(rounds);
  await store.close();
});
