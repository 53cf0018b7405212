/** An agent whose servers have more tools than a prompt should carry. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { manyTools } from '../../../test/support/many-tools.js';
import {
  CRASHED,
  callOf,
  calls,
  createNativeEngine,
  FakeRuntime,
  frozenAfter,
  hear,
  nativeEngine,
  openTestSessions,
  QUIET_LOG,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../test/support/native-engine-bench.js';
import type { ConversationRequest } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { LossLog } from '../../core/losses.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import { openaiResponses } from '../../dialects/openai-responses/index.js';
import { STANDARD_QUIRKS } from '../../dialects/shared/quirks.js';
import { ownerOf } from '../../sessions/persistence/lease-keeper.js';
import { openStore } from '../../store/open/open-store.js';

const folder = async () => (await tempFolder()).path;

const MANY = manyTools(120);
const ISSUE = 'mcp__github__create_issue';
const CHANNEL = 'mcp__slack__list_branch';

function runtime(): FakeRuntime {
  const tools = Object.fromEntries(
    ['Read', ...MANY.map(({ name }) => name)].map((name) => [name, () => 'ok']),
  );
  return new FakeRuntime(tools);
}

const SCRIPT: readonly (readonly ModelEvent[])[] = [
  calls(['tool_search', { query: 'create github issue', max_results: 1 }, 's1']),
  calls([ISSUE, { issue_id: '1' }, 'i1']),
  calls(['tool_search', { query: 'list slack branch', max_results: 1 }, 's2']),
  calls([CHANNEL, { branch_id: '1' }, 'c1']),
  says('Done.'),
];

const brain = () =>
  new ScriptedRelay(async function* ({ request }) {
    const said = request.messages.filter(({ role }) => role === 'assistant').length;
    for (const event of SCRIPT[said] ?? says('And done.')) yield [event];
  });

/** The tools of a request as an upstream of the wire gets them. */
function sentTools(request: ConversationRequest, egress = openaiChat.egress, toolSearch = false): unknown[] {
  const quirks = { ...STANDARD_QUIRKS, toolSearch };
  const { body } = egress.encodeRequest(request, { model: 'm', quirks, losses: new LossLog() });
  return Array.isArray(body['tools']) ? body['tools'] : [];
}

const text = (tools: readonly unknown[]) => tools.map((tool) => JSON.stringify(tool));
const nameOf = (tool: string) => /"name":"([^"]+)"/.exec(tool)?.[1];

describe('an agent with 120 tools of servers', () => {
  it('sends those that it found, at the end of those that it sent before', async () => {
    const relay = brain();
    const tools = runtime();
    const engine = await nativeEngine(relay, tools, await folder());
    expect((await hear(engine, callOf([userSays('go')]))).text).toBe('Done.');
    expect(tools.ran).toEqual(['i1', 'c1']);
    const sent = relay.requests.map((request) => text(sentTools(request)));
    expect(sent.map((list) => list.map(nameOf))).toEqual([
      ['Read', 'tool_search'],
      ['Read', 'tool_search', ISSUE],
      ['Read', 'tool_search', ISSUE],
      ['Read', 'tool_search', ISSUE, CHANNEL],
      ['Read', 'tool_search', ISSUE, CHANNEL],
    ]);
    for (const [index, list] of sent.entries()) {
      const before = sent[index - 1] ?? [];
      expect(list.slice(0, before.length)).toEqual(before);
    }
  });

  it('leaves the loading to an upstream that can, with a list that never changes', async () => {
    const relay = brain();
    const engine = await nativeEngine(relay, runtime(), await folder());
    await hear(engine, callOf([userSays('go')]));
    const sent = relay.requests.map((request) => text(sentTools(request, anthropicMessages.egress, true)));
    expect(new Set(sent.map((list) => list.join('\n'))).size).toBe(1);
    expect(sent[0]?.filter((tool) => tool.includes('"defer_loading":true'))).toHaveLength(120);
    expect(sent[0]?.filter((tool) => !tool.includes('"defer_loading"')).map(nameOf)).toEqual([
      'Read',
      'tool_search',
    ]);
    const last = relay.requests.at(-1);
    const { body } = anthropicMessages.egress.encodeRequest(last ?? callOf([]).request, {
      model: 'm',
      quirks: { ...STANDARD_QUIRKS, toolSearch: true },
      losses: new LossLog(),
    });
    expect(JSON.stringify(body['messages'])).toContain(`{"type":"tool_reference","tool_name":"${ISSUE}"}`);
  });

  it('gives what it found with the result of its search, where the wire has one', async () => {
    const relay = brain();
    const engine = await nativeEngine(relay, runtime(), await folder());
    await hear(engine, callOf([userSays('go')]));
    const bodies = relay.requests.map((request) => {
      const quirks = { ...STANDARD_QUIRKS, toolSearch: true };
      return openaiResponses.egress.encodeRequest(request, { model: 'm', quirks, losses: new LossLog() })
        .body;
    });
    const items = bodies.map(({ input }) => text(Array.isArray(input) ? input : []));
    expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
    expect(bodies[0]?.['tools']).toMatchObject([
      { type: 'function', name: 'Read' },
      { type: 'tool_search', execution: 'client', parameters: { required: ['query'] } },
    ]);
    for (const [index, list] of items.entries()) {
      const before = items[index - 1] ?? [];
      expect(list.slice(0, before.length)).toEqual(before);
    }
    const outputs = items.at(-1)?.filter((item) => item.includes('"type":"tool_search_output"'));
    expect(outputs?.map(nameOf)).toEqual([ISSUE, CHANNEL]);
  });

  it('tells an upstream that cannot in words, and sends no field that it does not know', async () => {
    const relay = brain();
    const engine = await nativeEngine(relay, runtime(), await folder());
    await hear(engine, callOf([userSays('go')]));
    const last = relay.requests.at(-1);
    const { body } = anthropicMessages.egress.encodeRequest(last ?? callOf([]).request, {
      model: 'm',
      quirks: STANDARD_QUIRKS,
      losses: new LossLog(),
    });
    const sent = JSON.stringify(body);
    expect(sent).toContain(`[The tool ${ISSUE} can be called now.]`);
    expect(sent).not.toMatch(/defer_loading|tool_reference|\$own/);
  });

  it('keeps what one conversation found from another', async () => {
    const relay = brain();
    const engine = await nativeEngine(relay, runtime(), await folder());
    await hear(engine, callOf([userSays('go')]));
    const asked = relay.requests.length;
    await hear(engine, callOf([userSays('something else')]));
    const fresh = relay.requests[asked];
    expect(fresh && text(sentTools(fresh)).map(nameOf)).toEqual(['Read', 'tool_search']);
  });

  it('defers tools of the client as well, and hands a found one back', async () => {
    const relay = new ScriptedRelay(
      calls(['tool_search', { query: 'own_55', max_results: 1 }, 's1']),
      calls(['own_55', {}, 'o1']),
    );
    const own = Array.from({ length: 60 }, (_, index) => ({ name: `own_${index}` }));
    const engine = await nativeEngine(relay, new FakeRuntime({ Read: () => '' }), await folder());
    const heard = await hear(engine, callOf([userSays('go')], { tools: own }));
    expect(heard).toMatchObject({ stop: 'tool_use', calls: ['o1'] });
    expect(relay.requests.map((request) => text(sentTools(request)).length)).toEqual([12, 13]);
  });

  it('sends all of them where the model says so', async () => {
    const relay = new ScriptedRelay(says('Fine.'));
    const engine = await nativeEngine(relay, runtime(), await folder());
    await hear(engine, callOf([userSays('go')]), routeTo({ toolSearch: 'off' }));
    expect(relay.requests[0]?.tools).toHaveLength(121);
  });

  it('counts only what it sends', async () => {
    const relay = new ScriptedRelay(says('Fine.'));
    const engine = await nativeEngine(relay, runtime(), await folder());
    await engine.countTokens(callOf([userSays('go')]), routeTo());
    expect(relay.requests.map((request) => text(sentTools(request)).map(nameOf))).toEqual([
      ['Read', 'tool_search'],
    ]);
  });

  it('has its tools again after a crash, at every third write', async () => {
    const dead = ownerOf(2 ** 22 + 1);
    const stores = await folder();
    let crashes = 0;
    for (let writes = 1; ; writes += 3) {
      const url = `sqlite:${join(stores, `crash-${writes}.db`)}`;
      const start = async (limit: number) => {
        const opened = await openStore(url, { baseDir: '/' });
        closeAfterTest(() => opened.close());
        const { store, frozen } = frozenAfter(opened, limit);
        const sessions = openTestSessions(store, Number.isFinite(limit) ? dead : undefined);
        const relay = brain();
        const parts = { relay, runtime: runtime(), log: QUIET_LOG, startDir: '/', home: '/', sessions };
        return { engine: createNativeEngine(parts), frozen, relay };
      };
      const first = await start(writes);
      const question = callOf([userSays('go')]);
      const heard = await Promise.race([hear(first.engine, question, routeTo()), first.frozen]);
      if (heard !== CRASHED) break;
      crashes += 1;
      const second = await start(Number.POSITIVE_INFINITY);
      const again = await hear(second.engine, question, routeTo());
      expect(again.text).toBe('Done.');
      const last = second.relay.requests.at(-1) ?? first.relay.requests.at(-1);
      expect(last && text(sentTools(last)).map(nameOf)).toEqual(['Read', 'tool_search', ISSUE, CHANNEL]);
    }
    expect(crashes).toBeGreaterThan(3);
  });
});
