import { describe, expect, it } from 'vitest';
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import { decodeRequest } from './decode-request.js';

const decode = (tools: readonly JsonObject[], more: JsonObject = {}): ConversationRequest =>
  decodeRequest({ model: 'm', input: 'q', tools, ...more });

const fn = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'function',
  name,
  parameters: {},
  ...more,
});
const namesOf = ({ tools }: ConversationRequest): string[] => tools.map(({ name }) => name);

describe('functions', () => {
  it('are tools', () => {
    const { tools } = decode([
      fn('a', { description: 'd', strict: true, parameters: { type: 'object' }, defer_loading: true }),
    ]);
    expect(tools).toEqual([
      {
        name: 'a',
        description: 'd',
        strict: true,
        inputSchema: { type: 'object' },
        extensions: { 'openai-responses': { defer_loading: true } },
      },
    ]);
  });

  it('that say nothing of strictness are noted, for silence is not false here', () => {
    expect(decode([fn('a')]).tools[0]).toMatchObject({
      extensions: { 'openai-responses': { $strict: 'unsaid' } },
    });
  });
});

describe('custom tools', () => {
  it('are functions of one text, with their grammar in words', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const [tool] = decode([{ type: 'custom', name: 'patch', description: 'Patches.', format }]).tools;
    expect(tool).toMatchObject({
      name: 'patch',
      inputSchema: { properties: { input: { type: 'string' } }, required: ['input'] },
      extensions: {
        'openai-responses': { $custom: { type: 'custom', name: 'patch', description: 'Patches.', format } },
      },
    });
    expect(tool?.description).toBe(
      'Patches.\n\nGive the whole text in the parameter `input`. It must match this lark grammar:\nstart: "x"',
    );
  });
});

describe('namespaces', () => {
  const space = (name: string, ...tools: JsonObject[]): JsonObject => ({
    type: 'namespace',
    name,
    description: 'd',
    tools,
  });

  it('are part of the name', () => {
    expect(namesOf(decode([space('mail', fn('send'), { type: 'custom', name: 'draft' })]))).toEqual([
      'mail__send',
      'mail__draft',
    ]);
  });

  it('that end as a prefix does are one', () => {
    expect(namesOf(decode([space('mcp__mail__', fn('send'))]))).toEqual(['mcp__mail__send']);
  });

  it('`functions` is none', () => {
    expect(namesOf(decode([space('functions', fn('exec'))]))).toEqual(['exec']);
  });

  it('never take the name of another tool', () => {
    const request = decode([space('mail', fn('send')), fn('mail__send')], {
      input: [{ type: 'function_call', call_id: 'c', namespace: 'mail', name: 'send', arguments: '{}' }],
    });
    expect(namesOf(request)).toEqual(['mail__send_', 'mail__send']);
    expect(request.messages[0]?.content[0]).toMatchObject({ name: 'mail__send_' });
  });
});

describe('tools in the input', () => {
  it('come to the others, and replace those that they change', () => {
    const request = decode([fn('a', { description: 'old' }), fn('b')], {
      input: [
        { type: 'additional_tools', role: 'developer', tools: [fn('a', { description: 'new' }), fn('c')] },
        { role: 'user', content: 'q' },
      ],
    });
    expect(request.tools.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'new'],
      ['b', undefined],
      ['c', undefined],
    ]);
  });

  it('that were searched for can be called', () => {
    const search = {
      type: 'tool_search',
      execution: 'client',
      description: 'Finds.',
      parameters: { type: 'object' },
    };
    const request = decode([search], {
      input: [
        { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
        { type: 'tool_search_output', call_id: 'c', tools: [fn('found')] },
      ],
    });
    expect(namesOf(request)).toEqual(['tool_search', 'found']);
  });
});

describe('tools of the provider', () => {
  it.each([
    [{ type: 'web_search', external_web_access: false }, 'web_search'],
    [{ type: 'mcp', server_label: 'docs', server_url: 'https://example.com' }, 'docs'],
    [{ type: 'tool_search' }, 'tool_search'],
    [{ type: 'shell', environment: { type: 'container_auto' } }, 'shell'],
  ])('%j is kept as it came', (tool, name) => {
    expect(decode([tool]).providerTools).toEqual([
      { dialect: 'openai-responses', kind: tool.type, name, value: tool },
    ]);
  });
});

describe('the choice', () => {
  const tools = [
    fn('a'),
    { type: 'custom', name: 'b' },
    { type: 'namespace', name: 'n', tools: [fn('c')] },
    { type: 'web_search' },
  ];

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', name: 'a' },
      { type: 'tool', name: 'a' },
    ],
    [
      { type: 'custom', name: 'b' },
      { type: 'tool', name: 'b' },
    ],
    [
      { type: 'function', name: 'c', namespace: 'n' },
      { type: 'tool', name: 'n__c' },
    ],
  ])('%j', (given, choice) => {
    expect(decode(tools, { tool_choice: given }).toolChoice).toEqual(choice);
  });

  it('of a tool of the provider is kept, for nobody else can be told', () => {
    const request = decode(tools, { tool_choice: { type: 'web_search_preview' } });
    expect(request.toolChoice).toBeUndefined();
    expect(request.extensions['openai-responses']).toMatchObject({
      tool_choice: { type: 'web_search_preview' },
    });
  });

  it('among some leaves only those', () => {
    const allowed = [{ type: 'function', name: 'a' }, { type: 'web_search' }];
    const request = decode(tools, {
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: allowed },
    });
    expect(namesOf(request)).toEqual(['a']);
    expect(request.providerTools).toHaveLength(1);
    expect(request.toolChoice).toEqual({ type: 'any' });
  });

  it('among tools that are not there is refused', () => {
    const allowed = [{ type: 'function', name: 'zzz' }];
    expect(() =>
      decode(tools, { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } }),
    ).toThrow('tool_choice.tools.0: expected one of the tools in this request');
  });
});
