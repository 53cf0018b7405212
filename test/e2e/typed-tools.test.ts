/** Typed tools that the client runs, on agents: the official SDKs send them and get them back. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { contentOf, openWorld, result, says, user } from '../support/claude-world.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, resultsOf, type Step, startAgent } from './native-agent-harness.js';

const READ = callsAnswer(call('Bash', { command: 'cat notes.txt', description: 'x' }, 'b1'));
const BASH: Anthropic.Messages.ToolUnion = { type: 'bash_20250124', name: 'bash' };

const world = async (steps: readonly Step[], dialect: 'openai-chat' | 'openai-responses' = 'openai-chat') => {
  const repo = await repository({ 'notes.txt': 'the answer is 42' });
  return startAgent(dialect, repo.root, steps);
};

describe('typed tools of Anthropic on the native agent', () => {
  it("a client's bash is handed back beside the agent's own Bash, and the conversation goes on", async () => {
    const { gateway, upstream } = await world([
      READ,
      callsAnswer(call('bash', { command: 'ls' }, 'c1')),
      textAnswer('Done.'),
    ]);
    const client = anthropicClient(gateway.url);
    const messages: Anthropic.Messages.MessageParam[] = [{ role: 'user', content: 'List.' }];
    const asked = { model: 'coder', max_tokens: 100, tools: [BASH] };
    const { data: first, response } = await client.messages.create({ ...asked, messages }).withResponse();
    expect(response.headers.get('x-toolgate-losses')).toBeNull();
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content).toMatchObject([{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }]);
    const [block] = first.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const second = await client.messages
      .create({
        ...asked,
        messages: [
          ...messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'a.txt' }] },
        ],
      })
      .withResponse();
    expect(second.response.headers.get('x-toolgate-attach')).toBe('continue');
    expect(second.data.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    // What the agent's own Bash read is still in the conversation.
    expect(upstream.requests[2] && resultsOf(upstream.requests[2])).toEqual([
      expect.stringContaining('the answer is 42'),
      'a.txt',
    ]);
    expect(JSON.stringify(upstream.requests[0]?.json['tools'])).toContain('"name":"bash"');
  });

  it('a tool of its own type is the client’s even where a built-in has its name', async () => {
    const { gateway } = await world([callsAnswer(call('Bash', { command: 'cat notes.txt' }, 'c1'))]);
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({
        model: 'coder',
        max_tokens: 100,
        tools: [{ type: 'bash_20250124', name: 'Bash' }],
        messages: [{ role: 'user', content: 'List.' }],
      }),
    });
    expect(await response.json()).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'Bash', input: { command: 'cat notes.txt' } }],
    });
  });
});

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('typed tools of OpenAI on the native agent, %s', (_form, stream) => {
  it.each(['openai-chat', 'openai-responses'] as const)(
    'a shell comes back as a shell_call from a model behind %s, and its output goes on',
    async (dialect) => {
      const { gateway, upstream } = await world(
        [READ, callsAnswer(call('shell', { commands: ['ls'] }, 'c1')), textAnswer('Done.')],
        dialect,
      );
      const client = openaiClient(gateway.url);
      const tools: OpenAI.Responses.Tool[] = [{ type: 'shell', environment: { type: 'local' } }];
      const ask = async (input: OpenAI.Responses.ResponseInput) => {
        const body = { model: 'coder', input, tools, store: false };
        if (!stream) return client.responses.create(body).withResponse();
        const { data, response } = await client.responses.create({ ...body, stream: true }).withResponse();
        for await (const event of data) {
          if (event.type === 'response.completed') return { data: event.response, response };
        }
        throw new Error('The stream had no end');
      };
      const question = { role: 'user', content: 'List.' } as const;
      const first = await ask([question]);
      const [item] = first.data.output;
      expect(item).toMatchObject({
        type: 'shell_call',
        status: 'completed',
        action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
      });
      if (item?.type !== 'shell_call') throw new Error('no shell_call');
      const second = await ask([
        question,
        item,
        {
          type: 'shell_call_output',
          call_id: item.call_id,
          output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        },
      ]);
      expect(second.response.headers.get('x-toolgate-attach')).toBe('continue');
      expect(second.data.output).toMatchObject([{ type: 'message', content: [{ text: 'Done.' }] }]);
      const last = JSON.stringify(upstream.requests[2]?.json);
      expect(last).toContain('the answer is 42');
      expect(last).toContain('a.txt');
    },
  );
});

describe('typed tools on Claude Code', { timeout: 60_000 }, () => {
  it('a bash of the client is handed back, and no reason is given why it was not', async () => {
    const claude = await openWorld();
    claude.script({ parts: [call('mcp__gateway__bash', { command: 'ls' }, 'toolu_1')] }, says('Done.'));
    const messages = [user('List.')];
    const first = await claude.post({ messages, tools: [BASH] });
    expect(first.headers.get('x-toolgate-losses') ?? '').not.toContain('bash');
    expect(first.body).toMatchObject({ stop_reason: 'tool_use' });
    expect(contentOf(first)).toMatchObject([
      { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } },
    ]);
    const second = await claude.post({
      tools: [BASH],
      messages: [
        ...messages,
        { role: 'assistant', content: first.body['content'] },
        user([result('toolu_1', 'a.txt')]),
      ],
    });
    expect(second.headers.get('x-toolgate-attach')).toBe('continue');
    expect(contentOf(second)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(JSON.stringify(claude.told(1))).toContain('a.txt');
  });
});
