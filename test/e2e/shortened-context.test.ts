/** What the Messages API offers to shorten a conversation, on upstreams that have nothing of the kind. */
import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages/messages.js';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { call, callsAnswer, type Scripted, textAnswer } from '../support/wire.js';

const FOREIGN: readonly DialectName[] = ['openai-chat', 'openai-responses'];

async function open(dialect: DialectName, script: readonly Scripted[], extra: object = {}) {
  const upstream = await startUpstream(script.map((each) => inDialect(each)));
  const own = await startUpstream(inDialect(textAnswer('From Anthropic.')));
  const { url } = await startTestGateway({
    config: {
      upstreams: { theirs: upstream.config(dialect), claude: own.config('anthropic-messages') },
      models: { m: { upstream: 'theirs' }, claude: { upstream: 'claude', model: 'm' }, ...extra },
    },
  });
  return { upstream, own, client: anthropicClient(url), url };
}

const said: BetaMessageParam[] = [
  { role: 'user', content: 'My dog is called Rex.' },
  { role: 'assistant', content: 'Noted.' },
  { role: 'user', content: 'He is brown.' },
];
const SUMMARIZE = { model: 'm', max_tokens: 100, compaction: { type: 'summarize' as const } };
const REX = textAnswer('The dog Rex is brown.');

describe.each(FOREIGN)('compaction on %s', (dialect) => {
  it('answers with the lone block, streamed and whole, and never with words', async () => {
    const { client, upstream } = await open(dialect, [REX, REX]);
    const whole = await client.beta.messages.create({ ...SUMMARIZE, messages: said });
    const streamed = await client.beta.messages.stream({ ...SUMMARIZE, messages: said }).finalMessage();
    for (const { content, stop_reason } of [whole, streamed]) {
      expect(stop_reason).toBe('compaction');
      expect(content).toEqual([
        expect.objectContaining({ type: 'compaction', content: 'The dog Rex is brown.' }),
      ]);
    }
    expect(upstream.requests[0]?.text).toContain('My dog is called Rex.');
    expect(upstream.requests[0]?.text).toContain('Write the notes');
  });

  it('goes by the instructions of the client', async () => {
    const { client, upstream } = await open(dialect, [REX]);
    const compaction = { type: 'summarize' as const, instructions: 'In one line.' };
    await client.beta.messages.create({ ...SUMMARIZE, compaction, messages: said });
    expect(upstream.requests[0]?.text).toContain('In one line.');
    expect(upstream.requests[0]?.text).not.toContain('Write the notes');
  });

  it('gives a summary that stands for the conversation from then on, also at Anthropic', async () => {
    const { client, upstream, own } = await open(dialect, [REX, textAnswer('Brown.')]);
    const { content } = await client.beta.messages.create({ ...SUMMARIZE, messages: said });
    const messages: BetaMessageParam[] = [
      { role: 'assistant', content },
      { role: 'user', content: 'Which colour?' },
    ];
    for (const model of ['m', 'claude'])
      await client.beta.messages.create({ model, max_tokens: 100, messages });
    for (const sent of [upstream.requests[1], own.requests[0]]) {
      expect(sent?.text).toMatch(/The dog Rex is brown\..*Which colour\?/s);
    }
    expect(own.requests[0]?.text).not.toContain('"compaction"');
  });

  it('says that there is no summary where the model wrote only half of one', async () => {
    const half = { ...textAnswer('The dog'), stop: 'max_tokens' as const };
    const { client } = await open(dialect, [half]);
    const { content, stop_reason } = await client.beta.messages.create({ ...SUMMARIZE, messages: said });
    expect({ content, stop_reason }).toMatchObject({
      stop_reason: 'compaction',
      content: [{ type: 'compaction', content: null }],
    });
  });

  it('is refused where a call still waits for its result', async () => {
    const { client, upstream } = await open(dialect, [REX]);
    const messages: BetaMessageParam[] = [
      ...said,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    ];
    await expect(client.beta.messages.create({ ...SUMMARIZE, messages })).rejects.toThrow(/no result yet/);
    expect(upstream.requests).toHaveLength(0);
  });
});

it('compaction keeps the tools that messages added', async () => {
  const { client, upstream } = await open('openai-chat', [REX, textAnswer('Done.')]);
  const definition = { name: 'added', input_schema: { type: 'object' as const } };
  const messages: BetaMessageParam[] = [
    ...said,
    { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] },
  ];
  const { content } = await client.beta.messages.create({ ...SUMMARIZE, messages });
  await client.beta.messages.create({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'assistant', content },
      { role: 'user', content: 'Use it.' },
    ],
  });
  expect(upstream.requests[1]?.json).toMatchObject({ tools: [{ function: { name: 'added' } }] });
});

it('compaction of an agent is refused with the reason', async () => {
  const { client, upstream } = await open('openai-chat', [REX], {
    agent: { engine: 'native', upstream: 'theirs', tools: 'none' },
  });
  await expect(client.beta.messages.create({ ...SUMMARIZE, model: 'agent', messages: said })).rejects.toThrow(
    /compaction: this model is an agent/,
  );
  expect(upstream.requests).toHaveLength(0);
});

const use = (id: string, name = 'read'): BetaMessageParam => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: { path: `/${id}` } }],
});
const result = (id: string): BetaMessageParam => ({
  role: 'user',
  content: [
    { type: 'tool_result', tool_use_id: id, content: `content of ${id}, ${'and so on '.repeat(50)}` },
  ],
});
const calls: BetaMessageParam[] = [
  { role: 'user', content: 'Read them.' },
  ...['t1', 't2', 't3', 't4'].flatMap((id) => [use(id), result(id)]),
];
const CLEAR = 'clear_tool_uses_20250919' as const;
const atOnce = { type: 'tool_uses' as const, value: 1 };

describe.each(FOREIGN)('context editing on %s', (dialect) => {
  it('clears old results past the trigger, keeps the newest, and says what it cleared', async () => {
    const { client, upstream } = await open(dialect, [textAnswer('Read.'), textAnswer('Read.')]);
    const edit = { type: CLEAR, trigger: atOnce, keep: { type: 'tool_uses' as const, value: 2 } };
    const ask = { model: 'm', max_tokens: 100, messages: calls, context_management: { edits: [edit] } };
    const whole = await client.beta.messages.create(ask);
    const streamed = await client.beta.messages.stream(ask).finalMessage();
    for (const { context_management: told } of [whole, streamed]) {
      expect(told).toEqual({
        applied_edits: [{ type: CLEAR, cleared_tool_uses: 2, cleared_input_tokens: expect.any(Number) }],
      });
    }
    const { text = '' } = upstream.requests[0] ?? {};
    expect(['t1', 't2', 't3', 't4'].map((id) => text.includes(`content of ${id}`))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(text).toContain('/t1');
  });

  it('leaves excluded tools, clears inputs where asked, and does nothing below the trigger', async () => {
    const { client, upstream } = await open(dialect, [textAnswer('a'), textAnswer('b')]);
    const messages = [...calls, use('t5', 'keepme'), result('t5'), use('t6'), result('t6')];
    const edits = [
      {
        type: CLEAR,
        trigger: atOnce,
        keep: { type: 'tool_uses' as const, value: 1 },
        exclude_tools: ['keepme'],
        clear_tool_inputs: true,
      },
    ];
    await client.beta.messages.create({
      model: 'm',
      max_tokens: 100,
      messages,
      context_management: { edits },
    });
    const { text = '' } = upstream.requests[0] ?? {};
    expect(text).toContain('content of t5');
    expect(text).not.toContain('/t1');
    const untouched = await client.beta.messages.create({
      model: 'm',
      max_tokens: 100,
      messages,
      context_management: { edits: [{ type: CLEAR }] },
    });
    expect(untouched.context_management).toEqual({ applied_edits: [] });
    expect(upstream.requests[1]?.text).toContain('content of t1');
  });

  it('writes a summary and goes on from it, once the conversation is long enough', async () => {
    const { client, upstream } = await open(dialect, [REX, textAnswer('Brown.'), REX]);
    const compact = {
      type: 'compact_20260112' as const,
      trigger: { type: 'input_tokens' as const, value: 5 },
    };
    const ask = { model: 'm', max_tokens: 100, messages: said };
    const message = await client.beta.messages.create({ ...ask, context_management: { edits: [compact] } });
    expect(message).toMatchObject({
      stop_reason: 'end_turn',
      content: [
        { type: 'compaction', content: 'The dog Rex is brown.' },
        { type: 'text', text: 'Brown.' },
      ],
    });
    expect(upstream.requests[1]?.text).not.toContain('Noted.');
    const paused = await client.beta.messages.create({
      ...ask,
      context_management: { edits: [{ ...compact, pause_after_compaction: true }] },
    });
    expect(paused).toMatchObject({ stop_reason: 'compaction', content: [{ type: 'compaction' }] });
  });

  it('answers cache diagnostics with what this wire can tell', async () => {
    const { client } = await open(dialect, [textAnswer('a'), textAnswer('b')]);
    const ask = {
      model: 'm',
      max_tokens: 100,
      messages: said,
      diagnostics: { previous_message_id: 'msg_1' },
    };
    const whole = await client.beta.messages.create(ask);
    const streamed = await client.beta.messages.stream(ask).finalMessage();
    for (const { diagnostics } of [whole, streamed]) {
      expect(diagnostics).toEqual({ cache_miss_reason: { type: 'unavailable' } });
    }
  });

  it('refuses an edit that is wrong, by its field', async () => {
    const { client, upstream } = await open(dialect, [textAnswer('a')]);
    const edits = [{ type: CLEAR, keep: { type: 'tool_uses' as const, value: -1 }, trigger: atOnce }];
    await expect(
      client.beta.messages.create({
        model: 'm',
        max_tokens: 100,
        messages: calls,
        context_management: { edits },
      }),
    ).rejects.toThrow(/context_management\.edits: keep\.value/);
    const many = Array.from({ length: 9 }, () => ({ type: CLEAR, trigger: atOnce }));
    await expect(
      client.beta.messages.create({
        ...{ model: 'm', max_tokens: 100, messages: calls, context_management: { edits: many } },
      }),
    ).rejects.toThrow(/context_management\.edits: 9 of them: expected at most 8/);
    expect(upstream.requests).toHaveLength(0);
  });
});

it('clears the thinking of old turns where a wire carries it', async () => {
  const { client, upstream } = await open('openai-chat', [callsAnswer(call('f', {}))]);
  const turn = (thought: string, id: string): BetaMessageParam[] => [
    { role: 'user', content: `Do ${id}.` },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: thought, signature: '' },
        { type: 'text', text: `Did ${id}.` },
      ],
    },
  ];
  const message = await client.beta.messages.create({
    model: 'm',
    max_tokens: 100,
    messages: [
      ...turn('first thought', 'one'),
      ...turn('second thought', 'two'),
      { role: 'user', content: 'Go on.' },
    ],
    context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  });
  expect(message.context_management).toMatchObject({
    applied_edits: [{ type: 'clear_thinking_20251015', cleared_thinking_turns: 1 }],
  });
  expect(upstream.requests[0]?.text).not.toContain('first thought');
});
