import { describe, expect, it } from 'vitest';
import { GatewayError } from '../core/errors.js';
import { DIALECTS } from '../dialects/all.js';
import { anthropicMessages } from '../dialects/anthropic-messages/index.js';
import { openaiChat } from '../dialects/openai-chat/index.js';
import type { Dialect } from '../dialects/shared/dialect.js';
import { CredentialConcealer } from './conceal-credential.js';
import { ForwardedStream } from './forwarded-stream.js';

const named = (value: { type: string; [field: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const START = named({ type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } });
const OPEN = named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const TEXT = named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'é' } });
const STOP_BLOCK = named({ type: 'content_block_stop', index: 0 });
const DELTA = named({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 5 },
});
const MESSAGE_STOP = named({ type: 'message_stop' });
const OVERLOADED = named({ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } });
const PING = named({ type: 'ping' });

class Source implements AsyncIterableIterator<Buffer> {
  returned = false;
  readonly #parts: (string | Buffer | Error)[];

  constructor(parts: readonly (string | Buffer | Error)[]) {
    this.#parts = [...parts];
  }

  async next(): Promise<IteratorResult<Buffer>> {
    const part = this.#parts.shift();
    if (part instanceof Error) throw part;
    return part === undefined ? { done: true, value: undefined } : { done: false, value: Buffer.from(part) };
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.returned = true;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const BROKEN = new GatewayError('upstream_failed', 'It broke.');

async function read(stream: ForwardedStream): Promise<{ given: string[]; error: unknown }> {
  const given: string[] = [];
  try {
    for await (const bytes of stream.chunks()) given.push(Buffer.from(bytes).toString('latin1'));
  } catch (error) {
    return { given, error };
  }
  return { given, error: undefined };
}

async function run(parts: readonly (string | Buffer | Error)[], dialect: Dialect = anthropicMessages) {
  const source = new Source(parts);
  const stream = await ForwardedStream.open(dialect, source);
  return { stream, source, ...(await read(stream)) };
}

const latin = (text: string): string => Buffer.from(text).toString('latin1');

describe('ForwardedStream', () => {
  it('gives out what came, one piece for each read, and ends the source', async () => {
    const { given, error, source, stream } = await run([
      START,
      OPEN + TEXT,
      STOP_BLOCK + DELTA,
      MESSAGE_STOP,
    ]);
    expect(given).toEqual([START + OPEN + TEXT, STOP_BLOCK + DELTA, MESSAGE_STOP].map(latin));
    expect(error).toBeUndefined();
    expect(source.returned).toBe(true);
    expect(stream.usage()).toMatchObject({ inputTokens: 7, outputTokens: 5 });
  });

  it('gives out events whole, wherever the reads are cut', async () => {
    const text = Buffer.from(START + OPEN + TEXT + STOP_BLOCK + DELTA + MESSAGE_STOP);
    for (const size of [1, 2, 7, 33, 150]) {
      const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.subarray(index * size, (index + 1) * size),
      );
      const { given, error } = await run(parts);
      expect(error).toBeUndefined();
      expect(given.join('')).toBe(text.toString('latin1'));
      for (const piece of given) expect(piece.endsWith('\n\n')).toBe(true);
    }
  });

  it.each(['\r\n', '\r'])('knows events that end with %j', async (end) => {
    const events = [START, OPEN, TEXT, STOP_BLOCK + DELTA + MESSAGE_STOP].map((text) =>
      text.replaceAll('\n', end),
    );
    const { given, error } = await run(events);
    expect(error).toBeUndefined();
    expect(given.join('')).toBe(latin(events.join('')));
  });

  it('passes an event that is too large to hold', async () => {
    const large = named({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'x'.repeat(3 * 1024 * 1024) },
    });
    const half = large.length / 2;
    const parts = [START, OPEN, TEXT, large.slice(0, half), large.slice(half), DELTA + MESSAGE_STOP];
    const { given, error } = await run(parts);
    expect(error).toBeUndefined();
    expect(given.join('')).toBe(latin(parts.join('')));
    expect(given).toHaveLength(4);
  });

  it.each([
    ['an error event', [START, PING, OVERLOADED], 'Busy.'],
    ['a break', [START, BROKEN], 'It broke.'],
    ['something that is no event', ['data: <html>\n\n'], 'not JSON'],
    ['an early end', [START, PING], 'before the answer was complete'],
    ['nothing', [], 'without an answer'],
  ])('rejects while nothing was said: %s', async (_what, parts, message) => {
    const source = new Source(parts);
    await expect(ForwardedStream.open(anthropicMessages, source)).rejects.toThrow(message);
    expect(source.returned).toBe(true);
  });

  it('leaves out the event that was cut, and closes the block that was open', async () => {
    const { given, error, stream } = await run([START + OPEN + TEXT, TEXT.slice(0, 60), BROKEN]);
    expect(given).toEqual([latin(START + OPEN + TEXT)]);
    expect(error).toBe(BROKEN);
    expect(stream.failure(BROKEN, 'req_1')).toBe(
      `${STOP_BLOCK}event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke."},"request_id":"req_1"}\n\n`,
    );
  });

  it('gives out an event that lacks only its blank line before it says that the rest is missing', async () => {
    const { given, error, stream } = await run([START + OPEN + TEXT, STOP_BLOCK.trimEnd(), BROKEN]);
    expect(given).toEqual([START + OPEN + TEXT, STOP_BLOCK].map(latin));
    expect(error).toBe(BROKEN);
    expect(stream.failure(BROKEN, 'req_1')).toMatch(/^event: error\n/);
  });

  it.each(['data', 'data:', 'event: x\n', ': ping'])(
    'leaves out the beginning %j of an event',
    async (rest) => {
      const { given, error } = await run([START + OPEN + TEXT, rest, BROKEN]);
      expect([given, error]).toEqual([[latin(START + OPEN + TEXT)], BROKEN]);
    },
  );

  it('closes no block where none is open', async () => {
    const { stream } = await run([START + OPEN + TEXT + STOP_BLOCK + PING, BROKEN]);
    expect(stream.failure(BROKEN, 'req_1')).toMatch(/^event: error\n/);
  });

  it.each([
    ['breaks', [BROKEN]],
    ['ends', []],
    ['breaks inside of it', [MESSAGE_STOP.slice(0, -9), BROKEN]],
  ])('says the last word of an upstream that %s before it', async (_how, ending) => {
    const { given, error, stream } = await run([START + OPEN + TEXT + STOP_BLOCK + DELTA, ...ending]);
    expect(error).toBeUndefined();
    expect(given.at(-1)).toBe(MESSAGE_STOP);
    expect(stream.failure(BROKEN, 'req_1')).toBe(MESSAGE_STOP);
  });

  it('is whole when it breaks behind the last word', async () => {
    const text = START + OPEN + TEXT + STOP_BLOCK + DELTA + MESSAGE_STOP;
    const { given, error, stream } = await run([text, BROKEN]);
    expect([given, error]).toEqual([[latin(text)], undefined]);
    expect(stream.failure(BROKEN, 'req_1')).toBe('');
  });

  it('ends the last event of an upstream that leaves out the blank line', async () => {
    const text = chunk({ content: 'a' }) + chunk({}, 'stop');
    const { given, error } = await run([text, 'data: [DONE]'], openaiChat);
    expect(error).toBeUndefined();
    expect(given.join('')).toBe(`${text}data: [DONE]\n\n`);
  });

  it('says [DONE] where only that is missing', async () => {
    const text = chunk({ content: 'a' }) + chunk({}, 'stop');
    const { given, error } = await run([text, 'data: [DO'], openaiChat);
    expect(error).toBeUndefined();
    expect(given.join('')).toBe(`${text}data: [DONE]\n\n`);
  });

  it("adds nothing to an upstream's own error", async () => {
    const text = `${chunk({ content: 'a' })}data: {"error":{"message":"Busy.","type":"server_error"}}\n\n`;
    const { given, error, stream } = await run([text], openaiChat);
    expect([given, error]).toEqual([[text], undefined]);
    expect(stream.failure(BROKEN, 'req_1')).toBe('');
  });

  it('counts on where events have numbers', async () => {
    const responses = DIALECTS['openai-responses'];
    const created = { type: 'response.created', sequence_number: 0, response: { id: 'r', model: 'm' } };
    const item = { type: 'message', id: 'i', role: 'assistant', status: 'in_progress', content: [] };
    const added = { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item };
    const delta = {
      type: 'response.output_text.delta',
      sequence_number: 2,
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta: 'x',
    };
    const { error, stream } = await run([[created, added, delta].map(named).join(''), BROKEN], responses);
    expect(error).toBe(BROKEN);
    const [, data = ''] = /^event: error\ndata: (.*)\n\n$/.exec(stream.failure(BROKEN, 'req_1')) ?? [];
    expect(JSON.parse(data)).toMatchObject({ type: 'error', sequence_number: 3, message: 'It broke.' });
  });

  it('gives up on an upstream that sends without end before its first word', async () => {
    const part = Buffer.alloc(8 * 1024 * 1024, ': comment\n');
    const source = new Source(Array.from({ length: 20 }, () => part));
    await expect(ForwardedStream.open(openaiChat, source)).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(source.returned).toBe(true);
  });

  it('conceals the credential in errors at any place', async () => {
    const concealer = new CredentialConcealer({ baseUrl: 'http://127.0.0.1', apiKey: 'a-key-of-ours' });
    const failed = `data: ${JSON.stringify({ error: { message: 'a-key-of-ours is wrong' } })}\n\n`;
    await expect(ForwardedStream.open(openaiChat, new Source([failed]), { concealer })).rejects.toMatchObject(
      { message: '[redacted] is wrong' },
    );
    const source = new Source([chunk({ content: 'x' }), failed]);
    const { given } = await read(await ForwardedStream.open(openaiChat, source, { concealer }));
    expect(given.join('')).toContain('[redacted] is wrong');
    expect(given.join('')).not.toContain('a-key-of-ours');
  });
});
