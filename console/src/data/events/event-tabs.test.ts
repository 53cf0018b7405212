import { describe, expect, it } from 'vitest';
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import { ManualBrowser, ManualClock, ManualGateway, settled } from '../../../../test/support/manual-world.js';
import { ScriptedGateway } from '../../../../test/support/scripted-gateway.js';
import type { StreamStatus } from './event-stream.js';
import { EventTabs, TAB_TIMES } from './event-tabs.js';

interface Tab {
  tabs: EventTabs;
  heard: string[];
  statuses: StreamStatus[];
  frozen: boolean;
}

class World {
  readonly clock = new ManualClock();
  readonly gateway = new ManualGateway();
  readonly browser = new ManualBrowser();
  readonly script = new ScriptedGateway();

  constructor() {
    this.script.begin('t1');
    this.gateway.snapshot = this.script.snapshot();
  }

  async open(shared = true): Promise<Tab> {
    const tab: Tab = {
      heard: [],
      statuses: [],
      frozen: false,
      tabs: new EventTabs(
        {
          ...this.clock,
          fetch: this.gateway.fetch,
          shared: shared ? this.browser.tab(() => tab.frozen) : undefined,
        },
        {
          onEvents: (events) => tab.heard.push(...events.map(({ id }) => id)),
          onStatus: (status) => tab.statuses.push(status),
        },
      ),
    };
    tab.tabs.start();
    await settled();
    return tab;
  }

  /** What the gateway says next; its snapshot is then of that moment. */
  async say(text: string): Promise<ConsoleEvent> {
    const event = this.script.chunk({ type: 'text', text });
    this.gateway.snapshot = this.script.snapshot();
    await this.gateway.stream.say(event);
    return event;
  }

  async begin(): Promise<void> {
    await this.gateway.stream.say(this.script.snapshot());
  }
}

describe('tabs of one browser', () => {
  it('have one connection between them, and hear the same', async () => {
    const world = new World();
    const first = await world.open();
    await world.begin();
    const second = await world.open();
    const third = await world.open();
    expect(world.gateway.streams).toHaveLength(1);
    expect([first, second, third].map(({ tabs }) => tabs.leads)).toEqual([true, false, false]);
    const said = await world.say('a');
    for (const { heard, statuses } of [first, second, third]) {
      expect(heard.at(-1)).toBe(said.id);
      expect(statuses.at(-1)).toBe('live');
    }
  });

  it('hand the connection on when the one with it closes, behind the last event', async () => {
    const world = new World();
    const first = await world.open();
    await world.begin();
    const second = await world.open();
    const said = await world.say('a');
    first.tabs.stop();
    await settled();
    expect(second.tabs.leads).toBe(true);
    expect(world.gateway.stream).toMatchObject({ isOpen: true, lastId: said.id });
    const next = await world.say('b');
    expect(second.heard.at(-1)).toBe(next.id);
    expect(first.heard).not.toContain(next.id);
  });

  it('begin with how things stand, and go on behind it', async () => {
    const world = new World();
    await world.open();
    await world.begin();
    await world.say('a');
    const late = await world.open();
    const now = world.gateway.snapshot?.id;
    expect(late.heard).toEqual([now]);
    const next = await world.say('b');
    expect(late.heard).toEqual([now, next.id]);
  });

  it('ask for everything anew where they have missed something', async () => {
    const world = new World();
    const leader = await world.open();
    await world.begin();
    const second = await world.open();
    second.frozen = true;
    await world.say('missed');
    second.frozen = false;
    const next = await world.say('b');
    expect(second.heard.at(-1)).toBe(next.id);
    expect(second.heard).toHaveLength(2);
    expect(leader.heard).toHaveLength(3);
  });

  it('each have their own connection where the browser cannot share', async () => {
    const world = new World();
    const [one, two] = [await world.open(false), await world.open(false)];
    expect(world.gateway.streams).toHaveLength(2);
    expect([one.tabs.leads, two.tabs.leads]).toEqual([true, true]);
  });

  it('take the place of one that is frozen', async () => {
    const world = new World();
    const first = await world.open();
    await world.begin();
    const second = await world.open();
    first.frozen = true;
    await world.clock.pass(TAB_TIMES.takeMs + TAB_TIMES.heartbeatMs * 2);
    expect(second.tabs.leads).toBe(true);
    expect(first.tabs.leads).toBe(false);
    const said = await world.say('a');
    expect(second.heard.at(-1)).toBe(said.id);
    first.frozen = false;
    const next = await world.say('b');
    expect(first.heard.at(-1)).toBe(next.id);
  });

  it('leave the place to one that is only quiet', async () => {
    const world = new World();
    const first = await world.open();
    await world.begin();
    const second = await world.open();
    world.gateway.status = 'gone';
    await world.gateway.stream.end();
    await world.clock.pass(TAB_TIMES.takeMs * 3);
    expect([first.tabs.leads, second.tabs.leads]).toEqual([true, false]);
    expect(second.statuses.at(-1)).toBe('lost');
  });

  it('all say when nobody is signed in, and all come back when somebody is', async () => {
    const world = new World();
    const first = await world.open();
    await world.begin();
    const second = await world.open();
    world.gateway.status = 401;
    first.tabs.reconnect();
    await settled();
    expect([first.statuses.at(-1), second.statuses.at(-1)]).toEqual(['signed-out', 'signed-out']);
    world.gateway.status = 200;
    second.tabs.reconnect();
    await settled();
    await world.say('a');
    expect([first.statuses.at(-1), second.statuses.at(-1)]).toEqual(['live', 'live']);
  });

  it('take the snapshot of the node that the leader is connected to, whichever node answers first', async () => {
    const world = new World();
    await world.open();
    await world.begin();
    const ofLeader = world.gateway.snapshot;
    const other = new ScriptedGateway();
    other.begin('elsewhere');
    world.gateway.snapshot = { ...other.snapshot(), id: 'beef.7' };
    const second = await world.open();
    world.clock.pass(TAB_TIMES.aloneMs);
    await settled();
    world.gateway.snapshot = ofLeader;
    const said = await world.say('a');
    await settled();
    expect(world.gateway.asked.at(-1)).toContain(`last_event_id=${said.id}`);
    expect(second.tabs.leads).toBe(false);
    expect(second.heard.at(-1)).toBe(said.id);
    await world.say('b');
    await settled();
    // It follows from then on.
    expect(world.gateway.asked).toHaveLength(2);
  });
});
