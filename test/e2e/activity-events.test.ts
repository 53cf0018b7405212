/** `x-toolgate-events: 1`: what the server's tools did, beside an answer that is the same without it. */
import { describe, expect, it } from 'vitest';
import type { AgentActivity, AgentActivityBody } from '../../src/activity/activity.js';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import type { Answer, ModelRequest } from '../../src/engines/engine.js';
import { deferred } from '../support/gate.js';
import { openRaw } from '../support/raw-http.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { answerOf, startServer, turnBytes } from './server-harness.js';

const HEADERS = { 'x-toolgate-events': '1' } as const;
const DESCRIBE = { title: 'Run npm test', kind: 'command', paths: [], command: 'npm test' } as const;
const USAGE = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 };

const of = (
  activity: AgentActivityBody,
  agent?: { id: string; label: string; parent: string },
): AgentActivity =>
  agent === undefined ? { ...activity, session: 's_1' } : { ...activity, session: 's_1', agent };

const tool = (event: Extract<AgentActivity, { type: 'tool' }>['event']): AgentActivity =>
  of({ type: 'tool', event });

/** A turn as an agent makes it: words, calls of its own, words. */
async function* working({ observe }: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
  observe?.(of({ type: 'model-start', step: 1, model: 'm' }));
  yield [{ type: 'start' }, { type: 'text', text: 'Let me ' }];
  yield [{ type: 'text', text: 'look.' }];
  observe?.(of({ type: 'model-end', step: 1, usage: USAGE, stopReason: 'tool_use' }));
  observe?.(tool({ type: 'tool-start', id: 't1', name: 'Bash', describe: DESCRIBE }));
  observe?.(tool({ type: 'tool-waiting', id: 't1', name: 'Bash', describe: DESCRIBE, approval: 'apr_1' }));
  yield [{ type: 'ping' }];
  observe?.(tool({ type: 'tool-progress', id: 't1', name: 'Bash', content: 'line one\n\nline\u2028two' }));
  observe?.(
    tool({
      type: 'tool-result',
      id: 't1',
      name: 'Bash',
      content: [{ type: 'text', text: `done\n\ndata: {"error":"not one"}\n\n${'x'.repeat(10_000)}` }],
      isError: false,
      durationMs: 12.4,
      outcome: 'done',
    }),
  );
  yield [{ type: 'break' }, { type: 'text', text: 'It is ' }];
  observe?.(of({ type: 'text', text: 'a word of a sub-agent' }, { id: 'a1', label: 'look', parent: 't1' }));
  observe?.(of({ type: 'agent-start', description: 'look' }, { id: 'a1', label: 'look', parent: 't1' }));
  observe?.(of({ type: 'agent-end', steps: 2, usage: USAGE }, { id: 'a1', label: 'look', parent: 't1' }));
  observe?.(of({ type: 'compacted', before: 40, after: 6 }));
  yield [{ type: 'text', text: 'done 完成.' }];
  observe?.(of({ type: 'handed-back', ids: ['t2'] }));
  yield [
    { type: 'usage', usage: USAGE },
    { type: 'stop', reason: 'end_turn' },
  ];
}

const agent = async (call: ModelRequest): Promise<Answer> => answerOf(working(call));

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};

async function stream(url: string, dialect: DialectName, headers: Record<string, string>): Promise<string> {
  const messages = [{ role: 'user', content: 'hi' }];
  const response = await fetch(url + PATHS[dialect], {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', max_tokens: 100, stream: true, messages, input: messages }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

const LINE = /^: toolgate (.*)\n\n/gm;
const toldIn = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(LINE)].map(([, json = '']) => JSON.parse(json));
/** Ids and times differ from answer to answer. */
const plain = (text: string): string =>
  text.replace(/(msg_|chatcmpl-|resp_|rs_|fc_)[0-9a-f]{32}\w*/g, '$1').replace(/"created(_at)?":\d+/g, '');

describe.each(DIALECT_NAMES)('a stream of %s', (dialect) => {
  it('tells what was done, in order, each line whole', async () => {
    const { url } = await startServer({ run: agent });
    const text = await stream(url, dialect, HEADERS);
    const told = toldIn(text);
    expect(told.map(({ type }) => type)).toEqual([
      'model_start',
      'usage',
      'tool_start',
      'tool_waiting',
      'tool_progress',
      'tool_result',
      'agent_start',
      'agent_end',
      'compacted',
      'handed_back',
    ]);
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index));
    expect(told[0]).toMatchObject({ step: 1, model: 'm' });
    expect(told[1]).toMatchObject({ step: 1, stop_reason: 'tool_use', usage: { input_tokens: 7 } });
    expect(told[2]).toEqual({
      type: 'tool_start',
      seq: 2,
      session: 's_1',
      agent: null,
      tool_use_id: 't1',
      name: 'Bash',
      kind: 'command',
      title: 'Run npm test',
      command: 'npm test',
      diff: null,
      because: null,
    });
    expect(told[3]).toMatchObject({ tool_use_id: 't1', approval: 'apr_1' });
    expect(told[4]).toMatchObject({ text: 'line one\n\nline\u2028two' });
    expect(told[5]).toMatchObject({ outcome: 'done', is_error: false, duration_ms: 12, truncated: true });
    expect(told[5]?.['content']).toEqual([
      { type: 'text', text: expect.stringMatching(/^done.{1996} \[…\]$/s) },
    ]);
    expect(told[6]).toMatchObject({ agent: { id: 'a1', label: 'look', parent: 't1' }, description: 'look' });
    expect(text).not.toContain('\u2028');
  });

  it('is without its lines what it is without the header', async () => {
    const { url } = await startServer({ run: agent });
    const [told, untold] = [await stream(url, dialect, HEADERS), await stream(url, dialect, {})];
    expect(untold).not.toContain('toolgate');
    expect(plain(told.replace(LINE, ''))).toBe(plain(untold));
  });

  it('says nothing behind its end', async () => {
    const { url, calls } = await startServer({ run: agent });
    const text = await stream(url, dialect, HEADERS);
    calls[0]?.observe?.(of({ type: 'max-steps', steps: 10 }));
    expect(
      text
        .split('\n\n')
        .filter((event) => event !== '')
        .at(-1),
    ).not.toContain('toolgate');
  });
});

describe('the official clients', () => {
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const SAID = 'Let me look.It is done 完成.';

  it('of Anthropic do not notice: raw and helper', async () => {
    const { url } = await startServer({ run: agent });
    const client = anthropicClient(url, { defaultHeaders: HEADERS });
    const body = { model: 'm', max_tokens: 100, messages };
    const types = new Set<string>();
    for await (const event of await client.messages.create({ ...body, stream: true })) types.add(event.type);
    expect([...types]).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const helper = client.messages.stream(body);
    const seen = new Set<string>();
    helper.on('streamEvent', (event) => seen.add(event.type));
    expect(await helper.finalText()).toBe('Let me look. It is done 完成.');
    expect(seen).toEqual(types);
  });

  it('of OpenAI do not notice: chat, its helper and its tool runner', async () => {
    const { url } = await startServer({ run: agent });
    const client = openaiClient(url, { defaultHeaders: HEADERS });
    let text = '';
    for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true })) {
      expect(chunk.object).toBe('chat.completion.chunk');
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe(SAID);
    expect(await client.chat.completions.stream({ model: 'm', messages }).finalContent()).toBe(SAID);
    const runner = client.chat.completions.runTools({ model: 'm', messages, tools: [], stream: true });
    expect(await runner.finalContent()).toBe(SAID);
  });

  it('of OpenAI do not notice: responses', async () => {
    const { url } = await startServer({ run: agent });
    const client = openaiClient(url, { defaultHeaders: HEADERS });
    const helper = client.responses.stream({ model: 'm', input: 'hi' });
    const numbers: number[] = [];
    helper.on('event', (event) => numbers.push(event.sequence_number));
    const response = await helper.finalResponse();
    expect(response.output_text).toBe(SAID);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });
});

describe('an answer', () => {
  it('that is not streamed is as it is without the header', async () => {
    const { url, calls } = await startServer({ run: agent });
    const client = anthropicClient(url, { defaultHeaders: HEADERS });
    const body = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };
    expect((await client.messages.create(body)).content).toHaveLength(2);
    expect(calls[0]?.observe).toBeUndefined();
  });

  it('whose head went out early tells what is done before its first word', async () => {
    const late = deferred<Answer>();
    const begun = deferred<ModelRequest>();
    const { url } = await startServer({
      run: (call) => {
        begun.resolve(call);
        return late.promise;
      },
      limits: { pingMs: 15 },
    });
    const connection = await openRaw(url);
    await connection.send(turnBytes(url, { stream: true }, '/v1/messages', HEADERS));
    const call = await begun.promise;
    call.observe?.(of({ type: 'model-start', step: 1, model: 'early' }));
    await connection.until(() => connection.body.toString().includes('early'));
    call.observe?.(of({ type: 'model-start', step: 2, model: 'later' }));
    await connection.until(() => connection.body.toString().includes('later'));
    late.resolve(answerOf(working(call)));
    const { text } = await connection.response();
    expect(toldIn(text).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(text).toMatch(/event: message_stop\ndata: .*\n\n$/);
  });

  it('that fails says nothing behind its failure', async () => {
    const { url } = await startServer({
      run: async (call) =>
        answerOf(
          (async function* () {
            yield [{ type: 'text', text: 'a' }] as const;
            call.observe?.(of({ type: 'compacted', before: 2, after: 1 }));
            yield [{ type: 'error', error: new GatewayError('overloaded', 'Too much.') }] as const;
            call.observe?.(of({ type: 'max-steps', steps: 1 }));
          })(),
        ),
    });
    const text = await stream(url, 'anthropic-messages', HEADERS);
    expect(toldIn(text).map(({ type }) => type)).toEqual(['compacted']);
    expect(text).toMatch(/event: error\ndata: .*\n\n$/);
  });

  it('of a reader that takes nothing does not keep what it missed, and the agent goes on', async () => {
    const many = 20_000;
    const worked = deferred();
    const { url } = await startServer({
      run: async (call) =>
        answerOf(
          (async function* () {
            yield [{ type: 'text', text: 'a' }] as const;
            for (let step = 0; step < many; step++) {
              call.observe?.(of({ type: 'model-start', step, model: 'm'.repeat(200) }));
            }
            worked.resolve();
            yield [{ type: 'stop', reason: 'end_turn' }] as const;
          })(),
        ),
    });
    const connection = await openRaw(url);
    connection.socket.pause();
    await connection.send(turnBytes(url, { stream: true }, '/v1/messages', HEADERS));
    await worked.promise;
    connection.socket.resume();
    const { text } = await connection.response();
    const told = toldIn(text);
    expect(told.length).toBeLessThan(many);
    expect(told.at(-1)).toMatchObject({ seq: many - 1 });
    expect(text).toMatch(/event: message_stop\ndata: .*\n\n$/);
  });
});
