import { describe, expect, it } from 'vitest';
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { encodeRequest } from './encode-request.js';

function encode(request: Partial<ConversationRequest>, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const whole: ConversationRequest = {
    model: 'm',
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...request,
  };
  const target = { model: 'm', quirks: { ...STANDARD_QUIRKS, ...quirks }, losses };
  const { body, names } = encodeRequest(whole, target);
  return { body, names, losses: losses.list().map(({ path }) => path) };
}

const closed = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const open = { type: 'object', properties: { a: { type: 'string' } } };
const tool = (more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'Read',
  inputSchema: open,
  ...more,
});

describe('tools', () => {
  it('say that they are not strict, for silence would mean that they may be', () => {
    expect(encode({ tools: [tool({ description: 'Reads.' })] }).body['tools']).toEqual([
      { type: 'function', name: 'Read', description: 'Reads.', parameters: open, strict: false },
    ]);
  });

  it('are strict when asked and able to be', () => {
    expect(encode({ tools: [tool({ strict: true, inputSchema: closed })] }).body['tools']).toMatchObject([
      { strict: true, parameters: closed },
    ]);
    const unable = encode({ tools: [tool({ strict: true })] });
    expect(unable.body['tools']).toMatchObject([{ strict: false, parameters: open }]);
    expect(unable.losses).toEqual(['tools.Read.strict']);
  });

  it('say nothing of it to an upstream that does not know it', () => {
    const { body, losses } = encode({ tools: [tool({ strict: true })] }, { strictTools: false });
    expect(body['tools']).toEqual([{ type: 'function', name: 'Read', parameters: open }]);
    expect(losses).toEqual(['tools.Read.strict']);
  });

  it('have parameters even when they take none', () => {
    expect(encode({ tools: [{ name: 'Now' }] }).body['tools']).toMatchObject([
      { parameters: { type: 'object', properties: {} } },
    ]);
  });

  it('have schemas that the upstream takes', () => {
    const inputSchema = { type: 'object', properties: { u: { type: 'string', format: 'uri' } } };
    const { body, losses } = encode({ tools: [tool({ inputSchema })] }, { schema: 'openai' });
    expect(body['tools']).toMatchObject([{ parameters: { properties: { u: { type: 'string' } } } }]);
    expect(losses).toEqual(['tools.Read.input_schema']);
  });

  it('with names that do not fit are found again', () => {
    const name = 'a.b/'.repeat(30);
    const { body, names } = encode({ tools: [tool({ name })] });
    const [wire] = Array.isArray(body['tools']) ? body['tools'] : [];
    expect(wire?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(names.decode(wire?.name)).toBe(name);
  });

  it('of another provider are a loss and never a function', () => {
    const web = {
      dialect: 'anthropic-messages',
      kind: 'web_search_20250305',
      name: 'web_search',
      value: {},
    } as const;
    const { body, losses } = encode({ providerTools: [web] });
    expect(body).not.toHaveProperty('tools');
    expect(losses).toEqual(['tools.web_search']);
  });

  it('that are deferred go once they are found', () => {
    const deferred = tool({ name: 'mail', extensions: { 'anthropic-messages': { defer_loading: true } } });
    const found: ConversationRequest['messages'] = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'Search', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            toolUseId: 'c',
            isError: false,
            content: [
              {
                type: 'opaque',
                dialect: 'anthropic-messages',
                kind: 'tool_reference',
                value: { tool_name: 'mail' },
              },
            ],
          },
        ],
      },
    ];
    const other = { ...deferred, name: 'other' };
    expect(encode({ tools: [deferred, other], messages: found }).body['tools']).toMatchObject([
      { name: 'mail' },
    ]);
  });
});

describe('the choice', () => {
  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [{ type: 'any' }, 'required'],
    [
      { type: 'tool', name: 'Read' },
      { type: 'function', name: 'Read' },
    ],
  ] as const)('%j', (toolChoice, wire) => {
    expect(encode({ tools: [tool()], toolChoice }).body['tool_choice']).toEqual(wire);
  });

  it('without tools is left out', () => {
    const { body, losses } = encode({ toolChoice: { type: 'any' }, parallelToolCalls: false });
    expect(body).not.toHaveProperty('tool_choice');
    expect(body).not.toHaveProperty('parallel_tool_calls');
    expect(losses).toEqual(['tool_choice']);
  });

  it('is weaker where the upstream knows only that', () => {
    const tools = [tool(), tool({ name: 'Write' })];
    const named = encode(
      { tools, toolChoice: { type: 'tool', name: 'Read' } },
      { toolChoice: ['auto', 'any'] },
    );
    expect(named.body).toMatchObject({ tool_choice: 'required', tools: [{ name: 'Read' }] });
    const none = encode({ tools, toolChoice: { type: 'none' } }, { toolChoice: ['auto'] });
    expect(none.body).not.toHaveProperty('tools');
    const any = encode({ tools, toolChoice: { type: 'any' } }, { toolChoice: ['none'] });
    expect(any.body).not.toHaveProperty('tool_choice');
    expect(any.losses).toEqual(['tool_choice']);
  });

  it('of one call at a time is passed on where it is understood', () => {
    const request = { tools: [tool()], parallelToolCalls: false };
    expect(encode(request).body['parallel_tool_calls']).toBe(false);
    expect(encode(request, { parallelToolCalls: false }).body).not.toHaveProperty('parallel_tool_calls');
  });

  it('among tools of this wire comes back in its own words', () => {
    const body = {
      model: 'm',
      input: 'q',
      tools: [
        { type: 'custom', name: 'patch', format: { type: 'text' } },
        {
          type: 'namespace',
          name: 'n',
          description: 'd',
          tools: [{ type: 'function', name: 'c', parameters: {} }],
        },
        { type: 'tool_search', execution: 'client' },
        { type: 'web_search' },
      ],
    };
    for (const choice of [
      { type: 'custom', name: 'patch' },
      { type: 'function', name: 'c', namespace: 'n' },
      { type: 'web_search_preview' },
    ]) {
      const encoded = encode(decodeRequest({ ...body, tool_choice: choice })).body;
      expect(encoded['tool_choice']).toEqual(choice);
      expect(encoded['tools']).toMatchObject(body.tools);
    }
  });
});
