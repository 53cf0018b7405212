/** Upstreams that fail, are silent or answer strangely, and what a client sees of it. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answer,
  hang,
  json,
  type Reply,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { ask, type Fault, type FaultBed, startFaultBed, startFaultGateway } from './fault-gateway.js';
import {
  ANSWER,
  errorBody,
  errorEvent,
  errorMessage,
  eventsOf,
  good,
  held,
  quietPlaces,
  streamOf,
  TEXT,
} from './upstream-answers.js';
import { WIRES, type Wire } from './wires.js';

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));
const BOTH = [true, false];

const STATUSES: readonly (readonly [number, string])[] = [
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'api_error'],
  [529, 'overloaded_error'],
];
const TYPES = ['text/html', 'text/plain', 'application/json', 'application/octet-stream'];
const PACKERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const ENCODINGS = ['gzip', 'deflate', 'br'] as const;
const SILENCES = ['never', 'after the head', 'after the start', 'in the middle'];

const failing = (wire: Wire, status: number, type: string, headers: Record<string, string> = {}): Reply =>
  json(errorBody(wire, type, `It says ${status}.`), { status, headers });

const packed =
  (wire: Wire, encoding: (typeof ENCODINGS)[number]): ScriptFunction =>
  ({ text, json: { stream } }) => {
    const plain = stream === true ? streamOf(wire) : JSON.stringify(wire.whole(ANSWER));
    const bytes = text.includes('broken') ? Buffer.from(plain) : PACKERS[encoding](plain);
    const cut = text.includes('cut') ? bytes.subarray(0, bytes.length / 2) : bytes;
    const type = stream === true ? 'text/event-stream' : 'application/json';
    return answer([cut.subarray(0, 20), cut.subarray(20)], {
      framing: 'chunked',
      headers: { 'content-type': type, 'content-encoding': encoding },
    });
  };

/** Every fault of this file, by the name of its model. */
function faultsOf(wire: Wire): Record<string, Fault> {
  const events = eventsOf(wire);
  const [start = ''] = events;
  const silent = { timeout_s: 0.1 };
  return {
    ...Object.fromEntries(
      STATUSES.flatMap(([status, type]) => [
        [`status-${status}`, { reply: failing(wire, status, type) }],
        [`status-${status}-later`, { reply: failing(wire, status, type, { 'retry-after': '37' }) }],
      ]),
    ),
    ...Object.fromEntries(TYPES.map((type) => [`type-${type.replace(/\W/g, '-')}`, { reply: page(type) }])),
    ...Object.fromEntries(ENCODINGS.map((name) => [`packed-${name}`, { reply: packed(wire, name) }])),
    swapped: {
      reply: ({ json: { stream } }) => (stream === true ? json(wire.whole(ANSWER)) : sse(streamOf(wire))),
    },
    'error-first': { reply: sse([start, errorEvent(wire, 'It is busy.', 1)]) },
    'error-inside': {
      reply({ text }) {
        const place = Number(/after (\d+)/.exec(text)?.[1]);
        return sse([...events.slice(0, place), errorEvent(wire, 'It is busy.', place)]);
      },
    },
    'malformed-inside': { reply: sse(malformed(wire)) },
    never: { reply: hang(), extra: silent },
    'after the head': { reply: sse([], { end: 'hang' }), extra: silent },
    'after the start': { reply: sse([start], { end: 'hang' }), extra: silent },
    // Long enough for its beginning to arrive first, on a busy machine too.
    'in the middle': { reply: sse(events.slice(0, 8), { end: 'hang' }), extra: { timeout_s: 2 } },
  };
}

const malformed = (wire: Wire): string =>
  [...eventsOf(wire).slice(0, 8), 'data: {"half":\n\n', ...eventsOf(wire).slice(8)].join('');

const page = (type: string): Reply => answer('<html>Sign in</html>', { headers: { 'content-type': type } });

describe.each(PAIRS)('$upstream.name to $client.name', ({ upstream, client }) => {
  let bed: FaultBed;
  beforeAll(async () => {
    bed = await startFaultBed(upstream, faultsOf(upstream));
  });
  afterAll(() => bed.close());

  it.each(STATUSES)('keeps the status %d and its retry-after', async (status) => {
    for (const stream of BOTH) {
      const plain = await ask(bed.url, client, { stream, model: `status-${status}` });
      expect(held(client, plain).failed).toBe(true);
      expect([plain.status, plain.headers['retry-after']]).toEqual([status, undefined]);
      expect(errorMessage(plain)).toContain(`It says ${status}.`);
      const later = await ask(bed.url, client, { stream, model: `status-${status}-later` });
      expect(held(client, later).failed).toBe(true);
      expect([later.status, later.headers['retry-after']]).toEqual([status, '37']);
    }
  });

  it('makes an error event of an error inside its stream', async () => {
    for (const place of quietPlaces(upstream)) {
      const what = { text: `after ${place}`, model: 'error-inside' };
      const streamed = await ask(bed.url, client, { stream: true, ...what });
      expect([streamed.status, held(client, streamed).failed]).toEqual([200, true]);
      expect(streamed.text).toContain('It is busy.');
      const whole = await ask(bed.url, client, { stream: false, ...what });
      expect(held(client, whole).failed).toBe(true);
      expect(errorMessage(whole)).toBe('It is busy.');
    }
  });

  it('makes a status of an error before the first word', async () => {
    for (const stream of BOTH) {
      const response = await ask(bed.url, client, { stream, model: 'error-first' });
      expect(response.status).toBeGreaterThanOrEqual(500);
      expect(held(client, response).failed).toBe(true);
      expect(errorMessage(response)).toBe('It is busy.');
    }
  });

  it('makes an error event of an event that is none', async () => {
    const response = await ask(bed.url, client, { stream: true, model: 'malformed-inside' });
    // Where both sides speak the same, events go through unread: the client judges them.
    if (upstream === client) expect(response.text).toBe(malformed(upstream));
    else expect([response.status, held(client, response).failed]).toEqual([200, true]);
    const whole = await ask(bed.url, client, { stream: false, model: 'malformed-inside' });
    expect(held(client, whole).failed).toBe(true);
  });

  it('reads a whole answer where a stream was asked for, and the other way round', async () => {
    for (const stream of BOTH) {
      const response = await ask(bed.url, client, { stream, model: 'swapped' });
      expect(response.headers['content-type']).toMatch(stream ? /^text\/event-stream/ : /^application\/json/);
      expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
    }
  });

  it.each(TYPES)('does not take a page of type %s for an answer', async (type) => {
    for (const stream of BOTH) {
      const response = await ask(bed.url, client, { stream, model: `type-${type.replace(/\W/g, '-')}` });
      expect([response.status, held(client, response).failed]).toEqual([502, true]);
    }
  });

  it('gives up an upstream that is silent, wherever it is', async () => {
    const giveUp = async (model: string): Promise<void> => {
      const [streamed, whole] = await Promise.all([
        ask(bed.url, client, { stream: true, model }),
        ask(bed.url, client, { stream: false, model }),
      ]);
      expect(held(client, streamed).failed, model).toBe(true);
      expect(streamed.status, model).toBe(model === 'in the middle' ? 200 : 504);
      expect([whole.status, held(client, whole).failed], model).toEqual([504, true]);
    };
    await Promise.all(SILENCES.map(giveUp));
  });

  it.each(ENCODINGS)('unpacks %s, and refuses what only says that it is', async (name) => {
    const model = `packed-${name}`;
    for (const stream of BOTH) {
      const whole = await ask(bed.url, client, { stream, model });
      expect(held(client, whole)).toMatchObject({ failed: false, text: TEXT });
      expect(whole.headers['content-encoding']).toBeUndefined();
      expect(held(client, await ask(bed.url, client, { stream, model, text: 'broken' })).failed).toBe(true);
      expect(held(client, await ask(bed.url, client, { stream, model, text: 'cut' })).failed).toBe(true);
    }
  });
});

describe.each(WIRES)('$name and time', (wire) => {
  it.each([429, 500, 529])('is tried again after the time that it asks for with %d', async (status) => {
    const server = await startUpstream([]);
    const upstreams = { up: server.config(wire.name) };
    const { url } = await startFaultGateway({ upstreams, retryBudgetMs: 10_000 });
    for (const client of WIRES) {
      server.reply(failing(wire, status, 'api_error', { 'retry-after': '0' }), good(wire));
      const response = await ask(url, client, { stream: true });
      expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
    }
    expect(server.requests).toHaveLength(2 * WIRES.length);
  });

  it('is tried twice at most, and its error keeps its status', async () => {
    const server = await startUpstream(() => failing(wire, 529, 'overloaded_error', { 'retry-after': '0' }));
    const upstreams = { up: server.config(wire.name) };
    const { url } = await startFaultGateway({ upstreams, retryBudgetMs: 10_000 });
    const response = await ask(url, wire, { stream: false });
    expect([response.status, response.headers['retry-after']]).toEqual([529, '0']);
    expect(server.requests).toHaveLength(2);
  });

  it('is not asked again for what is no answer', async () => {
    const page = answer('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
    const server = await startUpstream(() => page);
    const upstreams = { up: server.config(wire.name) };
    const { url } = await startFaultGateway({ upstreams, retryBudgetMs: 10_000 });
    for (const client of WIRES) expect((await ask(url, client, { stream: false })).status).toBe(502);
    expect(server.requests).toHaveLength(WIRES.length);
  });

  it('is not waited for longer than a client would wait', async () => {
    const server = await startUpstream(() => failing(wire, 529, 'overloaded_error', { 'retry-after': '60' }));
    const upstreams = { up: server.config(wire.name) };
    const { url } = await startFaultGateway({ upstreams, retryBudgetMs: 10_000 });
    const response = await ask(url, wire, { stream: false });
    expect([response.status, response.headers['retry-after']]).toEqual([529, '60']);
    expect(server.requests).toHaveLength(1);
  });
});
