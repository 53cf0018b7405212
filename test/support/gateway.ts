/** Gateways for tests: in this process, or the real command as a child. Each has its own folder and store. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { type GatewayOptions as StartOptions, startGateway } from '../../src/gateway/open-gateway.js';
import { closeAfterTest, tempFolder } from './cleanup.js';

export const COMMAND = fileURLToPath(new URL('../../bin/toolgate.js', import.meta.url));

export interface GatewayOptions {
  /** As in `toolgate.yaml`, or its text. Without: no file, as on a new machine. */
  config?: object | string;
  /** The whole environment that the gateway sees, but for HOME and PATH. */
  env?: Readonly<Record<string, string>>;
  logLevel?: string;
  /** To start again where another gateway stopped; the caller removes it. */
  folder?: string;
}

export interface InProcessOptions
  extends GatewayOptions,
    Pick<
      StartOptions,
      'dispatcher' | 'limits' | 'virtualLimits' | 'eventLimits' | 'patience' | 'listPrices' | 'localServers'
    > {}

export interface TestGateway {
  /** The origin, without a slash at the end. */
  url: string;
  /** The address of the console, with its token. */
  consoleUrl: string;
  /** Where its configuration and its store are. */
  folder: string;
  /** Stops as SIGTERM does: running answers may finish. */
  close(): Promise<void>;
}

const CONFIG_NAME = 'toolgate.yaml';
const VERSION = '0.0.0-test';

async function prepare({ config, folder }: GatewayOptions): Promise<string> {
  const path = folder ?? (await tempFolder('toolgate')).path;
  if (config !== undefined) {
    await writeFile(join(path, CONFIG_NAME), typeof config === 'string' ? config : JSON.stringify(config));
  }
  return path;
}

/** A configuration in the folder is given by name: nobody has trusted it. */
async function configFile(folder: string): Promise<string | undefined> {
  return (await stat(join(folder, CONFIG_NAME)).catch(() => undefined)) === undefined
    ? undefined
    : CONFIG_NAME;
}

/**
 * A gateway in this process on a free port. After the test it is closed, without waiting for
 * answers that still run unless the configuration says how long.
 */
export async function startTestGateway(options: InProcessOptions = {}): Promise<TestGateway> {
  const folder = await prepare(options);
  const env = { HOME: folder, ...options.env };
  const overrides = { host: '127.0.0.1', port: 0 };
  const loaded = await loadConfig({ file: await configFile(folder), cwd: folder, env, overrides });
  if (!JSON.stringify(options.config ?? '').includes('drain_s')) loaded.config.server.drain_s = 0;
  const {
    dispatcher,
    limits,
    virtualLimits,
    eventLimits,
    patience,
    listPrices,
    localServers = [],
    logLevel = 'silent',
  } = options;
  const gateway = await startGateway({
    loaded,
    env,
    overrides,
    logLevel,
    version: VERSION,
    localServers,
    ...(dispatcher === undefined ? {} : { dispatcher }),
    ...(limits === undefined ? {} : { limits }),
    ...(virtualLimits === undefined ? {} : { virtualLimits }),
    ...(eventLimits === undefined ? {} : { eventLimits }),
    ...(patience === undefined ? {} : { patience }),
    ...(listPrices === undefined ? {} : { listPrices }),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.resolve(gateway.close());
    return closing;
  };
  closeAfterTest(close);
  return { url: gateway.url, consoleUrl: gateway.consoleUrl, folder, close };
}

export interface ProcessOptions extends GatewayOptions {
  /** Words behind `bin/toolgate.js`. Without: `start` on a free port, with the configuration in the folder. */
  args?: readonly string[];
  /** Another Node. */
  node?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A run of the command, with all that it has printed. */
export class GatewayProcess implements TestGateway {
  readonly folder: string;
  /** Resolves when it is over and its output is whole. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #url = '';
  #consoleUrl = '';
  #onOutput: () => void = () => {};

  constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.folder = folder;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onOutput();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#onOutput();
    });
    this.exited = once(child, 'close').then(([code]: unknown[]) => ({
      code: typeof code === 'number' ? code : null,
      signal: child.signalCode,
    }));
  }

  get url(): string {
    return this.#url;
  }

  get consoleUrl(): string {
    return this.#consoleUrl;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('The process did not start');
    return pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when stdout holds a match; rejects with the output when the process ends before that. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      const output = new Promise<'output'>((done) => {
        this.#onOutput = () => done('output');
      });
      const next = await Promise.race([output, this.exited]);
      if (next === 'output' || pattern.test(this.#stdout)) continue;
      const how = next.signal ?? `code ${next.code}`;
      throw new Error(`It ended with ${how} before it printed ${pattern}\n${this.#stdout}${this.#stderr}`);
    }
  }

  /** Resolves when the address is printed. */
  async listening(): Promise<this> {
    const [line] = await this.printed(/^.*https?:\/\/\S+.*\n/m);
    const [url = '', consoleUrl = ''] = line.match(/https?:\/\/[^\s,;]+/g) ?? [];
    this.#url = url.replace(/\/$/, '');
    this.#consoleUrl = consoleUrl;
    return this;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Rejects when it does not end with code 0. */
  async close(): Promise<void> {
    if (this.running) this.signal('SIGTERM');
    const { code, signal } = await this.exited;
    if (code !== 0) throw new Error(`It ended with ${signal ?? `code ${code}`}\n${this.#stderr}`);
  }

  /** Leaves it no time at all, as a crash would. */
  async kill(): Promise<Exit> {
    if (this.running) this.signal('SIGKILL');
    return this.exited;
  }
}

/** Runs the command in a folder and an environment of its own. Killed after the test if it still runs. */
export async function runCommand(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const problem = inject('buildProblem');
  if (problem !== '') throw new Error(`The command could not be built:\n${problem}`);
  const folder = await prepare(options);
  const file = await configFile(folder);
  const args = options.args ?? [
    ...['start', '--port', '0', '--log-level', options.logLevel ?? 'silent'],
    ...(file === undefined ? [] : ['--config', file]),
  ];
  const child = spawn(options.node ?? process.execPath, [COMMAND, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, TOOLGATE_FREEZE_SHARED: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = new GatewayProcess(child, folder);
  closeAfterTest(() => run.kill());
  return run;
}

/** The command as a user runs it, listening on a free port. */
export async function startGatewayProcess(options: ProcessOptions = {}): Promise<GatewayProcess> {
  return (await runCommand(options)).listening();
}
