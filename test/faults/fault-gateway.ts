/** A gateway in this process whose tries can be made short, and what it says of itself. */
import { loadConfigText } from '../../src/config/load.js';
import { createDispatcher } from '../../src/engines/create-dispatcher.js';
import type { Limits } from '../../src/server/limits.js';
import { closeAfterTest } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { jsonRequest, type RawResponse, sendRaw } from '../support/raw-http.js';
import type { Wire } from './wires.js';

export interface FaultGatewayOptions {
  /** In their order of fallback; the model has the name `m`. */
  upstreams: Readonly<Record<string, object>>;
  /** 0: what fails is not tried again. */
  retryBudgetMs?: number;
  limits?: Partial<Limits>;
}

export async function startFaultGateway(options: FaultGatewayOptions): Promise<TestGateway> {
  const { upstreams, retryBudgetMs = 0, limits } = options;
  const models = { m: { upstream: Object.keys(upstreams), model: 'upstream-model' } };
  const config = JSON.stringify({ upstreams, models });
  const loaded = await loadConfigText(config, { baseDir: '/nonexistent', env: {} });
  const dispatcher = createDispatcher({ config: loaded.config, retryBudgetMs });
  const gateway = await startTestGateway({ config, dispatcher, ...(limits === undefined ? {} : { limits }) });
  // Tests end in the order in which things were begun: the gateway first, then what it calls.
  closeAfterTest(async () => {
    await gateway.close();
    await dispatcher.close();
  });
  return gateway;
}

export interface Ask {
  stream: boolean;
  /** Said to the model, so that a script can tell requests apart. */
  text?: string;
}

/** The bytes of a request of this dialect. */
export function askBytes(url: string, wire: Wire, { stream, text = 'Hello' }: Ask): Buffer {
  const [body] = wire.bodies;
  const said = 'input' in body ? { input: text } : { messages: [{ role: 'user', content: text }] };
  return jsonRequest(url, wire.path, { ...body, ...said, stream });
}

export const ask = (url: string, wire: Wire, what: Ask): Promise<RawResponse> =>
  inTime(sendRaw(url, askBytes(url, wire, what)), `${wire.name} ${JSON.stringify(what)}`);

const PATIENCE_MS = 20_000;

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
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
  if (found === null) throw new Error(`There is no metric ${name}`);
  return Number(found[1]);
}
