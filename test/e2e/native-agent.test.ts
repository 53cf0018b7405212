/**
 * The native agent behind the real gateway, asked by the official clients, with a scripted model
 * upstream and everything else real: files, git, commands, MCP servers on all three transports.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { newSessionId } from '../../src/sessions/persistence/session-factory.js';
import { filesystemServer, startEverything } from '../support/mcp-servers.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { call, callsAnswer, type Scripted, textAnswer } from '../support/wire.js';
import {
  mcpConnected,
  type Repository,
  repository,
  resultsOf,
  type Step,
  startAgent,
} from './native-agent-harness.js';

const run = promisify(execFile);

const FILES = {
  'package.json': '{ "type": "module" }\n',
  'AGENTS.md': 'Amounts are in cents.\n',
  'src/price.js': 'export const price = (items) => items.reduce((sum, item) => sum + item.cents, 0);\n',
  'src/tax.js': 'export const TAX = 0;\nexport const withTax = (cents) => cents + TAX;\n',
  'src/format.js': 'export const format = (cents) => (cents / 100).toFixed(2);\n',
  'src/total.js':
    "import { format } from './format.js';\nimport { price } from './price.js';\nimport { withTax } from './tax.js';\n\nexport const total = (items) => format(withTax(price(items)));\n",
  'test.js':
    "import assert from 'node:assert';\nimport { total } from './src/total.js';\n\nassert.equal(total([{ cents: 1000 }, { cents: 500 }]), '18.75');\nconsole.log('all tests passed');\n",
};

const RATE_TOOL = {
  name: 'get_tax_rate',
  description: 'The tax rate of a country',
  schema: { type: 'object', properties: { country: { type: 'string' } }, required: ['country'] },
} as const;

const RATE = '0.25';
const FINAL = 'The tax is applied now, and the tests pass.';

/** Searches, reads four files at once, edits and asks the client, runs the tests, fixes, runs them again. */
function task({ root, path }: Repository): Step[] {
  const test = { command: 'node test.js', description: 'Run the tests' };
  return [
    {
      parts: [
        { type: 'text', text: 'Let me look at it.' },
        call('Grep', { pattern: 'withTax', path: root, output_mode: 'files_with_matches' }, 'c-grep'),
      ],
    },
    callsAnswer(
      ...['price', 'tax', 'format', 'total'].map((name) =>
        call('Read', { file_path: path(`src/${name}.js`) }, `c-read-${name}`),
      ),
    ),
    callsAnswer(
      call(
        'Edit',
        { file_path: path('src/tax.js'), old_string: 'cents + TAX', new_string: 'cents * TAX' },
        'c-edit-1',
      ),
      call(RATE_TOOL.name, { country: 'SE' }, 'c-rate'),
    ),
    (request) => {
      const rate = resultsOf(request).at(-1);
      const edit = { file_path: path('src/tax.js'), old_string: 'TAX = 0', new_string: `TAX = ${rate}` };
      return callsAnswer(call('Edit', edit, 'c-edit-2'));
    },
    callsAnswer(call('Bash', test, 'c-test-1')),
    callsAnswer(
      call(
        'Edit',
        { file_path: path('src/tax.js'), old_string: 'cents * TAX', new_string: 'cents * (1 + TAX)' },
        'c-edit-3',
      ),
    ),
    callsAnswer(
      call('Bash', test, 'c-test-2'),
      call('mcp__files__read_text_file', { path: path('src/tax.js') }, 'c-mcp-stdio'),
      call('mcp__streamed__echo', { message: 'over http' }, 'c-mcp-http'),
      call('mcp__older__echo', { message: 'over sse' }, 'c-mcp-sse'),
    ),
    textAnswer(FINAL),
  ];
}

interface Told {
  texts: string[];
  /** Calls that the client was asked to run. */
  calls: unknown[];
}

type Client = (url: string) => Promise<Told>;

const ASK = 'The total leaves out the tax. Please fix it.';

const withAnthropic: Client = async (url) => {
  const client = anthropicClient(url);
  const told: Told = { texts: [], calls: [] };
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: ASK }];
  const { properties, required } = RATE_TOOL.schema;
  for (;;) {
    const message = await client.messages
      .stream({
        model: 'coder',
        max_tokens: 4096,
        messages,
        tools: [
          {
            name: RATE_TOOL.name,
            description: RATE_TOOL.description,
            input_schema: { type: 'object', properties, required: [...required] },
          },
        ],
      })
      .finalMessage();
    for (const block of message.content) if (block.type === 'text') told.texts.push(block.text);
    const calls = message.content.filter((block) => block.type === 'tool_use');
    expect(message.stop_reason).toBe(calls.length > 0 ? 'tool_use' : 'end_turn');
    if (calls.length === 0) return told;
    told.calls.push(...calls.map(({ name, input }) => ({ name, input })));
    messages.push(
      { role: 'assistant', content: message.content },
      {
        role: 'user',
        content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RATE })),
      },
    );
  }
};

const withChat: Client = async (url) => {
  const told: Told = { texts: [], calls: [] };
  const { properties, required } = RATE_TOOL.schema;
  const runner = openaiClient(url).chat.completions.runTools({
    model: 'coder',
    stream: true,
    messages: [{ role: 'user', content: ASK }],
    tools: [
      {
        type: 'function',
        function: {
          name: RATE_TOOL.name,
          description: RATE_TOOL.description,
          parameters: { type: 'object', properties, required: [...required] },
          parse: (text: string): object => JSON.parse(text),
          function: (input: object) => {
            told.calls.push({ name: RATE_TOOL.name, input });
            return RATE;
          },
        },
      },
    ],
  });
  runner.on('message', (message) => {
    if (message.role === 'assistant' && typeof message.content === 'string' && message.content !== '')
      told.texts.push(message.content);
  });
  await runner.done();
  return told;
};

const withResponses: Client = async (url) => {
  const client = openaiClient(url);
  const told: Told = { texts: [], calls: [] };
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: ASK }];
  const { properties, required } = RATE_TOOL.schema;
  for (;;) {
    const { output } = await client.responses
      .stream({
        model: 'coder',
        input,
        tools: [
          {
            type: 'function',
            name: RATE_TOOL.name,
            description: RATE_TOOL.description,
            parameters: { type: 'object', properties, required: [...required] },
            strict: false,
          },
        ],
      })
      .finalResponse();
    for (const item of output) {
      if (item.type === 'message')
        for (const part of item.content) if (part.type === 'output_text') told.texts.push(part.text);
    }
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return told;
    for (const { name, arguments: text } of calls) told.calls.push({ name, input: JSON.parse(text) });
    input.push(
      ...calls.map(({ call_id, name, arguments: text }) => ({
        type: 'function_call' as const,
        call_id,
        name,
        arguments: text,
      })),
      ...calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: RATE })),
    );
  }
};

const CLIENTS: readonly [client: string, ask: Client, upstream: DialectName][] = [
  ['Anthropic SDK', withAnthropic, 'openai-chat'],
  ['OpenAI SDK (chat, runTools)', withChat, 'openai-responses'],
  ['OpenAI SDK (responses)', withResponses, 'anthropic-messages'],
];

describe('the native agent', () => {
  it.each(CLIENTS)('solves a task for the %s on a model of another dialect', async (_name, ask, dialect) => {
    const repo = await repository(FILES);
    const [streamed, older] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    const { gateway, upstream } = await startAgent(dialect, repo.root, task(repo), {
      model: { max_turns: 20 },
      rest: {
        mcp_servers: {
          files: filesystemServer(repo.root),
          streamed: { type: 'http', url: `${streamed.url}/mcp` },
          older: { type: 'sse', url: `${older.url}/sse` },
        },
      },
    });
    await mcpConnected(gateway, ['files', 'streamed', 'older']);

    const told = await ask(gateway.url);

    expect(told.calls).toEqual([{ name: RATE_TOOL.name, input: { country: 'SE' } }]);
    expect(told.texts).toEqual(['Let me look at it.', FINAL]);
    const results = upstream.requests.map(resultsOf);
    expect(results[1]?.[0]).toContain('total.js');
    expect(results[2]).toHaveLength(5);
    for (const [index, name] of ['price', 'tax', 'format', 'total'].entries()) {
      expect(results[2]?.[index + 1]).toContain(`export const ${name === 'tax' ? 'TAX' : name}`);
    }
    expect(results[3]?.at(-1)).toBe(RATE);
    expect(results[3]?.at(-2)).toContain('tax.js');
    expect(results[5]?.at(-1)).toContain('AssertionError');
    const last = results[7] ?? [];
    expect(last.at(-4)).toContain('all tests passed');
    expect(last.at(-3)).toContain('cents * (1 + TAX)');
    expect(last.at(-2)).toContain('over http');
    expect(last.at(-1)).toContain('over sse');

    expect(await repo.read('src/tax.js')).toBe(
      'export const TAX = 0.25;\nexport const withTax = (cents) => cents * (1 + TAX);\n',
    );
    const { stdout } = await run('git', ['status', '--short'], { cwd: repo.root });
    expect(stdout.trim()).toBe('M src/tax.js');
    expect(upstream.requests[0]?.text).toContain('Amounts are in cents.');
  });
});

describe('answers of the native agent', () => {
  const greet: Scripted = textAnswer('Hello.');

  it('carry the session and how the request was attached', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(call('Read', { file_path: repo.path('a') }, 'c1')),
      greet,
      textAnswer('Again.'),
    ]);
    const client = anthropicClient(gateway.url);
    const ask = { model: 'coder', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };
    const first = await client.messages.create(ask).withResponse();
    const session = first.response.headers.get('x-session-id') ?? '';
    expect(session).not.toBe('');
    expect(first.response.headers.get('x-toolgate-attach')).toBe('new');
    const history: Anthropic.MessageParam[] = [
      ...ask.messages,
      { role: 'assistant', content: first.data.content },
      { role: 'user', content: 'again' },
    ];
    const second = await client.messages
      .create({ ...ask, messages: history }, { headers: { 'x-session-id': session } })
      .withResponse();
    expect(second.response.headers.get('x-toolgate-attach')).toBe('continue');
    expect(second.response.headers.get('x-session-id')).toBe(session);
    // What the agent did in the first turn is still known to the model.
    expect(resultsOf(upstream.requests[2] ?? fail())).toHaveLength(1);
    const gone = client.messages.create(ask, { headers: { 'x-session-id': newSessionId() } });
    await expect(gone).rejects.toMatchObject({ status: 404 });
  });

  it('add up what all model calls cost', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('anthropic-messages', repo.root, [
      { ...callsAnswer(call('Read', { file_path: repo.path('a') }, 'c1')), usage: { input: 100, output: 7 } },
      { ...greet, usage: { input: 30, output: 5, cacheRead: 90 } },
    ]);
    const { usage } = await anthropicClient(gateway.url).messages.create({
      model: 'coder',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(usage).toMatchObject({ input_tokens: 130, output_tokens: 12, cache_read_input_tokens: 90 });
  });

  it('pause at max_turns in the words of each dialect, and go on', async () => {
    const repo = await repository({ a: 'a' });
    const read = (id: string) => callsAnswer(call('Read', { file_path: repo.path('a') }, id));
    const { gateway, upstream } = await startAgent(
      'openai-chat',
      repo.root,
      [read('c1'), greet, read('c2')],
      {
        model: { max_turns: 1 },
      },
    );
    const client = anthropicClient(gateway.url);
    const ask = { model: 'coder', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };
    const paused = await client.messages.create(ask).withResponse();
    expect(paused.data.stop_reason).toBe('pause_turn');
    const session = paused.response.headers.get('x-session-id') ?? '';
    const on = await client.messages.create(
      { ...ask, messages: [...ask.messages, { role: 'assistant', content: paused.data.content }] },
      { headers: { 'x-session-id': session } },
    );
    expect(on.content).toMatchObject([{ type: 'text', text: 'Hello.' }]);
    expect(resultsOf(upstream.requests[1] ?? fail())).toHaveLength(1);
    const chat = await openaiClient(gateway.url).chat.completions.create({
      model: 'coder',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(chat.choices[0]?.finish_reason).toBe('length');
  });

  it('mark the prompt for the cache of an upstream that has one, wherever the client set marks', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('anthropic-messages', repo.root, [greet]);
    const mark = { cache_control: { type: 'ephemeral' as const } };
    await anthropicClient(gateway.url).messages.create({
      model: 'coder',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be terse.', ...mark }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a', ...mark }] },
        { role: 'assistant', content: [{ type: 'text', text: 'b', ...mark }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'c', ...mark },
            { type: 'text', text: 'd', ...mark },
          ],
        },
      ],
    });
    const text = upstream.requests[0]?.text ?? '';
    expect(text.match(/cache_control/g)).toHaveLength(4);
  });

  it('count tokens with what the agent adds', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('openai-chat', repo.root, []);
    const counted = await anthropicClient(gateway.url).messages.countTokens({
      model: 'coder',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(counted.input_tokens).toBeGreaterThan(1_000);
  });
});

function fail(): never {
  throw new Error('The upstream was not asked');
}
