/**
 * The wire to a node or to a database: its address is known before what it leads to is, everything that goes in is
 * seen, and it can be cut or made slow.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { closeAfterTest } from './cleanup.js';

export interface NodeWire {
  readonly port: number;
  /** The origin, without a slash at the end. */
  readonly url: string;
  /** What was sent to the node. */
  readonly seen: string;
  /** From now on it leads to that port of this machine. */
  leadTo(port: number): void;
  /** Everything that is open breaks, and nothing new gets through. */
  cut(): void;
  mend(): void;
  /** Everything takes so much longer; 0: as it was. */
  slow(ms: number): void;
}

export async function startNodeWire(): Promise<NodeWire> {
  const open = new Set<Socket>();
  const seen: Buffer[] = [];
  let target: number | undefined;
  let isCut = false;
  let slowMs = 0;
  const pass = (from: Socket, to: Socket): void => {
    let last: Promise<void> | undefined;
    open.add(from);
    from.on('data', (chunk: Buffer) => {
      const write = () => void (to.destroyed || to.write(chunk));
      if (slowMs === 0 && last === undefined) return write();
      // In their order, also when it is quick again.
      const mine = Promise.all([last, pause(slowMs)]).then(write);
      last = mine;
      void mine.then(() => {
        if (last === mine) last = undefined;
      });
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      void (last ?? Promise.resolve()).then(() => to.destroy());
    });
  };
  const server = createServer((client) => {
    if (target === undefined || isCut) {
      client.destroy();
      return;
    }
    const node = connect(target, '127.0.0.1');
    client.on('data', (chunk: Buffer) => seen.push(chunk));
    pass(client, node);
    pass(node, client);
  });
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => {
    server.close();
    drop();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port');
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    get seen() {
      return Buffer.concat(seen).toString('latin1');
    },
    leadTo(port) {
      target = port;
    },
    cut() {
      isCut = true;
      drop();
    },
    mend() {
      isCut = false;
    },
    slow(ms) {
      slowMs = ms;
    },
  };
}
