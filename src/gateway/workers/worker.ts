/** A worker: a gateway that gets its connections from the primary, and ends with it. */
import { Socket } from 'node:net';
import { deferred } from '../../core/deferred.js';
import { type Gateway, startGateway } from '../open-gateway.js';
import { type FromWorker, type ToWorker, WORKER_MARK, type WorkerSetup } from './messages.js';

/** Whether this process is a worker. Its own children are not. */
export function isWorker(env: NodeJS.ProcessEnv): boolean {
  const mark = env[WORKER_MARK];
  delete env[WORKER_MARK];
  return mark === String(process.ppid) && process.send !== undefined;
}

/** Resolves with the exit code. `explain`: the text of an error for a person, and the exit code. */
export async function runWorker(
  explain: (error: unknown) => { message: string; code: number },
): Promise<number> {
  const wire = new PrimaryWire();
  let gateway: Gateway | undefined;
  // Without a primary no more connections come, so the worker stops at any point.
  let isAlone = false;
  process.once('disconnect', () => {
    isAlone = true;
    gateway?.close().catch(() => {});
  });
  const setup = await wire.open();
  if (isAlone) return 0;
  try {
    gateway = await open(setup, wire);
  } catch (error) {
    const { message, code } = explain(error);
    await wire.send({ type: 'failed', message, code });
    wire.close();
    return code;
  }
  if (isAlone) gateway.close().catch(() => {});
  await gateway.finished;
  wire.close();
  return 0;
}

async function open(setup: WorkerSetup, wire: PrimaryWire): Promise<Gateway> {
  const { loaded, overrides, role, logLevel, version } = setup;
  const figuresOfAll = (own: string) => wire.figuresOfAll(own);
  const gateway = await startGateway({
    ...{ loaded, overrides, logLevel, version, env: process.env, signals: true },
    worker: {
      ...{ role, figuresOfAll },
      onReloaded: ({ locate: _, ...reloaded }) => void wire.send({ type: 'configured', loaded: reloaded }),
    },
  });
  // A file that is invalid by now leaves the last one in force.
  if (setup.isReplacement) await gateway.reload('the start of a worker').catch(() => {});
  wire.serve(gateway);
  await wire.send({ type: 'listening', url: gateway.url, consoleUrl: gateway.consoleUrl });
  return gateway;
}

class PrimaryWire {
  readonly #setup = deferred<WorkerSetup>();
  readonly #asked = new Map<number, (text: string) => void>();
  #next = 0;
  #gateway: Gateway | undefined;
  readonly #listen = (message: ToWorker, socket?: unknown) => this.#on(message, socket);

  open(): Promise<WorkerSetup> {
    process.on('message', this.#listen);
    void this.send({ type: 'up' });
    return this.#setup.promise;
  }

  serve(gateway: Gateway): void {
    this.#gateway = gateway;
  }

  /** Never rejects, also when the primary is gone. */
  send(message: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  /** Those of this process alone where the primary is gone. */
  figuresOfAll(own: string): Promise<string> {
    return new Promise((resolve) => {
      if (!process.connected) {
        resolve(own);
        return;
      }
      const id = this.#next++;
      const give = (text: string) => {
        this.#asked.delete(id);
        process.off('disconnect', alone);
        resolve(text);
      };
      const alone = () => give(own);
      process.once('disconnect', alone);
      this.#asked.set(id, give);
      void this.send({ type: 'ask-figures', id });
    });
  }

  close(): void {
    process.off('message', this.#listen);
    if (process.connected) process.disconnect();
  }

  #on(message: ToWorker, socket: unknown): void {
    switch (message.type) {
      case 'open':
        this.#setup.resolve(message.setup);
        break;
      case 'connection':
        this.#take(message.id, socket);
        break;
      case 'figures':
        void this.#tellFigures(message.id);
        break;
      case 'all-figures':
        this.#asked.get(message.id)?.(message.text);
        break;
      case 'reload':
        this.#gateway?.reload(message.by).catch(() => {});
        break;
      case 'stop':
        // What could not be closed is logged, and ends with the process.
        this.#gateway?.close().catch(() => {});
        break;
    }
  }

  #take(id: number, socket: unknown): void {
    void this.send({ type: 'taken', id });
    const closed = () => void this.send({ type: 'closed' });
    if (!(socket instanceof Socket) || socket.destroyed) {
      closed();
      return;
    }
    socket.once('close', closed);
    if (this.#gateway === undefined) socket.destroy();
    else this.#gateway.take(socket);
  }

  async #tellFigures(id: number): Promise<void> {
    const text = (await this.#gateway?.figures()) ?? '';
    await this.send({ type: 'figures', id, text });
  }
}
