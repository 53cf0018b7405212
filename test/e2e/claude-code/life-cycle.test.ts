import { describe, expect, it } from 'vitest';
import {
  type Answered,
  claudeProcesses,
  contentOf,
  openWorld,
  result,
  says,
  tool,
  user,
  type World,
} from '../../support/claude-world.js';
import { allGone, descendants, type SeenProcess } from '../../support/processes.js';
import { call } from '../../support/wire.js';

const TOOLS = [tool('weather')];

interface Parked {
  messages: object[];
  answer: Answered;
  /** Its process. */
  own: readonly SeenProcess[];
}

async function park(world: World, city: string): Promise<Parked> {
  let own: SeenProcess[] = [];
  world.script(() => {
    // While it works for certain. Those behind it are spare ones, which stay.
    const [first] = claudeProcesses(world.root);
    own = descendants(process.pid).filter(({ pid }) => pid === first);
    return { parts: [call('mcp__gateway__weather', { city }, `toolu_${city}`)] };
  });
  const messages = [user(`Weather in ${city}?`)];
  const answer = await world.post({ messages, tools: TOOLS });
  return { messages: [...messages, { role: 'assistant', content: answer.body['content'] }], answer, own };
}

async function wake(world: World, city: string, messages: object[]): Promise<Answered> {
  world.script(says(`Fine in ${city}.`));
  return world.post({
    messages: [...messages, user([result(`toolu_${city}`, `sun in ${city}`)])],
    tools: TOOLS,
  });
}

describe('processes', { timeout: 90_000 }, () => {
  it('are at most as many as there may be, and who lost its own is woken right', async () => {
    const world = await openWorld({ sessions: { max_live: 1 } });
    const rome = await park(world, 'Rome');
    const before = claudeProcesses(world.root);
    const oslo = await park(world, 'Oslo');
    // A spare may have been among them, which the second conversation has now.
    const left = claudeProcesses(world.root);
    expect(before.filter((pid) => !left.includes(pid))).toHaveLength(1);
    for (const [city, { messages, answer }] of [
      ['Rome', rome],
      ['Oslo', oslo],
    ] as const) {
      const end = await wake(world, city, messages);
      expect(contentOf(end)).toEqual([{ type: 'text', text: `Fine in ${city}.` }]);
      expect(end.headers.get('x-session-id')).toBe(answer.headers.get('x-session-id'));
      const told = world.told(world.upstream.requests.length - 1).filter(({ role }) => role !== 'system');
      expect(told.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      expect(JSON.stringify(told.at(-1))).toContain(`sun in ${city}`);
    }
  });

  it('end when the client’s results do not come in time, and a late result wakes the conversation', async () => {
    const world = await openWorld({ sessions: { max_live: 8, tool_timeout_s: 1 } });
    const before = claudeProcesses(world.root).length;
    const { messages, own } = await park(world, 'Rome');
    expect([before, own.length]).toEqual([0, 1]);
    await allGone(own);
    expect(contentOf(await wake(world, 'Rome', messages))).toEqual([{ type: 'text', text: 'Fine in Rome.' }]);
  });

  it('are gone with the gateway', async () => {
    const world = await openWorld({ sessions: { max_live: 8 } });
    await park(world, 'Rome');
    await world.gateway.close();
    expect(claudeProcesses(world.root)).toEqual([]);
  });
});
