/**
 * A wire between a browser and a gateway that can be cut and mended. The gateway behind it needs `server.public_hosts: ['127.0.0.1']`.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { closeAfterTest } from './cleanup.js';

export interface CutProxy {
  /** The origin, without a slash at the end. */
  url: string;
  /** Everything that is open breaks, and nothing new gets through. */
  cut(): void;
  mend(): void;
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const port = Number(new URL(target).port);
  let whole = true;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (!whole) {
      client.destroy();
      return;
    }
    const gateway = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
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
    url: `http://127.0.0.1:${address.port}`,
    cut() {
      whole = false;
      drop();
    },
    mend() {
      whole = true;
    },
  };
}
