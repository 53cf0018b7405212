/**
 * Several processes on one port. This one accepts connections, gives each to the worker that has the fewest, and
 * starts workers again that end. It opens no store and answers nothing itself.
 *
 * Not `node:cluster`: there every server that a worker opens is shared with the others, those of the sandbox too.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { deferred } from '../../core/deferred.js';
import { GatewayError } from '../../core/errors.js';
import { createLog, type GatewayLog } from '../../observability/log.js';
import { countersOf, mergeFigures } from '../../observability/merge-figures.js';
import { KEEP_ALIVE } from '../../server/http/listener.js';
import { explainListen } from '../open-server.js';
import { superviseProcess } from '../process.js';
import { type FromWorker, type ToWorker, WORKER_MARK, type WorkerSetup } from './messages.js';
import { prepareWorkers, type WorkersOptions } from './prepare-workers.js';

interface Workers {
  url: string;
  consoleUrl: string;
  /** Resolves when all workers have ended after a signal. */
  finished: Promise<void>;
}

/** A worker that ends at once is started again after so long; each time after twice that, up to the longest. */
const AGAIN_MS = { first: 100, longest: 10_000 };
/** A worker that was up for so long did not end at once. */
const STEADY_MS = 60_000;
/** Connections that wait while no worker listens. */
const MOST_WAITING = 1024;
/** A worker that is this late with its figures is left out. */
const FIGURES_MS = 5000;

/** Rejects with a GatewayError, or WorkerFailed, when they cannot be started; none is left then. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { host, port } = options.loaded.config.server;
  // TCP_NODELAY and keep-alive are set where a connection is accepted.
  const server = createServer({ pauseOnConnect: true, noDelay: true, ...KEEP_ALIVE });
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw explainListen(error, host, port);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  try {
    const log = createLog({ level: options.logLevel, redact: options.redact });
    return await new Primary(server, prepareWorkers(options, actual), log).start();
  } catch (error) {
    server.close();
    throw error;
  }
}

/** What a worker said that could not be opened. */
export class WorkerFailed extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

class Primary {
  readonly #server: Server;
  readonly #setups: readonly WorkerSetup[];
  readonly #log: GatewayLog;
  readonly #workers = new Map<number, Worker>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #finished = deferred();
  /** Accepted while no worker listens. */
  #waiting: Socket[] = [];
  /** As the file was loaded last; undefined where it was loaded once. */
  #reloaded: WorkerSetup['loaded'] | undefined;
  /** The last figures of workers that have ended. */
  #past = '';
  #isStopping = false;

  constructor(server: Server, setups: readonly WorkerSetup[], log: GatewayLog) {
    this.#server = server;
    this.#setups = setups;
    this.#log = log;
    server.on('connection', (socket) => this.#accept(socket));
  }

  async start(): Promise<Workers> {
    process.once('exit', this.#killAll);
    const started = this.#setups.map((setup) => this.#fork(setup));
    try {
      const [first] = await Promise.all(started.map((worker) => worker.listening));
      if (first === undefined) throw new Error('There are no workers.');
      for (const worker of started) this.#watch(worker, AGAIN_MS.first);
      superviseProcess({
        close: () => this.#stop(),
        reload: async (by) => this.#tellAll({ type: 'reload', by }),
        finished: this.#finished.promise,
        log: this.#log,
      });
      return { ...first, finished: this.#finished.promise };
    } catch (error) {
      this.#isStopping = true;
      this.#killAll();
      await Promise.all(started.map((worker) => worker.ended));
      process.off('exit', this.#killAll);
      throw error;
    }
  }

  #fork(setup: WorkerSetup): Worker {
    const worker = new Worker(setup, {
      onListening: () => this.#giveWaiting(),
      onFiguresAsked: (id) => void this.#tellFigures(worker, id),
      onConfigured: (loaded) => {
        this.#reloaded = loaded;
      },
    });
    this.#workers.set(setup.role.index, worker);
    worker.listening.catch(() => {});
    return worker;
  }

  /** Starts another in its place when it ends. */
  #watch(worker: Worker, pauseMs: number): void {
    const since = performance.now();
    const { role } = worker.setup;
    void worker.ended.then(({ code, signal }) => {
      this.#workers.delete(role.index);
      this.#past = mergeFigures([this.#past, countersOf(worker.lastFigures)]);
      for (const socket of worker.untaken()) this.#accept(socket);
      if (this.#isStopping) return;
      const isSteady = performance.now() - since >= STEADY_MS;
      const wait = isSteady ? AGAIN_MS.first : pauseMs;
      const facts = { worker: role.index, pid: worker.pid, code, signal, againInMs: wait };
      this.#log.error(facts, 'a worker ended and is started again');
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#replace(worker.setup, Math.min(2 * wait, AGAIN_MS.longest));
      }, wait);
      this.#timers.add(timer);
    });
  }

  #replace(setup: WorkerSetup, pauseMs: number): void {
    const loaded = this.#reloaded ?? setup.loaded;
    const worker = this.#fork({ ...setup, loaded, isReplacement: true });
    const facts = { worker: setup.role.index, pid: worker.pid };
    worker.listening.then(
      () => this.#log.info(facts, 'a worker listens again'),
      (error: Error) =>
        this.#log.error({ ...facts, problem: error.message }, 'a worker could not be started'),
    );
    this.#watch(worker, pauseMs);
  }

  /** The worker with the fewest connections. */
  #accept(socket: Socket): void {
    const open = [...this.#workers.values()].filter(({ isListening }) => isListening);
    const [first] = open.sort((left, right) => left.connections - right.connections);
    if (first !== undefined) first.give(socket);
    else if (this.#isStopping || this.#waiting.length >= MOST_WAITING) socket.destroy();
    else this.#waiting.push(socket);
  }

  #giveWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const socket of waiting) this.#accept(socket);
  }

  async #tellFigures(asking: Worker, id: number): Promise<void> {
    const workers = [...this.#workers.values()].filter(({ isListening }) => isListening);
    const texts = await Promise.all(workers.map((worker) => worker.figures()));
    asking.send({ type: 'all-figures', id, text: mergeFigures([...texts, this.#past]) });
  }

  #tellAll(message: ToWorker): void {
    for (const worker of this.#workers.values()) worker.send(message);
  }

  /** The primary still accepts connections: draining workers refuse them with a reason. */
  async #stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#tellAll({ type: 'stop' });
    // A worker that is not open yet has nothing to finish.
    for (const worker of this.#workers.values()) if (!worker.isListening) worker.kill();
    await Promise.all([...this.#workers.values()].map((worker) => worker.ended));
    for (const socket of this.#waiting) socket.destroy();
    this.#server.close();
    process.off('exit', this.#killAll);
    await this.#log.flush();
    this.#finished.resolve();
  }

  readonly #killAll = (): void => {
    for (const worker of this.#workers.values()) worker.kill();
  };
}

interface WorkerEvents {
  onListening(): void;
  onFiguresAsked(id: number): void;
  onConfigured(loaded: WorkerSetup['loaded']): void;
}

interface Address {
  url: string;
  consoleUrl: string;
}

class Worker {
  readonly setup: WorkerSetup;
  /** Rejects with WorkerFailed, or where it ends before it listens. */
  readonly listening: Promise<Address>;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  lastFigures = '';
  isListening = false;
  connections = 0;
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  readonly #listening = deferred<Address>();
  readonly #untaken = new Map<number, Socket>();
  readonly #asked = new Map<number, (text: string) => void>();
  #next = 0;

  constructor(setup: WorkerSetup, events: WorkerEvents) {
    this.setup = setup;
    this.#events = events;
    this.listening = this.#listening.promise;
    const [, script = '', ...args] = process.argv;
    this.#child = fork(script, args, {
      env: { ...process.env, [WORKER_MARK]: String(process.pid) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // The configuration has values that JSON does not.
      serialization: 'advanced',
    });
    this.#child.on('message', (message: FromWorker) => this.#on(message));
    // A channel that breaks is a worker that ends.
    this.#child.on('error', () => this.kill());
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.isListening = false;
        const how = signal ?? `code ${code}`;
        this.#listening.reject(
          new GatewayError(
            'unavailable',
            `The worker ${setup.role.index} ended with ${how} before it listened.`,
          ),
        );
        for (const give of [...this.#asked.values()]) give('');
        resolve({ code, signal });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Held here until it is taken: where the worker ends before, another gets it. */
  give(socket: Socket): void {
    const id = this.#next++;
    this.connections += 1;
    this.#untaken.set(id, socket);
    socket.on('error', () => {});
    const message: ToWorker = { type: 'connection', id };
    if (this.#child.connected) this.#child.send(message, socket, { keepOpen: true }, () => {});
  }

  /** Connections that it was given and has not seen. */
  untaken(): Socket[] {
    const sockets = [...this.#untaken.values()];
    this.#untaken.clear();
    return sockets;
  }

  /** The last known figures where the worker does not answer. */
  figures(): Promise<string> {
    return new Promise((resolve) => {
      const id = this.#next++;
      const give = (text: string) => {
        clearTimeout(late);
        this.#asked.delete(id);
        if (text !== '') this.lastFigures = text;
        resolve(this.lastFigures);
      };
      const late = setTimeout(() => give(''), FIGURES_MS);
      this.#asked.set(id, give);
      this.send({ type: 'figures', id });
    });
  }

  #on(message: FromWorker): void {
    switch (message.type) {
      case 'up':
        this.send({ type: 'open', setup: this.setup });
        break;
      case 'listening':
        this.isListening = true;
        this.#listening.resolve({ url: message.url, consoleUrl: message.consoleUrl });
        this.#events.onListening();
        break;
      case 'failed':
        this.#listening.reject(new WorkerFailed(message.message, message.code));
        break;
      case 'taken':
        // Only this copy of it: the connection is the worker's.
        this.#untaken.get(message.id)?.destroy();
        this.#untaken.delete(message.id);
        break;
      case 'closed':
        this.connections -= 1;
        break;
      case 'figures':
        this.#asked.get(message.id)?.(message.text);
        break;
      case 'ask-figures':
        this.#events.onFiguresAsked(message.id);
        break;
      case 'configured':
        this.#events.onConfigured(message.loaded);
        break;
    }
  }
}
