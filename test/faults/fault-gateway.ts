/** A gateway in this process whose tries can be made short, and what it says of itself. */
import { rm } from 'node:fs/promises';
import { loadConfigText } from '../../src/config/load.js';
import { createDispatcher } from '../../src/gateway/create-dispatcher.js';
import type { Limits } from '../../src/server/http/limits.js';
import { closeAfterTest } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { jsonRequest, type RawResponse, requestBytes, sendRaw } from '../support/raw-http.js';
import {
  type RecordedRequest,
  type Reply,
  type ScriptedUpstream,
  type ScriptFunction,
  startUpstream,
} from '../support/scripted-upstream.js';
import type { Wire } from './wires.js';

export interface FaultGatewayOptions {
  upstreams: Readonly<Record<string, object>>;
  /** Model names and the upstreams behind them; `m` for all of them in their order without. */
  models?: Readonly<Record<string, { upstream: readonly string[]; model: string }>>;
  /** 0: what fails is not tried again. */
  retryBudgetMs?: number;
  limits?: Partial<Limits>;
  /** By which upstreams that failed are left alone for a while. */
  now?: () => number;
}

/** Closed after the test; outside of one the caller closes. */
export async function startFaultGateway(options: FaultGatewayOptions): Promise<TestGateway> {
  const { upstreams, retryBudgetMs = 0, limits, now } = options;
  const models = options.models ?? { m: { upstream: Object.keys(upstreams), model: 'upstream-model' } };
  const config = JSON.stringify({ upstreams, models });
  const loaded = await loadConfigText(config, { baseDir: '/nonexistent', env: {} });
  const dispatcher = createDispatcher({
    ...{ config: loaded.config, retryBudgetMs },
    ...(now === undefined ? {} : { now }),
  });
  const gateway = await startTestGateway({ config, dispatcher, ...(limits === undefined ? {} : { limits }) });
  const close = async (): Promise<void> => {
    await gateway.close();
    await dispatcher.close();
  };
  closeAfterTest(close);
  return { ...gateway, close };
}

/** Both parts of one fault: how the upstream replies, and what its configuration says besides. */
export interface Fault {
  reply: Reply | ScriptFunction;
  extra?: object;
}

export interface FaultBed {
  url: string;
  /** The upstream that fails. */
  server: ScriptedUpstream;
  /** The requests that came for this fault. */
  requests(fault: string): readonly RecordedRequest[];
  close(): Promise<void>;
}

export interface FaultBedOptions extends Pick<FaultGatewayOptions, 'retryBudgetMs' | 'limits' | 'now'> {
  /** What another upstream answers after the one that fails. */
  behind?: ScriptFunction;
}

/**
 * A gateway with a model for each fault, so that one start serves many tests: its upstream fails in
 * that way, and `behind` answers after it where it is given. The caller closes.
 */
export async function startFaultBed(
  wire: Wire,
  faults: Readonly<Record<string, Fault>>,
  { behind, ...options }: FaultBedOptions = {},
): Promise<FaultBed> {
  const server = await startUpstream((request, index) => {
    const reply = faults[String(request.json['model'])]?.reply;
    if (reply === undefined) throw new Error(`There is no fault ${String(request.json['model'])}`);
    return typeof reply === 'function' ? reply(request, index) : reply;
  });
  const second = behind === undefined ? undefined : await startUpstream(behind);
  const names = Object.keys(faults);
  const rest = second === undefined ? [] : ['second'];
  const gateway = await startFaultGateway({
    ...options,
    upstreams: {
      ...Object.fromEntries(
        names.map((name, index) => [
          `first-${index}`,
          { ...server.config(wire.name), ...faults[name]?.extra },
        ]),
      ),
      ...(second === undefined ? {} : { second: second.config(wire.name) }),
    },
    models: {
      ...Object.fromEntries(
        names.map((name, index) => [name, { upstream: [`first-${index}`, ...rest], model: name }]),
      ),
      ...(second === undefined ? {} : { direct: { upstream: rest, model: 'direct' } }),
    },
  });
  return {
    url: gateway.url,
    server,
    requests: (fault) => server.requests.filter(({ json }) => json['model'] === fault),
    async close() {
      await gateway.close();
      await server.close();
      await second?.close();
      await rm(gateway.folder, { recursive: true, force: true });
    },
  };
}

export interface Ask {
  stream: boolean;
  /** Said to the model, so that a script can tell requests apart. */
  text?: string;
  model?: string;
}

/** The bytes of a request of this dialect. */
export function askBytes(url: string, wire: Wire, { stream, text = 'Hello', model = 'm' }: Ask): Buffer {
  const [body] = wire.bodies;
  const said = 'input' in body ? { input: text } : { messages: [{ role: 'user', content: text }] };
  return jsonRequest(url, wire.path, { ...body, ...said, model, stream });
}

export const ask = (url: string, wire: Wire, what: Ask): Promise<RawResponse> =>
  inTime(sendRaw(url, askBytes(url, wire, what)), `${wire.name} ${JSON.stringify(what)}`);

export const PATIENCE_MS = 60_000;

/** A hang is a failure that says what hung. */
export async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`No answer after ${PATIENCE_MS / 1000} s: ${what}`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `work` on every item, so many at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** The value of a gauge or counter without labels. */
export async function metric(url: string, name: string): Promise<number> {
  const { text } = await sendRaw(url, requestBytes(url, { path: '/metrics' }));
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
  if (found === null) throw new Error(`There is no metric ${name}`);
  return Number(found[1]);
}
