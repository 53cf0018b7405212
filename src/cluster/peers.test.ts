import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AnswerPeer, PEER, startPeer } from '../../test/support/peer-node.js';
import type { ClusterNode } from '../store/nodes.js';
import { NODE_LIMITS } from './membership.js';
import { OwnedIds } from './owned-ids.js';
import type { Peers } from './peers.js';

const { lostMs, beatMs } = NODE_LIMITS;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const send = (peers: Peers, node: ClusterNode) =>
  peers.send(node, {
    ...{ id: 'req_1', principal: 'alice', method: 'GET', path: '/v1/x', headers: {} },
    signal: new AbortController().signal,
  });

const streams: AnswerPeer = (_claim, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: 1\n\n');
};

/** The first piece is read. */
async function streaming({ peers, node }: Awaited<ReturnType<typeof startPeer>>) {
  const { body } = await send(peers, node);
  expect(String((await body.next()).value)).toBe('data: 1\n\n');
  const end = { isThere: false };
  const reason = body.next().then(
    () => 'more came',
    (error: Error & { detail?: string }) => {
      end.isThere = true;
      return error.detail;
    },
  );
  return { end, reason };
}

const away = () => Promise.reject(new Error('the database is away'));

describe('a node that is not heard of', () => {
  it('is lost, and its streams end, where the store has answered all the time', async () => {
    const peer = await startPeer(streams);
    await pass(lostMs + 2 * beatMs);
    const { reason } = await streaming(peer);
    expect(await peer.peers.isLost(PEER)).toBe(false);
    peer.table.list = async () => [];
    expect(await peer.peers.isLost(PEER)).toBe(true);
    expect(await peer.peers.find({ owner: PEER })).toBeUndefined();
    expect(await reason).toBe('node_lost');
  });

  for (const [how, list] of [
    ['failed', away],
    ['was silent', () => new Promise<never>((_resolve, reject) => setTimeout(reject, 2 * lostMs))],
  ] as const) {
    it(`is not lost yet, and goes on with its streams, where the store ${how} meanwhile`, async () => {
      const peer = await startPeer(streams);
      await pass(lostMs + 2 * beatMs);
      const { end, reason } = await streaming(peer);
      peer.table.list = list;
      await pass(2 * lostMs + beatMs);
      peer.table.list = async () => [];
      await pass(beatMs);
      expect(await peer.peers.isLost(PEER)).toBe(false);
      expect(await peer.peers.find({ owner: PEER })).toEqual(peer.node);
      expect(end.isThere).toBe(false);
      await pass(lostMs + beatMs);
      expect(await peer.peers.isLost(PEER)).toBe(true);
      expect(await reason).toBe('node_lost');
    });
  }

  it('is not lost to a node that was itself stopped for a while', async () => {
    const peer = await startPeer(streams);
    await pass(lostMs + 2 * beatMs);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + lostMs);
    peer.table.list = async () => [];
    expect(await peer.peers.isLost(PEER)).toBe(false);
  });

  it('is not lost to a node that has just begun to look', async () => {
    const peer = await startPeer(streams);
    peer.table.list = async () => [];
    expect(await peer.peers.isLost(PEER)).toBe(false);
  });
});

it('a stream that misses its pings ends, where its path drops packets without a word', async () => {
  const peer = await startPeer(streams);
  const { end, reason } = await streaming(peer);
  await pass(59_000);
  expect(end.isThere).toBe(false);
  await pass(1000);
  expect(await reason).toBe('node_lost');
});

it('a request that was sent before says so in its claim, and no other does', async () => {
  const seen: unknown[] = [];
  const { peers, node } = await startPeer(({ again }, response) => {
    seen.push(again);
    response.end('{}');
  });
  const request = { id: 'r', principal: 'alice', method: 'GET', path: '/x', headers: {} } as const;
  const { signal } = new AbortController();
  await (await peers.send(node, { ...request, signal, again: true })).body.return();
  await (await peers.send(node, { ...request, signal, again: false })).body.return();
  expect(seen).toEqual([true, undefined]);
});

describe('what one node alone has', () => {
  it('is found at that node by its id, and gone with it', async () => {
    const { peers, table } = await startPeer(streams);
    const theirs = new OwnedIds('secret-of-the-nodes', PEER).issue('alice');
    expect(await peers.holderOf(theirs, 'alice')).toMatchObject({ instance: PEER });
    expect(await peers.holderOf(theirs, 'bob')).toBe('unknown');
    expect(await peers.holderOf('made-up', 'alice')).toBe('unknown');
    expect(await peers.holderOf(peers.issueId('alice'), 'alice')).toBe('here');
    await pass(lostMs + 2 * beatMs);
    table.list = async () => [];
    expect(await peers.holderOf(theirs, 'alice')).toBe('gone');
  });
});
