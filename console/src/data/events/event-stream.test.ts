import { describe, expect, it } from 'vitest';
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import { ManualClock, ManualGateway, settled } from '../../../../test/support/manual-world.js';
import { ScriptedGateway } from '../../../../test/support/scripted-gateway.js';
import { EventStream, STREAM_TIMES, type StreamStatus } from './event-stream.js';

const RETRY_MS = STREAM_TIMES.firstRetryMs;

async function connect(lastId: string | null = null) {
  const clock = new ManualClock();
  const gateway = new ManualGateway();
  const heard: ConsoleEvent[] = [];
  const statuses: StreamStatus[] = [];
  const stream = new EventStream(
    { ...clock, fetch: gateway.fetch },
    { onEvents: (events) => heard.push(...events), onStatus: (status) => statuses.push(status) },
    lastId,
  );
  const script = new ScriptedGateway();
  script.begin('t1');
  script.chunk({ type: 'text', text: 'a' });
  script.chunk({ type: 'text', text: 'b' });
  script.chunk({ type: 'text', text: 'c' });
  const [snapshot, ...events] = script.events;
  if (snapshot === undefined) throw new Error('There is no snapshot');
  stream.start();
  await settled();
  const at = (index: number): ConsoleEvent => {
    const event = events[index];
    if (event === undefined) throw new Error(`There is no event ${index}`);
    return event;
  };
  return { clock, gateway, heard, statuses, stream, snapshot, at, ids: () => heard.map(({ id }) => id) };
}

describe('the connection to the events', () => {
  it('is live with the first snapshot, and gives out what follows it', async () => {
    const { gateway, statuses, snapshot, at, ids } = await connect();
    expect(gateway.stream).toMatchObject({ path: '/api/events', lastId: null });
    expect(statuses).toEqual([]);
    await gateway.stream.say(snapshot);
    await gateway.stream.say(at(0), at(1));
    expect(ids()).toEqual([snapshot.id, at(0).id, at(1).id]);
    expect(statuses).toEqual(['live']);
  });

  it('hears what is repeated once', async () => {
    const { gateway, snapshot, at, ids } = await connect();
    await gateway.stream.say(snapshot, at(0), at(0), at(1), at(0), snapshot);
    expect(ids()).toEqual([snapshot.id, at(0).id, at(1).id]);
    expect(gateway.streams).toHaveLength(1);
  });

  it('connects again behind the last good event when one is missing or comes too early', async () => {
    const { clock, gateway, snapshot, at, ids } = await connect();
    const first = gateway.stream;
    await first.say(snapshot, at(0), at(2), at(1));
    expect(first.isOpen).toBe(false);
    expect(ids()).toEqual([snapshot.id, at(0).id]);
    await clock.pass(RETRY_MS);
    expect(gateway.stream).toMatchObject({ lastId: at(0).id });
    await gateway.stream.say(at(1), at(2));
    expect(ids()).toEqual([snapshot.id, at(0).id, at(1).id, at(2).id]);
  });

  it('asks for everything anew when gaps do not end', async () => {
    const { clock, gateway, snapshot, at } = await connect();
    await gateway.stream.say(snapshot);
    for (let round = 0; round < 3; round++) {
      await gateway.stream.say(at(2));
      await clock.pass(STREAM_TIMES.longestRetryMs);
    }
    expect(gateway.stream.lastId).toBeNull();
  });

  it('goes on from a snapshot of another life of the gateway', async () => {
    const { gateway, snapshot, at, ids } = await connect();
    await gateway.stream.say(snapshot, at(0));
    const reborn = { ...snapshot, id: 'e2.0' };
    await gateway.stream.say(reborn, { ...at(0), id: 'e2.1', prev: 'e2.0' });
    expect(ids()).toEqual([snapshot.id, at(0).id, 'e2.0', 'e2.1']);
  });

  it('does not take an event of another life without its snapshot', async () => {
    const { gateway, snapshot, at, ids } = await connect();
    const { stream } = gateway;
    await stream.say(snapshot, { ...at(0), id: 'e2.1', prev: 'e2.0' });
    expect(ids()).toEqual([snapshot.id]);
    expect(stream.isOpen).toBe(false);
  });

  it('takes a connection that says nothing for dead', async () => {
    const { clock, gateway, snapshot } = await connect();
    const { stream } = gateway;
    await stream.say(snapshot);
    await clock.pass(STREAM_TIMES.silenceMs - 1);
    expect(stream.isOpen).toBe(true);
    await clock.pass(1 + RETRY_MS);
    expect(stream.isOpen).toBe(false);
    expect(gateway.stream).toMatchObject({ isOpen: true, lastId: snapshot.id });
  });

  it('tries later each time, and says after the first time that the connection is lost', async () => {
    const { clock, gateway, statuses, snapshot } = await connect();
    await gateway.stream.say(snapshot);
    gateway.status = 'gone';
    await gateway.stream.end();
    expect(statuses.at(-1)).toBe('connecting');
    await clock.pass(RETRY_MS);
    expect(statuses.at(-1)).toBe('lost');
    gateway.status = 200;
    await clock.pass(RETRY_MS / 2);
    expect(gateway.streams).toHaveLength(1);
    await clock.pass(STREAM_TIMES.longestRetryMs);
    expect(gateway.streams).toHaveLength(2);
    await gateway.stream.say({ ...snapshot, id: 'e1.9' });
    expect(statuses.at(-1)).toBe('live');
  });

  it('connects at once when it is asked to, and when the page is looked at while it waits', async () => {
    const { clock, gateway, stream, snapshot } = await connect();
    await gateway.stream.say(snapshot);
    await gateway.stream.end();
    stream.check();
    await settled();
    expect(gateway.streams).toHaveLength(2);
    stream.check();
    await settled();
    expect(gateway.streams).toHaveLength(2);
    stream.reconnect();
    await settled();
    expect(gateway.streams).toHaveLength(3);
    expect(gateway.streams.map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
    await clock.pass(STREAM_TIMES.doubtMs + 1);
    stream.check();
    await settled();
    expect(gateway.streams).toHaveLength(4);
  });

  it('tells a refused sign-in from a lost network, and does not knock again by itself', async () => {
    const { clock, gateway, statuses, stream } = await connect();
    gateway.status = 401;
    stream.reconnect();
    await settled();
    expect(statuses).toEqual(['signed-out']);
    gateway.status = 200;
    await clock.pass(60_000);
    expect(gateway.streams).toHaveLength(1);
    stream.reconnect();
    await settled();
    expect(gateway.streams).toHaveLength(2);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { clock, gateway, stream } = await connect();
    stream.stop();
    expect(gateway.stream.isOpen).toBe(false);
    expect(clock.waiting).toBe(0);
    await clock.pass(60_000);
    expect(gateway.streams).toHaveLength(1);
  });
});
