/**
 * A gateway that dies between any two writes to its store. The one that comes after it is another
 * process on the same file; the client does nothing but send again what was not answered.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { deferred } from '../../../test/support/gate.js';
import {
  CRASHED,
  callOf,
  calls,
  createNativeEngine,
  FakeRuntime,
  type FakeTool,
  frozenAfter,
  type Heard,
  hear,
  memorySessions,
  nativeEngine,
  openTestSessions,
  QUIET_LOG,
  resultOf,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../test/support/native-engine-bench.js';
import type { Block, ConversationRequest, Message } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { ownerOf } from '../../sessions/persistence/lease-keeper.js';
import { openStore } from '../../store/open/open-store.js';
import type { Store } from '../../store/store.js';
import type { ModelRequest } from '../engine.js';

const WEATHER = { name: 'get_weather', inputSchema: { type: 'object' } };

/** What the model says depends on nothing but what it has said. */
const SCRIPT: readonly (readonly ModelEvent[])[] = [
  [{ type: 'text', text: 'Looking.' }, ...calls(['Edit', { n: 1 }, 'e1'], ['Read', {}, 'r1'])],
  [{ type: 'text', text: 'More.' }, ...calls(['Edit', { n: 2 }, 'e2'], ['get_weather', {}, 'c1'])],
  [{ type: 'text', text: 'Rain.' }, ...calls(['Edit', { n: 3 }, 'e3'])],
  says('Done.'),
];

const brain = () =>
  new ScriptedRelay(async function* ({ request }: ModelRequest) {
    const said = request.messages.filter(({ role }) => role === 'assistant').length;
    for (const event of SCRIPT[said] ?? says('Too much.')) yield [event];
  });

/** No process has the id: it is beyond what the kernel gives out. */
const DEAD = ownerOf(2 ** 22 + 1);

/** What was done to the world, by every process. */
interface World {
  done: string[];
}

function editing(world: World): Record<string, FakeTool> {
  return {
    Edit: (input) => {
      world.done.push(JSON.stringify(input));
      return `edited ${JSON.stringify(input)}`;
    },
    Read: () => 'read',
  };
}

interface Told {
  text: string;
  calls: string[];
  stop: string | undefined;
}

const told = ({ text, calls: handed, stop }: Heard): Told => ({ text, calls: handed, stop });

/** The two requests of the client, each sent until it is answered; the first process dies after so many writes. */
async function conversation(writes: number) {
  const url = `sqlite:${join((await tempFolder()).path, 'store.db')}`;
  const world: World = { done: [] };
  const asked: ConversationRequest[][] = [];
  const start = async (limit: number) => {
    const opened = await openStore(url, { baseDir: '/' });
    closeAfterTest(() => opened.close());
    const { store, frozen } = frozenAfter(opened, limit);
    // The first one is dead when the second begins; a real process could not be in a test with it.
    const sessions = openTestSessions(store, Number.isFinite(limit) ? DEAD : undefined);
    const relay = brain();
    asked.push(relay.requests);
    const runtime = new FakeRuntime(editing(world));
    // Never closed: nobody closes what has died.
    const engine = createNativeEngine({ relay, runtime, log: QUIET_LOG, startDir: '/', home: '/', sessions });
    return { engine, frozen, opened };
  };
  let { engine, frozen, opened } = await start(writes);
  let crashes = 0;
  let unheard = false;
  const send = async (call: ModelRequest): Promise<Heard> => {
    const heard = await Promise.race([hear(engine, call, routeTo()), frozen]);
    if (heard !== CRASHED) return heard;
    crashes += 1;
    unheard = await isAnswered(opened, call);
    ({ engine, frozen, opened } = await start(Number.POSITIVE_INFINITY));
    return hear(engine, call, routeTo());
  };
  const question = userSays('go');
  const first = await send(callOf([question], { tools: [WEATHER] }));
  const said: Block[] = [
    { type: 'text', text: first.text },
    { type: 'tool_use', id: 'c1', name: 'get_weather', input: {} },
  ];
  const answer: Message = { role: 'assistant', content: said };
  const second = await send(callOf([question, answer, resultOf('c1', 'rain')], { tools: [WEATHER] }));
  return {
    first: told(first),
    second: told(second),
    world,
    crashes,
    unheard,
    last: asked.flat().at(-1),
    sessions: [first.session, second.session],
  };
}

/** A question whose answer was whole, and not heard: asked again, it is asked anew. */
async function isAnswered(store: Store, { request }: ModelRequest): Promise<boolean> {
  const [session] = (await store.sessions.list({ limit: 1 })).items;
  return request.messages.length === 1 && session?.state === 'parked';
}

const resultsIn = (request: ConversationRequest | undefined): [string, string][] =>
  (request?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block): [string, string][] =>
      block.type === 'tool_result'
        ? [[block.toolUseId, block.content.map((part) => (part.type === 'text' ? part.text : '')).join('')]]
        : [],
    ),
  );

describe('a gateway that dies', () => {
  it('between any two writes loses nothing and does nothing twice', async () => {
    const whole = await conversation(Number.POSITIVE_INFINITY);
    expect(whole.first).toEqual({ text: 'Looking.More.', calls: ['c1'], stop: 'tool_use' });
    expect(whole.second).toEqual({ text: 'Rain.Done.', calls: [], stop: 'end_turn' });
    expect(whole.world.done).toHaveLength(3);
    let unknown = 0;
    for (let writes = 0; ; writes += 1) {
      const broken = await conversation(writes);
      if (broken.crashes === 0) {
        expect(writes).toBeGreaterThan(10);
        break;
      }
      const where = `after ${writes} writes`;
      if (broken.unheard) continue;
      expect(broken.first, where).toEqual(whole.first);
      expect(broken.second, where).toEqual(whole.second);
      expect(new Set(broken.sessions).size, where).toBe(1);
      expect(new Set(broken.world.done).size, where).toBe(broken.world.done.length);
      const results = resultsIn(broken.last);
      expect(
        results.map(([id]) => id),
        where,
      ).toEqual(['e1', 'r1', 'e2', 'c1', 'e3']);
      for (const [id, text] of results) {
        const n = id.startsWith('e') ? Number(id.slice(1)) : 0;
        if (text.includes('may have run')) unknown += 1;
        else if (n > 0) {
          expect(text, where).toBe(`edited {"n":${n}}`);
          expect(broken.world.done, where).toContain(`{"n":${n}}`);
        }
      }
    }
    // Between a call's first write and its last nobody can know.
    expect(unknown).toBeGreaterThan(0);
  }, 120_000);
});

describe('a sub-agent whose gateway dies', () => {
  /** The first process is stopped for good inside the sub-agent's tool. */
  async function brokenIn(tool: string) {
    const { store } = await memorySessions();
    const done: string[] = [];
    const began = deferred<void>();
    const task: FakeTool = async (_input, { runAgent }) => {
      done.push('Task');
      const work = { toolUseId: 't', description: 'd', prompt: 'p' };
      for await (const _step of runAgent?.(work) ?? []);
      return 'reported';
    };
    const hanging: FakeTool = () => {
      done.push(tool);
      began.resolve();
      return new Promise(() => {});
    };
    const first = new ScriptedRelay(calls(['Task', {}, 't']), calls([tool, {}, 's']));
    const dead = createNativeEngine({
      relay: first,
      runtime: new FakeRuntime({ Task: task, [tool]: hanging }),
      log: QUIET_LOG,
      startDir: '/',
      home: '/',
      sessions: openTestSessions(store, DEAD),
    });
    void hear(dead, callOf([userSays('x')]));
    await began.promise;
    const second = new ScriptedRelay(says('Done.'));
    const runtime = new FakeRuntime({ Task: () => 'again', [tool]: () => 'again' });
    const engine = await nativeEngine(second, runtime, '/', { sessions: openTestSessions(store) });
    const heard = await hear(engine, callOf([userSays('x')]));
    expect(heard.text).toBe('Done.');
    return { ran: runtime.ran, told: resultsIn(second.requests[0]) };
  }

  it('is not started again once it has changed something', async () => {
    const { ran, told: results } = await brokenIn('Edit');
    expect(ran).toEqual([]);
    expect(results).toEqual([['t', expect.stringContaining('may have run')]]);
  });

  it('is started again while it has only read', async () => {
    const { ran, told: results } = await brokenIn('Read');
    expect(ran).toEqual(['t']);
    expect(results).toEqual([['t', 'again']]);
  });
});

describe('a transcript that was made shorter before the gateway died', () => {
  it('is resumed, and everything that was said is replayed', async () => {
    const { store } = await memorySessions();
    const route = routeTo({ contextWindow: 8_000, maxSteps: 20 });
    const history: Message[] = Array.from({ length: 8 }, (_, n) => [
      userSays(`question ${n}`),
      { role: 'assistant' as const, content: [{ type: 'text' as const, text: `answer ${n}` }] },
    ]).flat();
    const request = callOf([...history, userSays('go')]);
    const long = 'lorem ipsum dolor '.repeat(400);
    let page = 0;
    const first = new ScriptedRelay(async function* ({ request: { tools } }) {
      if (tools.length === 0) yield says('NOTES').filter(({ type }) => type !== 'usage');
      else {
        const made = page < 6 ? calls(['Read', {}, `r${page}`]) : calls(['Edit', {}, 'e']);
        yield [{ type: 'text', text: `P${page}.` }, ...made.filter(({ type }) => type !== 'usage')];
        page += 1;
      }
    });
    const began = deferred<void>();
    const hanging: FakeTool = () => {
      began.resolve();
      return new Promise(() => {});
    };
    const dead = createNativeEngine({
      relay: first,
      runtime: new FakeRuntime({ Read: () => long, Edit: hanging }),
      log: QUIET_LOG,
      startDir: '/',
      home: '/',
      sessions: openTestSessions(store, DEAD),
    });
    void hear(dead, request, route);
    await began.promise;
    expect(JSON.stringify(first.requests.at(-1)?.messages)).toContain('NOTES');
    const second = new ScriptedRelay(says('Done.'));
    const runtime = new FakeRuntime({ Read: () => long, Edit: () => 'edited' });
    const engine = await nativeEngine(second, runtime, '/', { sessions: openTestSessions(store) });
    const heard = await hear(engine, request, route);
    expect(heard.text).toBe('P0.P1.P2.P3.P4.P5.P6.Done.');
    expect(runtime.ran).toEqual([]);
    expect(resultsIn(second.requests[0]).at(-1)).toEqual(['e', expect.stringContaining('may have run')]);
  });
});
