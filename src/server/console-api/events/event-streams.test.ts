import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../../../test/support/cleanup.js';
import { clientClosed, Exchange } from '../../http/exchange.js';
import { EventStreams } from './event-streams.js';
import { EventHub } from './hub.js';
import type { EventLimits } from './limits.js';

const LOG = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
/** More than a connection on this machine holds for a reader that takes nothing. */
const LARGE = 16 * 1024 * 1024;
const LIMITS = { turnChars: 2 * LARGE, snapshotBytes: 2 * LARGE };

/** The streams alone on a real server: the key is the path, and time stands still. */
async function start(limits: Partial<EventLimits> = {}) {
  const time = { now: 0 };
  const approvals = { list: async () => ({ items: [] }), subscribe: () => () => {} };
  const hub = new EventHub({ approvals, log: LOG, now: () => time.now, limits: { ...LIMITS, ...limits } });
  const streams = new EventStreams({
    ...{ hub, isStill: () => true, now: () => time.now },
    approvals: { attend: () => () => {}, seen: () => {} },
  });
  const started: { name: string; over: Promise<void> }[] = [];
  let onStart = () => {};
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    const exchange = new Exchange({
      ...{ id: 'req', request, response, path: '/', query: '', awaitsContinue: false },
      encodeError: () => ({}),
    });
    exchange.principal = { name, scopes: ['call'], models: [] };
    response.on('close', () => exchange.abort(clientClosed()));
    const over = streams.serve(exchange, undefined).catch((error: unknown) => {
      response.writeHead(429).end(String(error));
    });
    started.push({ name, over });
    onStart();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  closeAfterTest(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
  });
  /** A connection that is at its first pieces; it takes nothing until it is read. */
  const open = async (name: string): Promise<{ socket: Socket; over: Promise<void> }> => {
    const began = new Promise<void>((resolve) => {
      onStart = resolve;
    });
    const socket = connect({ port, host: '127.0.0.1' });
    closeAfterTest(() => void socket.destroy());
    socket.on('error', () => {});
    socket.pause();
    socket.write(`GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await began;
    const over = started.at(-1)?.over ?? Promise.resolve();
    await once(socket, 'readable');
    return { socket, over };
  };
  return { hub, streams, time, open };
}

function say(hub: EventHub, principal: string, chars: number) {
  const turn = hub.begin({ id: principal, session: 's', principal, model: 'm', message: [] });
  turn.observe({ session: 's', type: 'text', text: 'x'.repeat(chars) });
  return turn;
}

/** Reads on, until `end` came. */
async function readUntil(socket: Socket, end: string): Promise<void> {
  let last = '';
  for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
    last = (last + String(bytes)).slice(-2000);
    if (last.includes(end)) return;
  }
  throw new Error(`The connection ended without ${end}.`);
}

describe('EventStreams', () => {
  it('disconnects the reader that reads nothing of its snapshot, and no other', async () => {
    const { hub, streams, time, open } = await start({ stallMs: 1000 });
    const turn = say(hub, 'alice', LARGE);
    const lazy = await open('alice');
    const [good, idle] = [await open('alice'), await open('bob')];
    turn.observe({ session: 's', type: 'text', text: 'one' });
    await readUntil(good.socket, '"one"');
    time.now = 999;
    streams.relieve();
    expect(streams.size).toBe(3);
    time.now = 1000;
    streams.relieve();
    await lazy.over;
    expect(streams.size).toBe(2);
    turn.observe({ session: 's', type: 'text', text: 'two' });
    await readUntil(good.socket, '"two"');
    hub.publish(null, { type: 'mcp', server: 'docs', state: 'connected' });
    await readUntil(idle.socket, '"connected"');
  });

  it('keeps a slow reader as long as it reads something', async () => {
    const { hub, streams, time, open } = await start({ stallMs: 2000 });
    say(hub, 'alice', 1.5 * LARGE).observe({ session: 's', type: 'text', text: 'the end' });
    const { socket } = await open('alice');
    let taken = 0;
    let last = '';
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      taken += bytes.length;
      last = (last + String(bytes)).slice(-2000);
      if (last.includes('the end')) break;
      if (taken < 4 * 1024 * 1024) continue;
      taken = 0;
      time.now += 600;
      streams.relieve();
    }
    expect(last).toContain('the end');
    expect(time.now).toBeGreaterThan(2000);
    expect(streams.size).toBe(1);
  });

  it('holds one snapshot for all readers that wait for it', async () => {
    const { hub, streams, open } = await start();
    say(hub, 'alice', LARGE);
    await open('alice');
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 7; count += 1) await open('alice');
    expect(streams.size).toBe(8);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * LARGE);
  });

  it('disconnects the longest stalled readers first when too many bytes wait', async () => {
    const { hub, streams, time, open } = await start({ waitingBytes: 2.5 * LARGE });
    const [oldest, second] = ['a', 'b', 'c'].map((name) => {
      say(hub, name, LARGE);
      return name;
    });
    const first = [await open(oldest ?? ''), await open(oldest ?? '')];
    time.now = 1;
    await open(second ?? '');
    // The two of one key wait for the same bytes.
    expect(streams.size).toBe(3);
    time.now = 2;
    await open('c');
    await Promise.all(first.map(({ over }) => over));
    expect(streams.size).toBe(2);
  });

  it('refuses readers beyond the limit over all keys', async () => {
    const { open, streams } = await start({ readers: 2 });
    await open('a');
    await open('b');
    const { socket } = await open('c');
    expect(String(socket.read())).toContain('2 readers of events are connected here already');
    expect(streams.size).toBe(2);
  });
});
