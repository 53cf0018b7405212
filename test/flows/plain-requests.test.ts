/** An agent behind the two APIs, asked with nothing but HTTP: what a client without any SDK sees. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSessionId } from '../../src/sessions/persistence/session-factory.js';
import { TIMEOUT_MS } from '../faults/counts.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { ScriptedAgentModel } from '../support/scripted-agent-model.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { parseSse } from '../support/sse.js';
import { outline } from '../support/told.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { type CallPart, call, callsAnswer, textAnswer } from '../support/wire.js';
import type { EngineName } from './matrix.js';
import {
  CHAT_CALL,
  CHAT_FINAL,
  CHAT_FIRST,
  CHAT_FIRST_STREAMED,
  CHAT_MODEL,
  CHAT_SECOND,
  INTERNAL_TOOLS,
  MESSAGES_ALL_TOOLS,
  MESSAGES_FIRST,
  MESSAGES_FIRST_STREAMED,
  MESSAGES_MODEL,
  messagesSecond,
  NO_ID,
  WEATHER_CALL,
  WEATHER_FINAL,
} from './plain-requests.js';

const ENGINES: readonly EngineName[] = ['native', 'claude-code'];

interface Answered {
  status: number;
  headers: Headers;
  text: string;
  json: JsonRecord;
}

const asCall = ({ id, name, arguments: json }: typeof CHAT_CALL): CallPart => ({
  type: 'call',
  id,
  name,
  arguments: json,
});

describe.each(ENGINES)('plain requests to the engine %s', (engine) => {
  const model = new ScriptedAgentModel();
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  const folders: { remove(): Promise<void> }[] = [];

  beforeAll(async () => {
    const [home, work] = [await tempFolder('toolgate-plain'), await tempFolder('toolgate-plain-work')];
    folders.push(home, work);
    upstream = await startUpstream(model.script);
    gateway = await startTestGateway({
      folder: home.path,
      config: {
        upstreams: {
          openai: upstream.config('openai-chat'),
          claude: upstream.config('anthropic-messages'),
        },
        models: {
          [CHAT_MODEL]: { engine, upstream: 'openai', model: 'gpt', cwd: work.path },
          [MESSAGES_MODEL]: { engine, upstream: 'claude', model: 'opus', cwd: work.path },
        },
        permissions: { mode: 'allow' },
        sandbox: 'off',
      },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    for (const folder of folders) await folder.remove();
  });

  async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Answered> {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const value: unknown = isJson ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, text, json: isRecord(value) ? value : {} };
  }

  /** Plays a turn whose prompt is in the request itself, and looks whether all of it was asked for. */
  async function played(prompt: string, steps: Parameters<typeof model.play>[1], run: () => Promise<void>) {
    const turn = model.play(prompt, steps);
    await run();
    expect(model.left).toEqual([]);
    expect(model.clear()).toEqual([]);
    return turn;
  }

  const calculation = [callsAnswer(asCall(CHAT_CALL)), textAnswer(CHAT_FINAL)];
  const weather = [callsAnswer(asCall(WEATHER_CALL)), textAnswer(WEATHER_FINAL)];

  const chatAnswer = (message: object, finish: string): unknown => ({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: CHAT_MODEL,
    choices: [
      expect.objectContaining({ index: 0, message: expect.objectContaining(message), finish_reason: finish }),
    ],
    usage: expect.any(Object),
  });

  const calculateCall = {
    id: CHAT_CALL.id,
    type: 'function',
    function: { name: 'calculate', arguments: expect.toSatisfy(isTheSum) },
  };

  it.each(["the gateway's", 'none', "the client's own"])(
    'a calculation over chat completions, with X-Session-ID: %s',
    async (which) => {
      const turn = await played('请帮我计算 123 + 456', calculation, async () => {
        const first = await post('/v1/chat/completions', CHAT_FIRST);
        expect(first.status).toBe(200);
        expect(first.json).toEqual(
          chatAnswer({ role: 'assistant', content: null, tool_calls: [calculateCall] }, 'tool_calls'),
        );
        const session = first.headers.get('x-session-id') ?? '';
        expect(session).not.toBe('');
        // The text of the example, in bytes of UTF-8 as curl sends them.
        const own = Buffer.from('<会话ID>').toString('latin1');
        const headers: Record<string, string> =
          which === 'none' ? {} : { 'X-Session-ID': which === "the client's own" ? own : session };
        const second = await post('/v1/chat/completions', CHAT_SECOND, headers);
        expect(second.status).toBe(200);
        expect(second.json).toEqual(chatAnswer({ role: 'assistant', content: CHAT_FINAL }, 'stop'));
        expect(second.headers.get('x-session-id')).toBe(session);
        expect(second.headers.get('x-toolgate-attach')).toBe('continue');
        const note = which === "the client's own" ? 'foreign-session-id' : null;
        expect(second.headers.get('x-toolgate-attach-note')).toBe(note);
      });
      expect(outline(turn.requests[1]?.told ?? [])).toEqual([
        expect.stringContaining('请帮我计算 123 + 456'),
        'call calculate {"expression":"123 + 456"}',
        'result of calculate: 579',
      ]);
      expect(turn.requests[1]?.tools).toContain('calculate');
    },
    TIMEOUT_MS,
  );

  it(
    'a calculation over chat completions, streamed',
    async () => {
      await played('请帮我计算 123 + 456', [calculation[0] ?? []].flat(), async () => {
        const { status, headers, text } = await post('/v1/chat/completions', CHAT_FIRST_STREAMED);
        expect(status).toBe(200);
        expect(headers.get('content-type')).toContain('text/event-stream');
        const events = parseSse(text).map(({ data }) => data);
        expect(events.at(-1)).toBe('[DONE]');
        const chunks = events.slice(0, -1).map((data): unknown => JSON.parse(data));
        const choices = chunks
          .filter(isRecord)
          .flatMap(({ choices: given }) => (Array.isArray(given) ? given.filter(isRecord) : []));
        for (const chunk of chunks)
          expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: CHAT_MODEL });
        expect(choices.findLast((choice) => choice['finish_reason'] !== null)).toMatchObject({
          index: 0,
          finish_reason: 'tool_calls',
        });
        const calls = choices
          .map(({ delta }) => delta)
          .filter(isRecord)
          .flatMap(({ tool_calls: given }) => (Array.isArray(given) ? given.filter(isRecord) : []));
        expect(calls[0]).toMatchObject({
          id: CHAT_CALL.id,
          type: 'function',
          function: { name: 'calculate' },
        });
        const json = calls
          .map(({ function: called }) => (isRecord(called) ? called['arguments'] : ''))
          .join('');
        expect(JSON.parse(json)).toEqual({ expression: '123 + 456' });
      });
    },
    TIMEOUT_MS,
  );

  it('a session that is gone', async () => {
    const headers = { 'X-Session-ID': newSessionId() };
    const { status, json } = await post('/v1/chat/completions', CHAT_SECOND, headers);
    expect(status).toBe(404);
    expect(json).toMatchObject({
      error: { message: expect.any(String), type: expect.any(String), code: expect.anything() },
    });
  });

  it.each(NO_ID)('a result without the id of its call on %s is a 400', async (path, body) => {
    const { status, json } = await post(path, JSON.stringify(body));
    expect(status).toBe(400);
    const { error } = json;
    expect(error).toMatchObject({ type: 'invalid_request_error', message: expect.stringMatching(/_id\b/) });
    if (path === '/v1/messages') expect(json['type']).toBe('error');
    else expect(error).toHaveProperty('param');
  });

  const usedWeather = [
    { type: 'tool_use', id: WEATHER_CALL.id, name: 'get_weather', input: { city: 'Paris' } },
  ];

  it(
    'the weather over messages, with nothing but the history',
    async () => {
      await played('What is the weather in Paris?', weather, async () => {
        const first = await post('/v1/messages', MESSAGES_FIRST);
        expect(first.json).toMatchObject({
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          content: usedWeather,
          model: MESSAGES_MODEL,
          stop_reason: 'tool_use',
          usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
        });
        const second = await post('/v1/messages', messagesSecond(first.json['content']));
        expect(second.json).toMatchObject({
          content: [{ type: 'text', text: WEATHER_FINAL }],
          stop_reason: 'end_turn',
        });
        expect(second.headers.get('x-session-id')).toBe(first.headers.get('x-session-id'));
        expect(second.headers.get('x-toolgate-attach')).toBe('continue');
      });
    },
    TIMEOUT_MS,
  );

  it(
    'the weather over messages, streamed',
    async () => {
      await played('What is the weather in Paris?', [weather[0] ?? []].flat(), async () => {
        const { text } = await post('/v1/messages', MESSAGES_FIRST_STREAMED);
        const events = parseSse(text);
        const kinds = events.map(({ event }) => event).filter((event) => event !== 'ping');
        expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
        ]);
        const delta: unknown = JSON.parse(events.find(({ event }) => event === 'message_delta')?.data ?? '');
        expect(delta).toMatchObject({ delta: { stop_reason: 'tool_use' } });
        const start: unknown = JSON.parse(
          events.find(({ event }) => event === 'content_block_start')?.data ?? '',
        );
        expect(start).toMatchObject({ content_block: { type: 'tool_use', id: WEATHER_CALL.id } });
      });
    },
    TIMEOUT_MS,
  );

  it(
    'internal tools run on the server, whichever the request names; others come back',
    async () => {
      const turn = await played(
        'What is the weather in Paris?',
        [
          callsAnswer(
            call('LS', { path: '.' }, 'toolu_ls'),
            call('TodoRead', {}, 'toolu_todo'),
            asCall({ ...WEATHER_CALL, id: 'toolu_01all' }),
          ),
        ],
        async () => {
          const { json } = await post('/v1/messages', MESSAGES_ALL_TOOLS);
          expect(json).toMatchObject({
            content: [{ type: 'tool_use', id: 'toolu_01all', name: 'get_weather' }],
            stop_reason: 'tool_use',
          });
        },
      );
      const [request] = turn.requests;
      expect(request?.tools.filter((name) => name === 'get_weather')).toHaveLength(1);
      // Search has no provider here, and notebooks are edited under the newer name.
      const offered = INTERNAL_TOOLS.filter((name) => !['WebSearch', 'Jupyter'].includes(name));
      expect(request?.tools).toEqual(expect.arrayContaining(offered));
      expect(request?.tools.filter((name) => ['Jupyter', 'NotebookEdit'].includes(name))).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});

function isTheSum(json: unknown): boolean {
  return JSON.stringify(JSON.parse(String(json))) === JSON.stringify({ expression: '123 + 456' });
}
