/** Upstreams that fail, are silent or answer strangely: what a client sees of it, and when it sees nothing. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RawResponse } from '../support/raw-http.js';
import {
  answer,
  closeEarly,
  deadUrl,
  hang,
  json,
  type Reply,
  reset,
  type Script,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { ask, startFaultGateway } from './fault-gateway.js';
import {
  ANSWER,
  errorBody,
  errorEvent,
  errorMessage,
  eventsOf,
  good,
  held,
  streamOf,
  TEXT,
} from './upstream-answers.js';
import { WIRES, type Wire } from './wires.js';

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));
const BOTH = [true, false];

/** A gateway in front of one upstream. */
async function inFrontOf(wire: Wire, script: Script, extra: object = {}, retryBudgetMs = 0) {
  const server = await startUpstream(script);
  const upstreams = { up: { ...server.config(wire.name), ...extra } };
  const { url } = await startFaultGateway({ upstreams, retryBudgetMs });
  return { server, url };
}

/** Everything that differs between two answers to the same request because they are two. */
function alike({ status, headers, text }: RawResponse): object {
  const { date, 'request-id': id = '', 'x-request-id': _, 'x-toolgate-trace': __, ...rest } = headers;
  const { 'x-toolgate-upstream': ___, ...others } = rest;
  const own = text
    .replaceAll(id.replace('req_', ''), 'ID')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
  return { status, headers: others, text: own };
}

describe.each(PAIRS)('$upstream.name to $client.name', ({ upstream, client }) => {
  const failing = (status: number, type: string, headers: Record<string, string> = {}): Reply =>
    json(errorBody(upstream, type, `It says ${status}.`), { status, headers });

  it.each([
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'api_error'],
    [529, 'overloaded_error'],
  ])('keeps the status %d and its retry-after', async (status, type) => {
    const { url } = await inFrontOf(upstream, ({ text }) =>
      failing(status, type, text.includes('wait') ? { 'retry-after': '37' } : {}),
    );
    for (const stream of BOTH) {
      const plain = await ask(url, client, { stream });
      expect(held(client, plain).failed).toBe(true);
      expect(plain.status).toBe(status);
      expect(plain.headers['retry-after']).toBeUndefined();
      expect(errorMessage(plain)).toContain(`It says ${status}.`);
      const later = await ask(url, client, { stream, text: 'wait' });
      expect(held(client, later).failed).toBe(true);
      expect([later.status, later.headers['retry-after']]).toEqual([status, '37']);
    }
  });

  it('tries again, after the time that the upstream asks for', async () => {
    const first = [429, 500, 529].map((status) => failing(status, 'api_error', { 'retry-after': '0' }));
    const { url, server } = await inFrontOf(upstream, [...first, good(upstream)], {}, 10_000);
    const response = await ask(url, client, { stream: true });
    expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
    expect(server.requests).toHaveLength(4);
  });

  it('does not wait for longer than it may', async () => {
    const { url, server } = await inFrontOf(
      upstream,
      () => failing(529, 'overloaded_error', { 'retry-after': '60' }),
      {},
      10_000,
    );
    const response = await ask(url, client, { stream: false });
    expect([response.status, response.headers['retry-after']]).toEqual([529, '60']);
    expect(server.requests).toHaveLength(1);
  });

  it('makes an error event of an error inside its stream', async () => {
    const events = eventsOf(upstream);
    const cuts = [2, 5, 8];
    const { url } = await inFrontOf(upstream, ({ text }) => {
      const cut = Number(/after (\d)/.exec(text)?.[1]);
      return sse([...events.slice(0, cut), errorEvent(upstream, 'It is busy.', cut), ...events.slice(cut)]);
    });
    for (const cut of cuts) {
      const response = await ask(url, client, { stream: true, text: `after ${cut}` });
      expect([response.status, held(client, response).failed]).toEqual([200, true]);
      expect(response.text).toContain('It is busy.');
      const whole = await ask(url, client, { stream: false, text: `after ${cut}` });
      expect(held(client, whole).failed).toBe(true);
      expect(errorMessage(whole)).toBe('It is busy.');
    }
  });

  it('makes a status of an error before the first word', async () => {
    const [start = ''] = eventsOf(upstream);
    const { url } = await inFrontOf(upstream, () => sse([start, errorEvent(upstream, 'It is busy.', 1)]));
    for (const stream of BOTH) {
      const response = await ask(url, client, { stream });
      expect(response.status).toBeGreaterThanOrEqual(500);
      expect(held(client, response).failed).toBe(true);
      expect(errorMessage(response)).toBe('It is busy.');
    }
  });

  it('reads a whole answer where a stream was asked for, and the other way round', async () => {
    const swapped: ScriptFunction = ({ json: { stream } }) =>
      stream === true ? json(upstream.whole(ANSWER)) : sse(streamOf(upstream));
    const { url } = await inFrontOf(upstream, swapped);
    for (const stream of BOTH) {
      const response = await ask(url, client, { stream });
      expect(response.headers['content-type']).toMatch(stream ? /^text\/event-stream/ : /^application\/json/);
      expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
    }
  });

  it.each(['text/html', 'text/plain', 'application/json', 'application/octet-stream'])(
    'does not take a page of type %s for an answer',
    async (type) => {
      const page = answer('<html>Sign in</html>', { headers: { 'content-type': type } });
      const { url } = await inFrontOf(upstream, () => page);
      for (const stream of BOTH) {
        const response = await ask(url, client, { stream });
        expect([response.status, held(client, response).failed]).toEqual([502, true]);
      }
    },
  );

  it('gives up an upstream that never answers, or falls silent', async () => {
    const events = eventsOf(upstream);
    const [start = ''] = events;
    const silences: Readonly<Record<string, Reply>> = {
      never: hang(),
      'after the head': sse([], { end: 'hang' }),
      'after the start': sse([start], { end: 'hang' }),
      'in the middle': sse(events.slice(0, 5), { end: 'hang' }),
    };
    const script: ScriptFunction = ({ text }) =>
      Object.entries(silences).find(([when]) => text.includes(when))?.[1] ?? hang();
    const { url } = await inFrontOf(upstream, script, { timeout_s: 0.1 });
    for (const when of Object.keys(silences)) {
      const response = await ask(url, client, { stream: true, text: when });
      expect(held(client, response).failed, when).toBe(true);
      expect(response.status, when).toBe(when === 'in the middle' ? 200 : 504);
    }
    const whole = await ask(url, client, { stream: false, text: 'never' });
    expect([whole.status, held(client, whole).failed]).toEqual([504, true]);
  });

  const PACKERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

  it.each(['gzip', 'deflate', 'br'] as const)(
    'unpacks %s, and refuses what only says that it is',
    async (name) => {
      const packed: ScriptFunction = ({ text, json: { stream } }) => {
        const plain = stream === true ? streamOf(upstream) : JSON.stringify(upstream.whole(ANSWER));
        const bytes = text.includes('broken') ? Buffer.from(plain) : PACKERS[name](plain);
        const cut = text.includes('cut') ? bytes.subarray(0, bytes.length / 2) : bytes;
        const type = stream === true ? 'text/event-stream' : 'application/json';
        return answer([cut.subarray(0, 20), cut.subarray(20)], {
          framing: 'chunked',
          headers: { 'content-type': type, 'content-encoding': name },
        });
      };
      const { url } = await inFrontOf(upstream, packed);
      for (const stream of BOTH) {
        const whole = await ask(url, client, { stream });
        expect(held(client, whole)).toMatchObject({ failed: false, text: TEXT });
        expect(whole.headers['content-encoding']).toBeUndefined();
        expect(held(client, await ask(url, client, { stream, text: 'broken' })).failed).toBe(true);
        expect(held(client, await ask(url, client, { stream, text: 'cut' })).failed).toBe(true);
      }
    },
  );
});

describe.each(PAIRS)(
  '$upstream.name with a second one behind it, to $client.name',
  ({ upstream, client }) => {
    const events = eventsOf(upstream);
    const [start = ''] = events;
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
    const failing = (status: number): Reply =>
      json(errorBody(upstream, 'api_error', 'It does not want to.'), { status });

    const FIRST: Readonly<Record<string, Reply>> = {
      'resets the connection': reset(),
      'closes the connection': closeEarly(),
      'resets after its head': { kind: 'raw', pieces: [head], end: 'reset' },
      'resets inside of its head': { kind: 'raw', pieces: [head.slice(0, 30)], end: 'reset' },
      'resets after its start': sse([start], { end: 'reset' }),
      'resets inside of its first event': sse([start.slice(0, 40)], { end: 'reset' }),
      'ends without a word': sse([start]),
      'ends without an event': sse([]),
      'fails inside its stream': sse([start, errorEvent(upstream, 'It is busy.', 1)]),
      'sends something that is no event': sse(['data: {"half\n\n']),
      'sends a page': answer('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
      'sends an empty body': answer('', { headers: { 'content-type': 'application/json' } }),
      'does not speak HTTP': { kind: 'raw', pieces: ['SSH-2.0-OpenSSH_9.6\r\n'], end: 'close' },
      'says 401': failing(401),
      'says 403': failing(403),
      'says 404': failing(404),
      'says 429': failing(429),
      'says 500': failing(500),
      'says 503': failing(503),
      'says 529': failing(529),
      'never answers': hang(),
    };

    async function compare(firstUpstream: object): Promise<void> {
      const second = await startUpstream(good(upstream));
      const upstreams = { first: firstUpstream, second: second.config(upstream.name) };
      const { url } = await startFaultGateway({ upstreams });
      const { url: direct } = await startFaultGateway({ upstreams: { second: upstreams.second } });
      for (const stream of BOTH) {
        const response = await ask(url, client, { stream });
        expect(response.headers['x-toolgate-upstream']).toBe('second');
        expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
        expect(alike(response)).toEqual(alike(await ask(direct, client, { stream })));
      }
    }

    it.each(Object.entries(FIRST))('that %s: nobody notices', async (_how, reply) => {
      const first = await startUpstream(() => reply);
      await compare({ ...first.config(upstream.name), timeout_s: 0.1 });
      expect(first.requests.length).toBeGreaterThan(0);
    });

    it('that is dead: nobody notices', async () => {
      const base = await deadUrl();
      await compare({ dialect: upstream.name, base_url: `${base}/v1`, api_key: 'k' });
    });
  },
);

describe('upstreams of several dialects', () => {
  it.each(WIRES)('to $name: each fails in its way and the last one answers', async (client) => {
    const servers = await Promise.all(
      WIRES.map(async (wire, index) => {
        const [start = ''] = eventsOf(wire);
        const last = index === WIRES.length - 1;
        const script: ScriptFunction = last ? good(wire) : () => sse([start], { end: 'reset' });
        return [wire.name, (await startUpstream(script)).config(wire.name)] as const;
      }),
    );
    const { url } = await startFaultGateway({ upstreams: Object.fromEntries(servers) });
    for (const stream of BOTH) {
      const response = await ask(url, client, { stream });
      expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
      expect(response.headers['x-toolgate-upstream']).toBe(servers.at(-1)?.[0]);
    }
  });

  it.each(WIRES)('to $name: where all fail, the last error is said', async (client) => {
    const busy = await startUpstream(() => json({ error: { message: 'A' } }, { status: 500 }));
    const full = await startUpstream(() =>
      json({ error: { message: 'It is full.' } }, { status: 529, headers: { 'retry-after': '9' } }),
    );
    const { url } = await startFaultGateway({
      upstreams: { busy: busy.config('openai-chat'), full: full.config('anthropic-messages') },
    });
    const response = await ask(url, client, { stream: true });
    expect([response.status, response.headers['retry-after']]).toEqual([529, '9']);
    expect(held(client, response).failed).toBe(true);
    expect(errorMessage(response)).toContain('It is full.');
  });
});
