/** The first upstream of a route fails in every way there is, and the second answers: nobody notices. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawResponse } from '../support/raw-http.js';
import {
  answer,
  closeEarly,
  DEAD_URL,
  hang,
  json,
  type Reply,
  reset,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { ask, type FaultBed, startFaultBed, startFaultGateway } from './fault-gateway.js';
import { errorBody, errorEvent, errorMessage, eventsOf, good, held, TEXT } from './upstream-answers.js';
import { WIRES, type Wire } from './wires.js';

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));
const BOTH = [true, false];
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

const FAULTS: Readonly<Record<string, (wire: Wire, start: string) => Reply>> = {
  'resets the connection': reset,
  'closes the connection': closeEarly,
  'resets after its head': () => ({ kind: 'raw', pieces: [HEAD], end: 'reset' }),
  'resets inside of its head': () => ({ kind: 'raw', pieces: [HEAD.slice(0, 30)], end: 'reset' }),
  'resets after its start': (_, start) => sse([start], { end: 'reset' }),
  'resets inside of its first event': (_, start) => sse([start.slice(0, 40)], { end: 'reset' }),
  'ends without a word': (_, start) => sse([start]),
  'ends without an event': () => sse([]),
  'fails inside its stream': (wire, start) => sse([start, errorEvent(wire, 'It is busy.', 1)]),
  'sends something that is no event': () => sse(['data: {"half\n\n']),
  'sends a page': () => answer('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
  'sends an empty body': () => answer('', { headers: { 'content-type': 'application/json' } }),
  'does not speak HTTP': () => ({ kind: 'raw', pieces: ['SSH-2.0-OpenSSH_9.6\r\n'], end: 'close' }),
  'never answers': hang,
  ...Object.fromEntries(
    [401, 403, 404, 429, 500, 503, 529].map((status) => [
      `says ${status}`,
      (wire: Wire) => json(errorBody(wire, 'api_error', 'It does not want to.'), { status }),
    ]),
  ),
};

/** An answer without what differs between two answers to the same request because they are two. */
function alike({ status, headers, text }: RawResponse, model: string): object {
  const { 'request-id': id = '', ...rest } = headers;
  for (const own of ['date', 'x-request-id', 'x-toolgate-trace', 'x-toolgate-upstream', 'content-length'])
    Reflect.deleteProperty(rest, own);
  const same = text
    .replaceAll(id.replace('req_', ''), 'ID')
    .replaceAll(JSON.stringify(model), '"MODEL"')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
  return { status, headers: rest, text: same };
}

describe.each(PAIRS)(
  'fallback from $upstream.name to the next upstream, for a client of $client.name',
  ({ upstream, client }) => {
    let bed: FaultBed;
    beforeAll(async () => {
      const [start = ''] = eventsOf(upstream);
      const faults = Object.entries(FAULTS).map(([name, reply]) => [
        name,
        { reply: reply(upstream, start), extra: reply === hang ? { timeout_s: 0.1 } : {} },
      ]);
      const dead = { reply: reset(), extra: { base_url: `${DEAD_URL}/v1` } };
      bed = await startFaultBed(
        upstream,
        { ...Object.fromEntries(faults), 'is dead': dead },
        // No time passes: what failed once is left alone for good.
        { behind: good(upstream), now: () => 0 },
      );
    });
    afterAll(() => bed.close());

    it.each([...Object.keys(FAULTS), 'is dead'])(
      'gives the answer of the next where the first one %s',
      async (model) => {
        for (const stream of BOTH) {
          const response = await ask(bed.url, client, { stream, model });
          expect(response.headers['x-toolgate-upstream']).toBe('second');
          expect(held(client, response)).toMatchObject({ failed: false, text: TEXT });
          const direct = await ask(bed.url, client, { stream, model: 'direct' });
          expect(alike(response, model)).toEqual(alike(direct, 'direct'));
        }
        // What is wrong with one model is no reason to leave the upstream alone.
        const isOfModel = model === 'says 403' || model === 'says 404';
        expect(bed.requests(model)).toHaveLength(model === 'is dead' ? 0 : isOfModel ? BOTH.length : 1);
      },
    );
  },
);

describe('upstreams of several dialects', () => {
  it.each(WIRES)('give $name the answer of the last where each other fails', async (client) => {
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

  it.each(WIRES)('give $name the error of the last where all fail', async (client) => {
    const broken = await startUpstream(() => json({ error: { message: 'A' } }, { status: 500 }));
    const full = await startUpstream(() =>
      json({ error: { message: 'It is full.' } }, { status: 529, headers: { 'retry-after': '9' } }),
    );
    const { url } = await startFaultGateway({
      upstreams: { broken: broken.config('openai-chat'), full: full.config('anthropic-messages') },
    });
    const response = await ask(url, client, { stream: true });
    expect([response.status, response.headers['retry-after']]).toEqual([529, '9']);
    expect(held(client, response).failed).toBe(true);
    expect(errorMessage(response)).toContain('It is full.');
  });
});
