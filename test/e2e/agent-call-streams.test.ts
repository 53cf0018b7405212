/** Calls of the client's own tools reach it while the model still writes them, on every agent and wire. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { eventByEvent, type Piece } from '../support/replies.js';
import { type AnswerInDialect, inDialect } from '../support/scripted-answers.js';
import {
  type Gate,
  gate,
  type ScriptedUpstream,
  type ScriptFunction,
  startUpstream,
} from '../support/scripted-upstream.js';
import {
  parseSse,
  validateAnthropicStream,
  validateChatStream,
  validateResponsesStream,
} from '../support/sse.js';
import { offeredName } from '../support/told.js';
import { call, type Scripted, textAnswer } from '../support/wire.js';

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};
const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } } };
const TOOL: Readonly<Record<DialectName, object>> = {
  'anthropic-messages': { name: 'keep', input_schema: PARAMETERS },
  'openai-chat': { type: 'function', function: { name: 'keep', parameters: PARAMETERS } },
  'openai-responses': { type: 'function', name: 'keep', parameters: PARAMETERS },
};

/** Beginning and end of the arguments, as the model writes them. */
const BEGINNING = '{"text":"the beginning';
const END = ' and the end"}';
const WHOLE = { text: 'the beginning and the end' };

const keep = (id: string, ...pieces: string[]) => ({
  ...call('keep', {}, id),
  arguments: pieces.length > 0 ? pieces : [BEGINNING, END],
});

/** Calls by the names that the model was offered. */
const saying =
  (scripted: Scripted, options?: AnswerInDialect): ScriptFunction =>
  (request, index) => {
    const { tools } = request.json;
    const names = (Array.isArray(tools) ? tools : []).map(({ name }: { name: string }) => name);
    const parts = scripted.parts.map((part) =>
      part.type === 'call' ? { ...part, name: offeredName(part.name, names) } : part,
    );
    return inDialect({ ...scripted, parts }, options)(request, index);
  };

/** Everything up to the end of the first call, then what stands for the rest. */
const heldAt = (text: string, held: Gate) => (stream: string) => {
  const events: Piece[] = eventByEvent(stream);
  const at = events.findIndex((event) => typeof event === 'string' && event.includes(text));
  return [...events.slice(0, at), held, ...events.slice(at)];
};

interface Called {
  id: string;
  name: string;
  input: unknown;
}

/** Calls and end of a whole stream, which must be valid. */
const READERS: Readonly<Record<DialectName, (text: string) => { calls: Called[]; stop: unknown }>> = {
  'anthropic-messages': (text) => {
    const { content, stopReason } = validateAnthropicStream(parseSse(text));
    const calls = content.filter(({ type }) => type === 'tool_use');
    return {
      calls: calls.map(({ id, name, input }) => ({ id: String(id), name: String(name), input })),
      stop: stopReason,
    };
  },
  'openai-chat': (text) => {
    const { calls, finishReason } = validateChatStream(parseSse(text));
    return {
      calls: calls.map(({ id, name, arguments: json }) => ({ id, name, input: JSON.parse(json) })),
      stop: finishReason,
    };
  },
  'openai-responses': (text) => {
    const { output, response } = validateResponsesStream(parseSse(text));
    const calls = output.filter(({ type }) => type === 'function_call');
    return {
      calls: calls.map(({ call_id: id, name, arguments: json }) => ({
        id: String(id),
        name: String(name),
        input: JSON.parse(String(json)),
      })),
      stop: response?.['status'],
    };
  },
};

const STOPS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': 'tool_use',
  'openai-chat': 'tool_calls',
  'openai-responses': 'completed',
};

describe.each(['native', 'claude-code'])('a call of a client tool on the engine %s', (engine) => {
  const steps: ScriptFunction[] = [];
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let root: string;
  let closeFolder = async () => {};
  let questions = 0;

  beforeAll(async () => {
    const folder = await tempFolder('toolgate-calls');
    closeFolder = () => folder.remove();
    root = folder.path;
    upstream = await startUpstream((request, index) =>
      (steps.shift() ?? inDialect(textAnswer('No more.')))(request, index),
    );
    gateway = await startTestGateway({
      config: {
        upstreams: { up: upstream.config('anthropic-messages') },
        models: { agent: { engine, upstream: 'up', model: 'scripted', cwd: root } },
        permissions: { mode: 'allow', deny: ['forbidden_*'] },
        sandbox: 'off',
        sessions: { max_live: 2 },
      },
    });
  });

  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    await closeFolder();
  });

  async function post(dialect: DialectName, said: string | object[], more: object = {}): Promise<Response> {
    const messages = typeof said === 'string' ? [{ role: 'user', content: said }] : said;
    return fetch(gateway.url + PATHS[dialect], {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'agent',
        stream: true,
        tools: [TOOL[dialect]],
        ...(dialect === 'openai-responses' ? { input: messages } : { messages }),
        ...(dialect === 'anthropic-messages' ? { max_tokens: 4000 } : {}),
        ...more,
      }),
    });
  }

  /** The whole stream; `seen` is told what has come so far. */
  async function read(response: Response, seen: (text: string) => void = () => {}): Promise<string> {
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      seen(text);
    }
    return text;
  }

  const question = (): string => {
    questions += 1;
    return `Question ${questions}`;
  };

  it.each(DIALECT_NAMES)('is seen on %s while the model writes it', { timeout: 60_000 }, async (dialect) => {
    const held = gate();
    steps.push(
      saying({ parts: [keep('call_a'), keep('call_b', '{}')] }, { pieces: heldAt('and the end', held) }),
    );
    // The rest of the arguments is not even written before their beginning is seen.
    const text = await read(await post(dialect, question()), (seen) => {
      if (seen.includes('the beginning')) held.open();
    });
    expect(READERS[dialect](text)).toEqual({
      calls: [
        { id: expect.any(String), name: 'keep', input: WHOLE },
        { id: expect.any(String), name: 'keep', input: {} },
      ],
      stop: STOPS[dialect],
    });
  });

  it('goes on with its result, and beside a call of the gateway that nobody sees', {
    timeout: 60_000,
  }, async () => {
    await writeFile(join(root, 'a.txt'), 'words of a file');
    const asked = question();
    steps.push(
      saying({
        parts: [keep('call_c'), call('Read', { file_path: join(root, 'a.txt') }, 'call_read')],
      }),
      saying(textAnswer('Done.')),
    );
    const text = await read(await post('anthropic-messages', asked));
    expect(text).not.toMatch(/Read|a\.txt|call_read/);
    const { calls } = READERS['anthropic-messages'](text);
    expect(calls).toMatchObject([{ name: 'keep', input: WHOLE }]);
    const messages = [
      { role: 'user', content: asked },
      { role: 'assistant', content: calls.map((each) => ({ type: 'tool_use', ...each })) },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: calls[0]?.id, content: 'kept' }] },
    ];
    const next = await post('anthropic-messages', messages);
    expect(next.headers.get('x-toolgate-attach')).toBe('continue');
    expect(await read(next)).toContain('Done.');
    expect(upstream.requests.at(-1)?.text).toContain('words of a file');
  });

  it('that breaks off is an error, and the same request has all of it', { timeout: 60_000 }, async () => {
    const asked = question();
    const held = gate();
    const pieces = (stream: string): Piece[] => [...stream.split(/(?= and the end)/).slice(0, 1), held];
    steps.push(
      saying({ parts: [keep('call_d')] }, { pieces, end: 'truncate' }),
      saying({ parts: [keep('call_e')] }),
    );
    const broken = await read(await post('anthropic-messages', asked), (seen) => {
      if (seen.includes('the beginning')) held.open();
    });
    expect(validateAnthropicStream(parseSse(broken), { error: 'expected' }).error).toBeDefined();
    const again = READERS['anthropic-messages'](await read(await post('anthropic-messages', asked)));
    expect(again).toMatchObject({ calls: [{ name: 'keep', input: WHOLE }], stop: 'tool_use' });
  });

  it('whose arguments cannot be read is an error where it was seen', { timeout: 60_000 }, async () => {
    const asked = question();
    steps.push(
      saying({ parts: [keep('call_f', '{"text":', ' nope}')] }),
      saying({ parts: [keep('call_g')] }),
    );
    const broken = await read(await post('anthropic-messages', asked));
    const { error } = validateAnthropicStream(parseSse(broken), { error: 'expected' });
    expect(error?.message).toContain('keep');
    expect(error?.message).toContain('not valid JSON');
    const again = READERS['anthropic-messages'](await read(await post('anthropic-messages', asked)));
    expect(again).toMatchObject({ calls: [{ input: WHOLE }], stop: 'tool_use' });
  });

  it('whose arguments cannot be read is written again where nobody saw it', { timeout: 60_000 }, async () => {
    steps.push(
      saying({ parts: [keep('call_h', '{"text":', ' nope}')] }),
      saying({ parts: [keep('call_i')] }),
    );
    const answer: unknown = await (await post('anthropic-messages', question(), { stream: false })).json();
    expect(answer).toMatchObject({ content: [{ type: 'tool_use', input: WHOLE }], stop_reason: 'tool_use' });
  });

  it('whose arguments are no object or lack their end is mended', { timeout: 60_000 }, async () => {
    const asked = question();
    steps.push(
      saying({
        parts: [
          keep('call_j', JSON.stringify(JSON.stringify(WHOLE))),
          keep('call_k', '{"text":"the beginning and the end"'),
        ],
      }),
      saying(textAnswer('Done.')),
    );
    const { calls } = READERS['anthropic-messages'](await read(await post('anthropic-messages', asked)));
    expect(calls.map(({ input }) => input)).toEqual([WHOLE, WHOLE]);
    const next = await post('anthropic-messages', [
      { role: 'user', content: asked },
      { role: 'assistant', content: calls.map((each) => ({ type: 'tool_use', ...each })) },
      {
        role: 'user',
        content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'kept' })),
      },
    ]);
    expect(next.headers.get('x-toolgate-attach')).toBe('continue');
    expect(await read(next)).toContain('Done.');
    expect(upstream.requests.at(-1)?.text).toContain('kept');
  });

  it('that the limit of the answer cuts off ends it as a cut one', { timeout: 60_000 }, async () => {
    steps.push(saying({ parts: [keep('call_l', BEGINNING)], stop: 'max_tokens' }));
    const text = await read(await post('anthropic-messages', question()));
    expect(text).toContain('the beginning');
    expect(validateAnthropicStream(parseSse(text)).stopReason).toBe('max_tokens');
  });

  it('is the only one where the client wants one at a time', { timeout: 60_000 }, async () => {
    steps.push(saying({ parts: [keep('call_m'), keep('call_n')] }));
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    const text = await read(await post('anthropic-messages', question(), { tool_choice }));
    expect(READERS['anthropic-messages'](text)).toMatchObject({
      calls: [{ input: WHOLE }],
      stop: 'tool_use',
    });
    expect(READERS['anthropic-messages'](text).calls).toHaveLength(1);
  });

  it('that a rule denies is never made: the model is not told of the tool', { timeout: 60_000 }, async () => {
    steps.push(saying({ parts: [call('forbidden_fruit', {}, 'call_o')] }), saying(textAnswer('Without it.')));
    const before = upstream.requests.length;
    const tools = [TOOL['anthropic-messages'], { name: 'forbidden_fruit', input_schema: PARAMETERS }];
    const response = await post('anthropic-messages', question(), { tools });
    expect(response.headers.get('x-toolgate-losses')).toContain('forbidden_*');
    const text = await read(response);
    expect(text).toContain('Without it.');
    expect(text).not.toContain('forbidden_fruit');
    expect(JSON.stringify(upstream.requests[before]?.json['tools'])).not.toContain('forbidden_fruit');
    expect(JSON.stringify(upstream.requests[before]?.json['tools'])).toContain('keep');
  });
});
