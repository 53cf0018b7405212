import { describe, expect, it, onTestFinished } from 'vitest';
import { ScriptedRelay, says } from '../../../../test/support/native-engine-bench.js';
import { SessionsBench } from '../../../../test/support/sessions-bench.js';
import { until } from '../../../../test/support/until.js';
import { GatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { AgentEngine } from '../../../engines/agent/agent-engine.js';
import type { Dispatcher, Principal } from '../../../engines/engine.js';
import { PlainDriver } from '../../../engines/plain/driver.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import { RELEASED } from '../../../sessions/persistence/lease-keeper.js';
import { ChatRuns, type ChatRunsOptions } from './chat-runs.js';

const ALICE: Principal = { name: 'alice', scopes: ['call'], models: ['*'] };
const ROUTE: ModelRoute = { pattern: 'm', model: 'm', rule: { engine: 'relay', upstreams: ['u'] } };
const nothing = () => {};
const LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };
const BROKEN = new GatewayError('upstream_failed', 'It broke.');

/** Says nothing until it is told to stop. */
async function* silence({ signal }: { signal: AbortSignal }): AsyncGenerator<readonly ModelEvent[]> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

interface World {
  bench: SessionsBench;
  runs: ChatRuns;
  /** Another gateway on the same store. */
  open(options?: Partial<ChatRunsOptions>): ChatRuns;
  /** Until no turn of the session runs. */
  over(session: string): Promise<void>;
}

async function openWorld(...script: ConstructorParameters<typeof ScriptedRelay>): Promise<World> {
  const bench = await SessionsBench.open({ delivers: false });
  const { sessions, store } = bench;
  const driver = new PlainDriver(new ScriptedRelay(...script));
  const engine = new AgentEngine({ driver, sessions, log: LOG });
  const open: World['open'] = (options) =>
    new ChatRuns({
      dispatcher: { run: (call) => engine.run(call, ROUTE) },
      models: {
        offered: () => [],
        find: (name) => ({
          ...{ name, pattern: false, engine: 'relay', upstreams: ['u'], priced: false },
          ...{ displayName: undefined, root: undefined, contextWindow: undefined },
        }),
      },
      ...{ sessions, store, log: LOG, sampler: undefined },
      principalOf: (name) => (name === ALICE.name ? ALICE : undefined),
      report: nothing,
      ...options,
    });
  const runs = open();
  onTestFinished(async () => {
    await runs.close();
    await engine.close();
    await bench.close();
  });
  return {
    bench,
    runs,
    open,
    async over(id) {
      await until(async () => {
        const session = await sessions.get(id);
        return session === undefined || sessions.standing(session)?.turn?.running !== true;
      });
    },
  };
}

const said = (content: string, rest: object = {}) => ({ model: 'm', content, ...rest });

describe('resuming a turn from the console', () => {
  it('is refused at once while it runs', async () => {
    const { runs } = await openWorld(silence);
    const { session } = await runs.start(said('hi'), ALICE);
    await expect(runs.resume(session)).rejects.toMatchObject({ code: 'conflict', detail: 'session_busy' });
  });

  it('can be tried again after a failed attempt', async () => {
    const { bench, runs, open, over } = await openWorld(BROKEN, says('At last.'));
    const { session } = await runs.start(said('hi'), ALICE);
    await until(async () => (await bench.store.runs.ofSession(session))?.state === 'interrupted');
    const refused: Pick<Dispatcher, 'run'> = { run: () => Promise.reject(BROKEN) };
    const other = open({ dispatcher: refused });
    await expect(other.resume(session)).rejects.toBe(BROKEN);
    await other.close();
    expect(await runs.resume(session)).toMatchObject({ session });
    await over(session);
    expect((await bench.sessions.read(session))?.messages).toHaveLength(2);
  });

  it('stays possible for a person after a restart that failed to do it', async () => {
    const { bench, runs, open } = await openWorld(silence);
    const { session } = await runs.start(said('hi'), ALICE);
    await runs.close();
    const next = open({ dispatcher: { run: () => Promise.reject(BROKEN) } });
    await next.restore();
    await next.close();
    expect(await bench.store.runs.ofSession(session)).toMatchObject({ state: 'interrupted' });
  });

  it('takes the turn over from a machine that no longer holds the lease', async () => {
    const { bench, runs, over } = await openWorld(BROKEN, says('Here.'));
    const { session } = await runs.start(said('hi'), ALICE);
    await over(session);
    const run = await bench.store.runs.ofSession(session);
    if (run === undefined) throw new Error('There is no run.');
    const elsewhere = { from: run.owner, to: 'elsewhere/7/1', attempts: 1 };
    await bench.store.runs.claim(run.id, elsewhere);
    const name = `session:${session}`;
    const held = await bench.store.leases.acquire(name, 'elsewhere/7/1', 60_000);
    await expect(runs.resume(session)).rejects.toMatchObject({ code: 'conflict' });
    if (held.granted) await bench.store.leases.release(held.lease);
    expect(await runs.resume(session)).toMatchObject({ session });
    await over(session);
  });
});

describe('a turn that has no session yet', () => {
  it('ends when the gateway stops, and says so', async () => {
    const { open } = await openWorld(silence);
    const slow: Pick<Dispatcher, 'run'> = {
      run: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    };
    const runs = open({ dispatcher: slow });
    const started = runs.start(said('hi'), ALICE);
    started.catch(nothing);
    await new Promise(setImmediate);
    await runs.close();
    await expect(started).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('leaves no fork behind where it is refused', async () => {
    const { bench, runs, open, over } = await openWorld(says('One.'));
    const { session } = await runs.start(said('hi'), ALICE);
    await over(session);
    const body = said('again', { session, keep: 0, client_id: 'x' });
    const slow = open({ dispatcher: { run: () => new Promise(nothing) } });
    slow.start(body, ALICE).catch(nothing);
    const made = async () => (await bench.sessions.list({ limit: 10 })).items.length;
    for (; (await bench.store.runs.running()).length === 0; ) await new Promise(setImmediate);
    expect(await made()).toBe(2);
    await expect(runs.start(body, ALICE)).rejects.toMatchObject({ code: 'conflict' });
    expect(await made()).toBe(2);
  });
});

describe('a request that is sent again after its gateway was killed', () => {
  const body = said('hi', { client_id: 'x' });
  const held: Pick<Dispatcher, 'run'> = { run: () => new Promise(nothing) };

  /** One that has noted the run and gone, before it answered. */
  async function leftBehind({ open, bench }: World): Promise<void> {
    open({ dispatcher: held }).start(body, ALICE).catch(nothing);
    for (; (await bench.store.runs.running()).length === 0; ) await new Promise(setImmediate);
    const [run] = await bench.store.runs.running();
    if (run === undefined) throw new Error('There is no run.');
    await bench.store.runs.release(run.owner, RELEASED);
  }

  it('gets the turn that the next process resumes', async () => {
    const world = await openWorld(silence);
    await leftBehind(world);
    const restored = world.runs.restore();
    const early = await world.runs.start(body, ALICE);
    await restored;
    expect(early).toMatchObject({ how: 'new' });
    expect(await world.runs.start(body, ALICE)).toEqual(early);
    expect((await world.bench.sessions.list({ limit: 10 })).items.map(({ id }) => id)).toEqual([
      early.session,
    ]);
    await expect(world.runs.start(said('no', { client_id: 'x' }), ALICE)).rejects.toMatchObject({
      detail: 'client_id_reused',
    });
  });

  it('gets the same turn when that is over', async () => {
    const world = await openWorld(says('Here.'));
    await leftBehind(world);
    await world.runs.restore();
    const started = await world.runs.start(body, ALICE);
    for (; (await world.bench.store.runs.running()).length > 0; ) await new Promise(setImmediate);
    expect(await world.runs.start(body, ALICE)).toEqual(started);
    expect((await world.bench.sessions.list({ limit: 10 })).items).toHaveLength(1);
  });

  it('is answered as before where the answer had been given', async () => {
    const world = await openWorld(silence, silence);
    const first = world.open();
    const started = await first.start(body, ALICE);
    await first.close();
    await world.runs.restore();
    expect(await world.runs.start(body, ALICE)).toEqual(started);
  });
});
