/**
 * A thousand approvals under everything that can go wrong at once: decisions that race, repeat,
 * come late, come from three processes' worth of places, with wrong digests, aborts, extensions and
 * rules made meanwhile, while the process that asks is killed and started again. Each is decided
 * exactly once or honestly expired, and each approval runs its call at most once.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnswerOutcome, ApprovalCoordinator, PersonAnswer } from '../../src/permissions/approvals.js';
import { createApprovalCoordinator } from '../../src/permissions/coordinator/coordinator.js';
import { toolUseIdOf } from '../../src/permissions/coordinator/identity.js';
import type { Approval } from '../../src/store/approvals.js';
import type { AuditEntry } from '../../src/store/audit.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { Page, Store } from '../../src/store/store.js';
import { bundleForChild } from '../support/child-bundle.js';
import { simplePolicy } from '../support/simple-policy.js';
import { ApprovalCore } from './approval-core.js';
import { type ChildCall, PATIENT } from './approval-lines.js';
import { count, SEED } from './counts.js';
import { Random } from './random.js';

const WAVES = count(2, 10);
const CALLS_A_WAVE = 100;
const TIMEOUT_MS = 1_000;
const START = 1_800_000_000_000;

type Plan =
  | 'allow'
  | 'deny'
  | 'race'
  | 'repeat'
  | 'late'
  | 'mismatch'
  | 'abort'
  | 'extend'
  | 'cover'
  | 'change'
  | 'remote'
  | 'silent';

const PLANS: readonly Plan[] = [
  ...(['allow', 'deny', 'race', 'race', 'repeat', 'late', 'mismatch'] as const),
  ...(['abort', 'extend', 'cover', 'change', 'remote', 'silent'] as const),
];

const UNDISTURBED: readonly Plan[] = ['cover', 'abort'];

interface PlannedCall extends ChildCall {
  plan: Plan;
}

interface Said {
  approval: string;
  answer: PersonAnswer;
  outcome: AnswerOutcome;
}

interface JournalLine {
  call: string;
  approval: string | null;
  input: unknown;
}

let folder = '';
let script = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'approvals-'));
  script = join(folder, 'child.mjs');
  await bundleForChild(join(import.meta.dirname, 'approval-child.ts'), script);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** One wave: asked, acted on, killed in the middle, and everything brought to its end. */
class Storm {
  readonly random = new Random(SEED);
  readonly said: Said[] = [];
  readonly calls: PlannedCall[] = [];
  clock = START;
  readonly #core: ApprovalCore;
  readonly #places: readonly ApprovalCoordinator[];
  /** Which approval a call was last asked under. */
  readonly #approvals = new Map<string, string>();

  constructor(core: ApprovalCore, places: readonly ApprovalCoordinator[]) {
    this.#core = core;
    this.#places = places;
  }

  async wave(number: number): Promise<void> {
    const calls = Array.from({ length: CALLS_A_WAVE }, (_, n) => this.#plan(number, n));
    this.calls.push(...calls);
    await this.#ask(calls);
    await this.#undisturbed(calls);
    const killAt = this.random.below(CALLS_A_WAVE - UNDISTURBED.length);
    const acts: Promise<void>[] = [];
    for (const [index, call] of this.random.shuffled(calls.slice(UNDISTURBED.length)).entries()) {
      acts.push(this.#act(call));
      if (index !== killAt) continue;
      await this.#core.kill();
      await this.#core.start(this.clock);
      await this.#ask(calls);
    }
    await Promise.all(acts);
    await this.#pass(TIMEOUT_MS, calls);
    await Promise.all(calls.filter(({ plan }) => plan === 'late').map((call) => this.#decide(call, 'allow')));
    await Promise.all(
      calls.filter(({ plan }) => plan === 'extend').map((call) => this.#decide(call, 'allow')),
    );
    await this.#pass(3 * TIMEOUT_MS, calls);
    while (!(await this.#core.until(() => calls.every(({ id }) => this.#core.ended.has(id))))) {
      await this.#revive(calls);
      // What is asked about anew has a clock of its own.
      await this.#pass(TIMEOUT_MS, calls);
    }
  }

  /** Whether the process hears of these before it is killed is chance: once, it is not killed. */
  async #undisturbed(calls: readonly PlannedCall[]): Promise<void> {
    const first = calls.slice(0, UNDISTURBED.length);
    await Promise.all(first.map((call) => this.#act(call)));
    if (!(await this.#core.until(() => first.every(({ id }) => this.#core.ended.has(id))))) {
      throw new Error('it died before anyone killed it');
    }
  }

  #plan(wave: number, n: number): PlannedCall {
    const plan = UNDISTURBED[n] ?? this.random.pick(PLANS);
    const command = `${plan}-${wave}-${n} --go`;
    const call = { id: `w${wave}-${n}`, session: `s${n % 7}`, command, plan };
    // One in each wave ends the process at the worst moment.
    return n === UNDISTURBED.length
      ? { ...call, plan: 'allow', dies: wave % 2 === 0 ? 'before' : 'after' }
      : call;
  }

  async #ask(calls: readonly PlannedCall[]): Promise<void> {
    const left = calls.filter(({ id }) => !this.#core.ended.has(id));
    if (!(await this.#core.run(left))) return this.#revive(calls);
    for (const [call, approval] of this.#core.asked) this.#approvals.set(call, approval);
  }

  /** A new process asks for everything that has no verdict yet, and dies no more of it. */
  async #revive(calls: readonly PlannedCall[]): Promise<void> {
    await this.#core.start(this.clock);
    await this.#ask(calls.map(({ dies: _, ...call }) => call));
  }

  /** Time passes everywhere. A process that died of what came with it is started again, and its time passes. */
  async #pass(ms: number, calls: readonly PlannedCall[]): Promise<void> {
    for (;;) {
      this.clock += ms;
      const [alive] = await Promise.all([
        this.#core.order({ do: 'clock', at: this.clock }),
        ...this.#places.map((place) => place.expireDue()),
      ]);
      if (alive) return;
      await this.#revive(calls);
    }
  }

  async #act(call: PlannedCall): Promise<void> {
    const approval = this.#approvals.get(call.id) ?? '';
    switch (call.plan) {
      case 'allow':
      case 'deny':
        return this.#decide(call, call.plan);
      case 'race': {
        const order = this.random.shuffled(['allow', 'deny', 'allow'] as const);
        const digest = await this.#digest(approval);
        this.#core.send({ do: 'decide', approval, answer: answerOf('deny', digest, 'child') });
        await Promise.all(order.map((decision, place) => this.#decide(call, decision, place)));
        return;
      }
      case 'repeat':
        for (let time = 0; time < 3; time++) await this.#decide(call, 'allow', 0);
        return;
      case 'mismatch':
        await this.#say(0, approval, { ...answerOf('allow', 'of something else', 'place-0') });
        return this.#decide(call, this.random.pick(['allow', 'deny'] as const));
      case 'change': {
        const updatedInput = { command: `changed ${call.id}` };
        const digest = await this.#digest(approval);
        return this.#say(1, approval, { ...answerOf('allow', digest, 'place-1'), updatedInput });
      }
      case 'extend':
        for (const place of this.#places) await place.extend(approval, { name: 'someone', via: 'api' });
        return;
      case 'cover': {
        const rule = `Bash(${call.command.split(' ')[0] ?? ''}:*)`;
        const reach = {
          scope: 'session',
          session: call.session,
          behaviour: 'allow',
          createdBy: 'root',
        } as const;
        await this.#places[0]?.addRule({ ...reach, rule });
        return;
      }
      case 'abort':
        this.#core.send({ do: 'abort', call: call.id });
        return;
      case 'remote': {
        const digest = await this.#digest(approval);
        this.#core.send({ do: 'decide', approval, answer: answerOf('allow', digest, 'child') });
        return;
      }
      case 'late':
      case 'silent':
        return;
    }
  }

  async #decide(call: PlannedCall, decision: 'allow' | 'deny', place = this.random.below(2)): Promise<void> {
    const approval = this.#approvals.get(call.id) ?? '';
    const which = place % this.#places.length;
    await this.#say(which, approval, answerOf(decision, await this.#digest(approval), `place-${place}`));
  }

  async #say(place: number, approval: string, answer: PersonAnswer): Promise<void> {
    const outcome = await this.#places[place]?.decide(approval, answer);
    if (outcome !== undefined) this.said.push({ approval, answer, outcome });
  }

  async #digest(approval: string): Promise<string> {
    return (await this.#places[0]?.get(approval))?.digest ?? '';
  }
}

function answerOf(decision: 'allow' | 'deny', digest: string, by: string): PersonAnswer {
  return { decision, digest, by, via: 'api' };
}

async function allOf<T>(read: (cursor?: string) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) return items;
  }
}

const countBy = <T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
};

it('decides each of many approvals exactly once or expires it honestly, while the gateway is killed', async () => {
  const [path, journal] = [join(folder, 'storm.db'), join(folder, 'journal')];
  await writeFile(journal, '');
  const core = new ApprovalCore({ script, path, journal, timeoutMs: TIMEOUT_MS });
  const stores: Store[] = [];
  const quiet = { warn: () => {}, error: () => {} };
  let storm: Storm | undefined;
  const now = () => storm?.clock ?? START;
  try {
    for (let n = 0; n < 2; n++)
      stores.push(await openStore(`sqlite:${path}`, { baseDir: '/', now, limits: PATIENT }));
    const places = stores.map((store) =>
      createApprovalCoordinator({
        ...{ store, policy: simplePolicy(), timeoutMs: TIMEOUT_MS, unattended: 'wait', now, log: quiet },
      }),
    );
    storm = new Storm(core, places);
    await core.start(START);
    for (let wave = 0; wave < WAVES; wave++) await storm.wave(wave);
    await core.stop();
    for (const place of places) await place.close();
    const [store] = stores;
    if (store === undefined) throw new Error('no store');
    const rows = await allOf((cursor) => store.approvals.list({ limit: 500, ...(cursor && { cursor }) }));
    const audit = await allOf((cursor) => store.audit.list({ limit: 500, ...(cursor && { cursor }) }));
    const lines = (await readFile(journal, 'utf8')).split('\n').filter((line) => line !== '');
    const done: JournalLine[] = lines.map((line) => JSON.parse(line));
    checkRows(rows, audit);
    checkAnswers(rows, storm.said, core);
    checkRuns(rows, done, core, storm.calls);
    expect(core.problems).toEqual([]);
    // Killed from outside in each wave, and by its own call in most.
    expect(core.deaths).toBeGreaterThan(1.5 * WAVES);
    expect(rows.length).toBeGreaterThanOrEqual(WAVES * CALLS_A_WAVE);
    // Everything that can become of an approval has come about.
    expect([...countBy(rows, ({ state }) => state).keys()].sort()).toEqual([
      ...['allowed', 'cancelled', 'covered', 'denied', 'expired'],
    ]);
  } finally {
    await core.kill();
    for (const store of stores) await store.close();
  }
}, 120_000);

/** Every row is final, was settled once, and in its time. */
function checkRows(rows: readonly Approval[], audit: readonly AuditEntry[]): void {
  const settled = countBy(
    audit.filter(({ event }) => event.startsWith('approval.') && event !== 'approval.extended'),
    ({ what = '' }) => what,
  );
  for (const { id, state, decision, expiresAt = 0, usedAt } of rows) {
    expect([id, settled.get(id)?.map(({ event }) => event)]).toEqual([id, [`approval.${state}`]]);
    const at = decision?.at ?? 0;
    expect([id, state === 'expired' ? at >= expiresAt : at < expiresAt]).toEqual([id, true]);
    if (usedAt !== undefined) expect(['allowed', 'covered']).toContain(state);
  }
  expect(settled.size).toBe(rows.length);
}

/** Whoever was told "decided" decided; everyone else was told the same name. */
function checkAnswers(rows: readonly Approval[], said: readonly Said[], core: ApprovalCore): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const winners = new Map<string, string[]>();
  const won = (id: string, by: string) => winners.set(id, [...(winners.get(id) ?? []), by]);
  for (const { approval, answer, outcome } of said) {
    const row = byId.get(approval);
    if (outcome.outcome === 'decided' && !outcome.repeated) won(approval, answer.by);
    if (outcome.outcome === 'decided' || outcome.outcome === 'already') {
      expect(outcome.approval.decision).toEqual(row?.decision);
    }
    if (outcome.outcome === 'decided') {
      expect([row?.decision?.by, row?.state]).toEqual([
        answer.by,
        answer.decision === 'allow' ? 'allowed' : 'denied',
      ]);
    }
    if (outcome.outcome === 'expired') expect(row?.state).toBe('expired');
    if (answer.digest === 'of something else') expect(outcome.outcome).not.toBe('decided');
  }
  for (const { approval, outcome, by } of core.decisions) {
    if (outcome === 'decided') won(approval, 'child');
    if (outcome !== 'unknown') expect(by).toBe(byId.get(approval)?.decision?.by);
  }
  expect([...winners.values()].filter(({ length }) => length !== 1)).toEqual([]);
}

/** No call is lost, no approval ran twice, and what ran is what was allowed. */
function checkRuns(
  rows: readonly Approval[],
  done: readonly JournalLine[],
  core: ApprovalCore,
  calls: readonly PlannedCall[],
): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ran = countBy(
    done.filter(({ approval }) => approval !== null),
    ({ approval }) => approval ?? '',
  );
  for (const [id, runs] of ran) {
    const row = byId.get(id);
    expect([id, runs.length, row?.usedAt !== undefined]).toEqual([id, 1, true]);
    expect(runs[0]?.input).toEqual(row?.decision?.updatedInput ?? row?.input);
  }
  const byCall = countBy(rows, ({ toolUseId }) => toolUseIdOf(toolUseId));
  for (const { id, plan } of calls) {
    const ends = core.ended.get(id) ?? [];
    expect([id, ends.length]).toEqual([id, 1]);
    const [end] = ends;
    const states = byCall.get(id)?.map(({ state }) => state) ?? [];
    if (end?.approval) expect(ran.get(end.approval)?.length).toBe(1);
    // A call whose like a rule allows by now needs no approval after a restart.
    else if (end?.outcome === 'allowed') expect([plan, end.reason]).toEqual(['cover', 'rule']);
    // An abort may come when its time is up or a decision made: the call ends, and the row keeps what was first.
    else if (plan !== 'abort' || end?.outcome !== 'cancelled') expect(states).toContain(end?.outcome);
  }
}
