/**
 * Upstreams that break, at every byte and in every way. A client gets an HTTP error in its dialect,
 * or a stream that is valid up to an error event; where another upstream can answer, it notices nothing.
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import type { RawResponse } from '../support/raw-http.js';
import { call, type Scripted } from '../support/scripted.js';
import {
  type AnswerOptions,
  answer,
  closeEarly,
  deadUrl,
  type Ending,
  hang,
  json,
  type Reply,
  reset,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { anthropicError, openaiError } from '../support/wire.js';
import { LONG, SEED, TIMEOUT_MS } from './counts.js';
import { ask, inParallel, startFaultGateway } from './fault-gateway.js';
import { Random } from './random.js';
import type { Frame } from './stream-faults.js';
import { type Said, WIRES, type Wire } from './wires.js';

const ANSWER: Scripted = {
  model: 'upstream-model',
  parts: [
    { type: 'thinking', text: ['Let me ', 'see…'], signature: 'c2lnbmVk' },
    { type: 'text', text: ['I look it up: ', 'Zürich, 北京 😀'] },
    call('get_weather', { city: 'Zürich', days: [1, 2] }, 'call_1'),
    call('search', { query: '"北京"' }, 'call_2'),
  ],
};

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));
const SAME = WIRES.map((wire) => ({ upstream: wire, client: wire }));

function frameText(wire: Wire, frame: Frame): string {
  if (typeof frame === 'string') return frame;
  const name = wire.name === 'openai-chat' ? '' : `event: ${String(frame['type'])}\n`;
  return `${name}data: ${JSON.stringify(frame)}\n\n`;
}

const streamOf = (wire: Wire, scripted = ANSWER): string =>
  wire
    .frames(scripted, false)
    .map((frame) => frameText(wire, frame))
    .join('');

/** A whole answer or a stream, as it was asked for. */
const good =
  (wire: Wire, options: AnswerOptions = {}): ScriptFunction =>
  ({ json: { stream } }) =>
    stream === true ? sse(streamOf(wire), options) : json(wire.whole(ANSWER), options);

const errorBody = (wire: Wire, type: string, message: string): object =>
  wire.name === 'anthropic-messages' ? anthropicError(type, message) : openaiError(message, { type });

/** The error as it stands in a stream of this dialect. */
const errorFrame = (wire: Wire, message: string): Frame => {
  if (wire.name === 'openai-responses') return { type: 'error', code: 'server_error', message, param: null };
  return wire.name === 'anthropic-messages'
    ? anthropicError('overloaded_error', message)
    : openaiError(message, { type: 'server_error' });
};

/** What the client holds; throws where it would. */
function said(client: Wire, response: RawResponse): Said {
  if (response.status !== 200) {
    expect(response.status, response.text).toBeGreaterThanOrEqual(400);
    expect(client.isError(response.json()), response.text).toBe(true);
    return { text: '', thinking: '', calls: [], stop: undefined, failed: true };
  }
  expect(response.complete, 'the answer was cut off').toBe(true);
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  return isStream ? client.accept(response.text) : client.read(response.json());
}

describe.each(PAIRS)('$upstream.name that breaks, to $client.name', ({ upstream, client }) => {
  const ENDINGS: readonly Ending[] = ['reset', 'truncate', 'keep-alive'];

  /** Which bytes to break at, and how, is in the request itself, so that many can run at once. */
  const breaking =
    (whole: (stream: boolean) => Buffer): ScriptFunction =>
    ({ text, json: { stream } }) => {
      const [, offset = '', end = ''] = /cut at (\d+) by ([a-z-]+)/.exec(text) ?? [];
      const bytes = whole(stream === true);
      const ending = ENDINGS.find((each) => each === end) ?? 'reset';
      const options = { cutAt: Number(offset), end: ending, together: true };
      // An orderly end says its own length; the others promise more than they give.
      if (stream === true) return sse([bytes], options);
      return json(null, { ...options, ...(ending === 'keep-alive' ? { contentLength: Number(offset) } : {}) })
        .kind === 'answer'
        ? answer(bytes, {
            ...options,
            headers: { 'content-type': 'application/json' },
            contentLength: ending === 'keep-alive' ? Number(offset) : bytes.length,
          })
        : reset();
    };

  it.each([true, false])('at any byte, stream: %s', { timeout: TIMEOUT_MS }, async (stream) => {
    const bytes = Buffer.from(stream ? streamOf(upstream) : JSON.stringify(upstream.whole(ANSWER)));
    const server = await startUpstream(breaking(() => bytes));
    const { url } = await startFaultGateway({ upstreams: { up: server.config(upstream.name) } });
    const try_ = async (offset: number, ending: Ending): Promise<Said> =>
      said(client, await ask(url, client, { stream, text: `cut at ${offset} by ${ending}` }));

    const whole = await try_(bytes.length, 'keep-alive');
    expect(whole).toMatchObject({ failed: false, text: 'I look it up: Zürich, 北京 😀' });
    expect(whole.calls).toHaveLength(2);

    const random = new Random(SEED);
    const every = Array.from({ length: bytes.length }, (_, offset) => offset);
    const offsets = LONG ? every : [0, 1, bytes.length - 1, ...random.shuffled(every).slice(0, 12)];
    const tries = offsets.flatMap((offset) => ENDINGS.map((ending) => ({ offset, ending })));
    await inParallel(tries, 8, async ({ offset, ending }) => {
      const where = `at ${offset} of ${bytes.length} by ${ending}, after ${JSON.stringify(bytes.subarray(Math.max(0, offset - 60), offset).toString())}`;
      const got = await try_(offset, ending).catch((error: unknown) => {
        throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
      // Cut behind everything that matters, the answer may as well be whole.
      if (!got.failed) expect(got, where).toEqual(whole);
    });
    await server.whenIdle();
  });
});
