import { describe, expect, it } from 'vitest';
import type { ConversationRequest, JsonObject, ToolDefinition } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { encodeRequest } from './encode-request.js';

const READ: ToolDefinition = {
  name: 'Read',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

function encode(fields: Partial<ConversationRequest>, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const request: ConversationRequest = {
    model: 'm',
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
    tools: [READ],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...fields,
  };
  const { body, names } = encodeRequest(request, {
    model: 'up',
    quirks: { ...STANDARD_QUIRKS, ...quirks },
    losses,
  });
  const { tools, tool_choice, parallel_tool_calls } = body;
  return { tools, tool_choice, parallel_tool_calls, names, losses: losses.list().map(({ path }) => path) };
}

const WIRE_READ = {
  type: 'function',
  function: { name: 'Read', description: 'Reads.', parameters: READ.inputSchema },
};

describe('tools', () => {
  it('are functions', () => {
    expect(encode({})).toMatchObject({ tools: [WIRE_READ], losses: [] });
  });

  it('without a schema get an empty one', () => {
    expect(encode({ tools: [{ name: 'Now' }] }).tools).toEqual([
      { type: 'function', function: { name: 'Now', parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('that are none are not sent, nor a choice among them', () => {
    const { tools, tool_choice, parallel_tool_calls, losses } = encode({
      tools: [],
      toolChoice: { type: 'any' },
      parallelToolCalls: false,
    });
    expect([tools, tool_choice, parallel_tool_calls]).toEqual([undefined, undefined, undefined]);
    expect(losses).toEqual(['tool_choice']);
  });

  it('have names within the limit, and come back under their own', () => {
    const name = `mcp__${'server'.repeat(12)}__tool.one`;
    const { tools, tool_choice, names } = encode({ tools: [{ name }], toolChoice: { type: 'tool', name } });
    const wire = names.encode(name);
    expect(wire).toMatch(/^[a-zA-Z0-9_-]{64}$/);
    expect(tools).toMatchObject([{ function: { name: wire } }]);
    expect(tool_choice).toEqual({ type: 'function', function: { name: wire } });
    expect(names.decode(wire)).toBe(name);
    expect(names.isWhole(wire)).toBe(true);
  });

  it('have schemas that the upstream takes', () => {
    const inputSchema = {
      type: 'object',
      properties: { u: { type: 'string', format: 'uri' } },
      $schema: 'x',
    };
    expect(encode({ tools: [{ name: 'f', inputSchema }] }).tools).toMatchObject([
      { function: { parameters: inputSchema } },
    ]);
    const { tools, losses } = encode({ tools: [{ name: 'f', inputSchema }] }, { schema: 'gemini' });
    expect(tools).toEqual([
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object', properties: { u: { type: 'string' } } } },
      },
    ]);
    expect(losses).toEqual(['tools.f.input_schema']);
  });

  it('lose what only other wires have, and hints without a loss', () => {
    const extensions = {
      'anthropic-messages': { cache_control: {}, eager_input_streaming: true, input_examples: [{}] },
    };
    const { tools, losses } = encode({ tools: [{ ...READ, extensions }] });
    expect(tools).toEqual([WIRE_READ]);
    expect(losses).toEqual(['tools.Read.input_examples']);
  });

  it('of a provider are never sent as functions', () => {
    const search = {
      dialect: 'anthropic-messages',
      kind: 'web_search_20250305',
      name: 'web_search',
      value: {},
    } as const;
    expect(encode({ providerTools: [search] })).toMatchObject({
      tools: [WIRE_READ],
      losses: ['tools.web_search'],
    });
    const own = { dialect: 'openai-chat', kind: 'x', name: 'x', value: { type: 'x' } } as const;
    expect(encode({ providerTools: [own] })).toMatchObject({ tools: [WIRE_READ, { type: 'x' }], losses: [] });
  });

  it('that take free text are restored', () => {
    const custom: JsonObject = { name: 'patch', format: { type: 'text' } };
    const tool: ToolDefinition = {
      name: 'patch',
      inputSchema: {},
      extensions: { 'openai-chat': { $custom: custom } },
    };
    const { tools, tool_choice } = encode({ tools: [tool], toolChoice: { type: 'tool', name: 'patch' } });
    expect(tools).toEqual([{ type: 'custom', custom }]);
    expect(tool_choice).toEqual({ type: 'custom', custom: { name: 'patch' } });
  });
});

describe('strict', () => {
  const optional: ToolDefinition = {
    ...READ,
    strict: true,
    inputSchema: { type: 'object', properties: { a: {} } },
  };

  it('closes the schema', () => {
    expect(encode({ tools: [{ ...READ, strict: true }] }).tools).toMatchObject([
      { function: { strict: true, parameters: { additionalProperties: false } } },
    ]);
  });

  it('is dropped for a schema that cannot be strict, or an upstream that knows none', () => {
    expect(encode({ tools: [optional] }).losses).toEqual(['tools.Read.strict']);
    expect(JSON.stringify(encode({ tools: [optional] }).tools)).not.toContain('strict');
    const unknown = encode({ tools: [{ ...READ, strict: true }] }, { strictTools: false });
    expect(unknown.tools).toEqual([WIRE_READ]);
    expect(unknown.losses).toEqual(['tools.Read.strict']);
    expect(encode({ tools: [{ ...READ, strict: false }] }, { strictTools: false })).toMatchObject({
      tools: [WIRE_READ],
      losses: [],
    });
  });
});

describe('deferred tools', () => {
  const later = (name: string): ToolDefinition => ({
    name,
    extensions: { 'anthropic-messages': { defer_loading: true } },
  });

  it('are sent once they were found, as any other tool', () => {
    const { tools, losses } = encode({
      tools: [READ, { name: 'ToolSearch' }, later('Grep'), later('Glob')],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'Grep', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [], isError: false }] },
      ],
    });
    const names = ['Read', 'ToolSearch', 'Grep'];
    expect(tools).toMatchObject(names.map((name) => ({ function: { name } })));
    expect(JSON.stringify(tools)).not.toContain('defer_loading');
    expect(losses).toEqual([]);
  });
});

describe('the choice', () => {
  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'Read' },
      { type: 'function', function: { name: 'Read' } },
    ],
  ] as const)('%j', (toolChoice, wire) => {
    expect(encode({ toolChoice })).toMatchObject({ tool_choice: wire, losses: [] });
  });

  it('weakens to what the upstream knows', () => {
    const tools = [READ, { name: 'Write' }];
    const named = encode(
      { tools, toolChoice: { type: 'tool', name: 'Read' } },
      { toolChoice: ['auto', 'any'] },
    );
    expect(named).toMatchObject({ tools: [WIRE_READ], tool_choice: 'required', losses: ['tool_choice'] });
    expect(encode({ toolChoice: { type: 'any' } }, { toolChoice: ['auto'] })).toMatchObject({
      tool_choice: 'auto',
      losses: ['tool_choice'],
    });
    expect(encode({ toolChoice: { type: 'any' } }, { toolChoice: [] }).tool_choice).toBeUndefined();
  });

  it('of none takes the tools away where it cannot be said', () => {
    const { tools, tool_choice } = encode({ toolChoice: { type: 'none' } }, { toolChoice: ['auto'] });
    expect([tools, tool_choice]).toEqual([undefined, undefined]);
  });

  it('of one call at a time is said where it is understood', () => {
    expect(encode({ parallelToolCalls: false }).parallel_tool_calls).toBe(false);
    expect(encode({ parallelToolCalls: true }).parallel_tool_calls).toBe(true);
    expect(encode({}).parallel_tool_calls).toBeUndefined();
    expect(
      encode({ parallelToolCalls: false }, { parallelToolCalls: false }).parallel_tool_calls,
    ).toBeUndefined();
  });
});
