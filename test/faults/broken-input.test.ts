/**
 * Broken requests over real sockets, to the gateway as its users run it. Each gets a 4xx in the
 * dialect of its route, or a good answer where it was still a good request; none a 5xx, none
 * silence. Afterwards the gateway answers as before, and its memory is level.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnOfLoop } from '../support/gate.js';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.js';
import { openRaw, type RawResponse, sendRaw } from '../support/raw-http.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import { type BrokenRequest, brokenRequest, KINDS, mistyped } from './broken-requests.js';
import { count, LONG, SEED, TIMEOUT_MS } from './counts.js';
import { askBytes, inParallel, inTime, metric, startFaultGateway } from './fault-gateway.js';
import { Random } from './random.js';
import { bodyOf, post, type Target, valid } from './request-parts.js';
import { good, held } from './upstream-answers.js';
import { WIRES, type Wire } from './wires.js';

const MIB = 1024 * 1024;
const BODY_LIMIT_MB = 1;
/** Of the random kind, in all; those with a wrong type come on top. */
const BROKEN = count(3 * KINDS, 30 * KINDS);
const MISTYPED = 100;

/**
 * Memory is level when it has grown by less than this from the first part of the requests to the
 * end of all. Code that runs for the first time, pools of buffers and caches of a fixed size take a
 * few MiB; a leak of every request's body would be a hundred times as much.
 */
const GROWTH_LIMIT = 16 * MIB;

/** The demo model, and an upstream of every dialect, so that every translation is tried. */
const MODELS = ['demo', ...WIRES.map(({ name }) => name)];

let gateway: GatewayProcess;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const upstreams: Record<string, object> = {};
  const models: Record<string, object> = { demo: { upstream: 'demo' } };
  for (const wire of WIRES) {
    const server = await startUpstream(good(wire));
    closers.push(() => server.close());
    upstreams[wire.name] = server.config(wire.name);
    models[wire.name] = { upstream: wire.name };
  }
  gateway = await startGatewayProcess({
    config: { server: { body_limit_mb: BODY_LIMIT_MB, drain_s: 1 }, upstreams, models },
    logLevel: 'error',
    env: { NODE_OPTIONS: `--import=${new URL('./memory-probe.mjs', import.meta.url).href}` },
  });
});

afterAll(async () => {
  await gateway.close();
  for (const close of closers) await close();
});

let measured = 0;
async function memory(): Promise<number> {
  measured += 1;
  gateway.signal('SIGUSR2');
  const [, bytes] = await gateway.printed(new RegExp(`^memory ${measured} (\\d+)$`, 'm'));
  return Number(bytes);
}

const isApiError = (body: unknown): boolean =>
  isRecord(body) && isRecord(body['error']) && typeof body['error']['message'] === 'string';

async function send({ pieces, ends = false }: BrokenRequest): Promise<RawResponse> {
  const connection = await openRaw(gateway.url);
  try {
    await connection.send(...pieces);
    if (ends) connection.end();
    return await connection.response();
  } finally {
    await connection.leave('close');
  }
}

/** Throws where an answer is not what a client could work with. */
async function check(wire: Wire, request: BrokenRequest): Promise<number> {
  const response = await inTime(send(request), request.what);
  const { status } = response;
  expect(response.complete).toBe(true);
  expect(response.headers['request-id']).toMatch(/^req_/);
  if (status === 200) {
    expect(request.is).toBe('odd');
    if (!response.text.startsWith('{"input_tokens"')) expect(held(wire, response).failed).toBe(false);
    return status;
  }
  expect(status, response.text).toBeGreaterThanOrEqual(400);
  expect(status, response.text).toBeLessThan(500);
  const body = response.json();
  const right = request.shape === 'dialect' ? wire.isError(body) : wire.isError(body) || isApiError(body);
  expect(right, response.text).toBe(true);
  return status;
}

interface Case {
  wire: Wire;
  where: string;
  make: () => BrokenRequest;
}

/** How many answers there were of each status. */
async function checkAll(cases: readonly Case[]): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  await inParallel(cases, 6, async ({ wire, make, where }) => {
    const request = make();
    try {
      const status = await check(wire, request);
      statuses[status] = (statuses[status] ?? 0) + 1;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${where}, ${request.what}: ${message}`, { cause: error });
    }
  });
  return statuses;
}

const targets = (): { wire: Wire; target: Target }[] =>
  WIRES.flatMap((wire) => {
    const paths = wire.name === 'anthropic-messages' ? [wire.path, `${wire.path}/count_tokens`] : [wire.path];
    return paths.flatMap((path) =>
      MODELS.map((model) => ({ wire, target: { url: gateway.url, wire, path, model } })),
    );
  });

async function answersAll(): Promise<void> {
  for (const { wire, target } of targets()) {
    const response = await inTime(sendRaw(gateway.url, valid(target)), `a good request to ${target.path}`);
    expect(response.status, `${target.model} ${target.path}: ${response.text}`).toBe(200);
    if (wire.path === target.path) expect(held(wire, response).failed).toBe(false);
  }
}

/** A bug in the gateway is an error in its log, whatever the client was told. */
const bugs = (): string[] => gateway.stderr.split('\n').filter((line) => line !== '');

describe('broken requests', () => {
  it('are refused one by one, and nothing else is the worse for it', { timeout: TIMEOUT_MS }, async () => {
    await answersAll();
    const random = new Random(SEED);
    const all = targets();
    const makeRandom = (index: number): Case => {
      const { wire, target } = random.pick(all);
      const request = brokenRequest(target, random, index);
      return { wire, make: () => request, where: `${target.path} to ${target.model}` };
    };
    const half = Math.ceil(BROKEN / 2);
    const statuses = await checkAll(Array.from({ length: half }, (_, index) => makeRandom(index)));
    expect(statuses[400]).toBeGreaterThan(half / 4);
    const before = await memory();
    await checkAll(Array.from({ length: half }, (_, index) => makeRandom(half + index)));
    await answersAll();
    expect(bugs()).toEqual([]);
    expect((await memory()) - before).toBeLessThan(GROWTH_LIMIT);
  });

  it('with a value of the wrong type in any field are refused or answered', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const every = targets().flatMap(({ wire, target }) =>
      mistyped(target).map((make) => ({ wire, make, where: `${target.path} to ${target.model}` })),
    );
    const tried = LONG ? every : new Random(SEED).shuffled(every).slice(0, MISTYPED);
    const before = await memory();
    const statuses = await checkAll(tried);
    expect(statuses[400]).toBeGreaterThan(tried.length / 4);
    await answersAll();
    expect(bugs()).toEqual([]);
    expect((await memory()) - before).toBeLessThan(GROWTH_LIMIT);
  });

  it('and good ones of almost the limit leave nothing of their bodies behind', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const large = 'x'.repeat(900_000);
    const send900 = async (index: number): Promise<void> => {
      const { wire, target } = random.pick(all);
      const refused = index % 2 === 0;
      const body = { ...bodyOf(target), ...(refused ? { tools: large } : { metadata: { large } }) };
      const response = await inTime(
        sendRaw(gateway.url, post(target, { body: JSON.stringify(body) })),
        `a large body to ${target.path}`,
      );
      expect(response.status, response.text.slice(0, 300)).toBe(refused ? 400 : 200);
      if (refused) expect(wire.isError(response.json())).toBe(true);
    };
    const random = new Random(SEED);
    const all = targets();
    const indexes = Array.from({ length: count(60, 600) }, (_, index) => index);
    await inParallel(indexes.slice(0, 20), 4, send900);
    const before = await memory();
    await inParallel(indexes, 4, send900);
    expect((await memory()) - before).toBeLessThan(GROWTH_LIMIT);
  });

  it('that come too slowly are given up, each in its dialect', async () => {
    const limits = { bodyIdleMs: 60, bodyMs: 150, lingerMs: 20 };
    const { url } = await startFaultGateway({ upstreams: {}, models: {}, limits });
    const slow = Array.from({ length: 10 }, () => WIRES).flat();
    await Promise.all(
      slow.map(async (wire, index) => {
        const bytes = askBytes(url, wire, { stream: true });
        const end = bytes.indexOf('\r\n\r\n') + 4;
        const connection = await openRaw(url);
        // Some stop at once, some go on byte by byte until they are told to stop.
        await connection.send(bytes.subarray(0, end + index));
        const response = connection.response();
        let answered = false;
        void response.then(() => {
          answered = true;
        });
        for (let at = end + index; index % 2 === 0 && !answered && at < bytes.length - 1; at++) {
          await connection.send(bytes.subarray(at, at + 1));
          await new Promise((done) => setTimeout(done, 5));
        }
        const { status, json } = await inTime(response, `a slow body to ${wire.path}`);
        expect([status, wire.isError(json())]).toEqual([408, true]);
      }),
    );
    // What is refused lingers a moment; then the request for the figures is the only one.
    await until(async () => (await metric(url, 'toolgate_open_requests')) === 1);
  });

  it.each(WIRES)('of 100 MB to $path are refused before they are sent', async ({ path, isError }) => {
    const connection = await openRaw(gateway.url);
    const { host } = new URL(gateway.url);
    await connection.send(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 0x20), Buffer.from('\r\n')]);
    let answered = false;
    const response = connection.response().finally(() => {
      answered = true;
    });
    let sent = 0;
    for (; sent < 100 * MIB && !answered; sent += 65_536) {
      await connection.send(chunk);
      // A write that is done at once leaves no time to hear the answer.
      await turnOfLoop();
    }
    const { status, json } = await inTime(response, 'a body of 100 MB');
    expect(status).toBe(413);
    expect(isError(json())).toBe(true);
    expect(sent).toBeLessThan(50 * MIB);
    await connection.leave();
  });
});
