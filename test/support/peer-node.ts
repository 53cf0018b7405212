/** A node for the tests of who forwards to it: a server that has the secret, and a table that names it. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ClaimReader,
  FORWARD_HEADER,
  type ForwardClaim,
  PROOF_HEADER,
  proofOf,
} from '../../src/cluster/forward-claim.js';
import { Peers } from '../../src/cluster/peers.js';
import type { ClusterNode, NodeStore } from '../../src/store/nodes.js';
import { closeAfterTest } from './cleanup.js';

const SECRET = 'secret-of-the-nodes';
export const PEER = 'host/1/2/b';

export type AnswerPeer = (claim: ForwardClaim, response: ServerResponse) => void;

/** The answer carries the proof already. `table.list` may be changed, to fail or to name others. */
export async function startPeer(answer: AnswerPeer) {
  const reader = new ClaimReader(SECRET, PEER, Date.now);
  const server = createServer(({ headers, method = '', url = '' }, response) => {
    const claim = reader.read(String(headers[FORWARD_HEADER]), { method, path: url });
    if (claim === undefined) return void response.writeHead(401).end();
    response.setHeader(PROOF_HEADER, proofOf(SECRET, claim.nonce));
    answer(claim, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const node: ClusterNode = {
    ...{ name: 'b', instance: PEER, address: `http://127.0.0.1:${port}`, version: '1' },
    ...{ secretCheck: '', workspaces: [], silentMs: 0 },
  };
  const table: Pick<NodeStore, 'list'> = { list: async () => [node] };
  const nodes: NodeStore = {
    join: async () => ({ joined: true, clockMs: 0 }),
    beat: async () => 0,
    leave: async () => {},
    list: (lostMs) => table.list(lostMs),
    suspend: () => {},
  };
  const log = { warn: () => {} };
  const peers = new Peers({
    ...{ nodes, name: 'a', instance: 'host/1/1/a', secret: SECRET, log },
    isGone: () => false,
  });
  closeAfterTest(async () => {
    await peers.close();
    server.closeAllConnections();
    server.close();
  });
  return { node, peers, table };
}
