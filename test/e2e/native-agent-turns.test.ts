/** The native agent where something gets in its way: people, limits, failures, clients that go. */
import { access, readFile } from 'node:fs/promises';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { gone } from '../support/mcp-servers.js';
import { errorInDialect } from '../support/scripted-answers.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, resultsOf, startAgent } from './native-agent-harness.js';

const ask = (content: string) => ({
  model: 'coder',
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content }],
});

const textOf = (content: readonly { type: string; text?: string }[]): string =>
  content.map((block) => block.text ?? '').join('');

describe('a call that nobody may make', () => {
  it('is refused to the model with the reason, and the turn goes on', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent(
      'openai-chat',
      repo.root,
      [
        callsAnswer(
          call('Bash', { command: 'touch made', description: 'x' }, 'c1'),
          call('Read', { file_path: repo.path('a') }, 'c2'),
        ),
        textAnswer('I may not do that.'),
      ],
      { rest: { permissions: { mode: 'ask', allow: ['Read'], unattended: 'deny' } } },
    );
    const { content } = await anthropicClient(gateway.url).messages.create(ask('make it'));
    expect(textOf(content)).toBe('I may not do that.');
    const [refused, read] = resultsOf(upstream.requests[1] ?? fail());
    expect(refused).toMatch(/permission|approv|allow/i);
    expect(read).toContain('a');
    await expect(access(repo.path('made'))).rejects.toThrow();
  });
});

describe('a sub-agent', () => {
  it('is started by the Task tool, works, and reports to its parent', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const { gateway, upstream } = await startAgent('anthropic-messages', repo.root, [
      {
        ...callsAnswer(
          call(
            'Task',
            { description: 'find it', prompt: 'What is the answer?', subagent_type: 'general-purpose' },
            'c1',
          ),
        ),
        usage: { input: 10, output: 1 },
      },
      {
        ...callsAnswer(call('Read', { file_path: repo.path('notes.txt') }, 'c2')),
        usage: { input: 20, output: 2 },
      },
      { ...textAnswer('It is 42.'), usage: { input: 30, output: 3 } },
      { ...textAnswer('The answer: 42.'), usage: { input: 40, output: 4 } },
    ]);
    const { content, usage } = await anthropicClient(gateway.url).messages.create(ask('go'));
    expect(textOf(content)).toBe('The answer: 42.');
    expect(usage).toMatchObject({ input_tokens: 100, output_tokens: 10 });
    expect(upstream.requests[1]?.text).toContain('What is the answer?');
    const tools = upstream.requests[1]?.json['tools'];
    expect(JSON.stringify(tools)).toContain('"Read"');
    expect(JSON.stringify(tools)).not.toContain('"Task"');
    expect(resultsOf(upstream.requests[3] ?? fail())[0]).toContain('It is 42.');
  });
});

describe('a client that goes', () => {
  it('takes the command that runs for it along', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('openai-chat', repo.root, [
      {
        parts: [
          { type: 'text', text: 'Running.' },
          call('Bash', { command: 'echo $$ > pid; sleep 300', description: 'x' }, 'c1'),
        ],
      },
    ]);
    const stream = anthropicClient(gateway.url).messages.stream(ask('run it'));
    const ended = expect(stream.finalMessage()).rejects.toThrow('aborted');
    const pid = await pidIn(repo.path('pid'));
    stream.abort();
    await ended;
    await gone(pid);
  });
});

describe('a model that fails in the middle', () => {
  it('ends the stream with its error, and the same request goes on from there', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      {
        parts: [{ type: 'text', text: 'Looking.' }, call('Read', { file_path: repo.path('a') }, 'c1')],
      },
    ]);
    upstream.reply(errorInDialect(400, 'invalid_request_error', 'no such thing'));
    const client = anthropicClient(gateway.url);
    const stream = client.messages.stream(ask('look'));
    await expect(stream.finalMessage()).rejects.toThrow('no such thing');
    const session = stream.response?.headers.get('x-session-id') ?? '';
    upstream.reply((request) => {
      expect(resultsOf(request)).toHaveLength(1);
      return errorInDialect(400, 'invalid_request_error', 'still not')(request, 0);
    });
    const again = client.messages.create(ask('look'), { headers: { 'x-session-id': session } });
    await expect(again).rejects.toMatchObject({ status: 400 });
  });

  it('at once keeps its status', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('anthropic-messages', repo.root, []);
    upstream.reply(errorInDialect(403, 'permission_error', 'not for you'));
    const failed = anthropicClient(gateway.url).messages.create(ask('x'));
    await expect(failed).rejects.toMatchObject({ status: 403 });
  });
});

describe('client tools', () => {
  const WEATHER: OpenAI.Responses.FunctionTool = {
    type: 'function',
    name: 'get_weather',
    description: 'Weather',
    parameters: { type: 'object', properties: {} },
    strict: false,
  };

  it('go on by previous_response_id, and keep the tools of the session', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-responses', repo.root, [
      callsAnswer(call('Read', { file_path: repo.path('a') }, 'c1'), call('get_weather', {}, 'c2')),
      textAnswer('Rain.'),
    ]);
    const client = openaiClient(gateway.url);
    const first = await client.responses.create({ model: 'coder', input: 'weather?', tools: [WEATHER] });
    expect(first.output.map(({ type }) => type)).toEqual(['function_call']);
    const second = await client.responses.create({
      model: 'coder',
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: 'c2', output: 'rain' }],
    });
    expect(second.output_text).toBe('Rain.');
    const request = upstream.requests[1] ?? fail();
    expect(resultsOf(request)).toHaveLength(2);
    expect(resultsOf(request)[1]).toBe('rain');
    expect(request.text).toContain('get_weather');
  });

  it('that are forced are handed back', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('anthropic-messages', repo.root, [
      callsAnswer(call('get_weather', {}, 'c2')),
    ]);
    const chat = await openaiClient(gateway.url).chat.completions.create({
      model: 'coder',
      messages: [{ role: 'user', content: 'weather?' }],
      tools: [
        {
          type: 'function',
          function: { name: 'get_weather', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    });
    expect(chat.choices[0]?.finish_reason).toBe('tool_calls');
    expect(upstream.requests[0]?.json['tool_choice']).toMatchObject({ type: 'tool', name: 'get_weather' });
  });

  it('whose result answers no call are a 400 that names it', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('openai-chat', repo.root, []);
    const failed = anthropicClient(gateway.url).messages.create({
      ...ask('x'),
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_gone', content: 'x' }] },
      ],
    });
    await expect(failed).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('toolu_gone'),
    });
  });
});

/** The number in the file, once it is there. */
async function pidIn(path: string): Promise<number> {
  return until(async () => {
    const text = await readFile(path, 'utf8').catch(() => '');
    return text.endsWith('\n') && Number(text);
  });
}

function fail(): never {
  throw new Error('The upstream was not asked');
}
