import { describe, expect, it } from 'vitest';
import { loadJson } from '../../../test/support/dialect-fixtures.js';
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { decodeRequest } from './decode-request.js';

const decode = (fields: JsonObject): ConversationRequest =>
  decodeRequest({ model: 'm', input: 'q', ...fields });
const ownOf = (request: ConversationRequest): JsonObject => request.extensions['openai-responses'] ?? {};

describe('a request of Codex', () => {
  const request = decodeRequest(loadJson(import.meta.url, 'codex-request.json'));

  it('has its instructions in front and its messages behind', () => {
    expect(request.system.map(({ text }) => text)).toEqual([
      'You are a coding agent.',
      'Skills: none.',
      'Permissions: read-only.',
    ]);
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('has the tools of a namespace under names of their own', () => {
    expect(request.tools.map(({ name }) => name)).toEqual([
      'exec_command',
      'write_stdin',
      'request_user_input',
      'view_image',
      'multi_agent_v1__close_agent',
      'multi_agent_v1__resume_agent',
      'multi_agent_v1__send_input',
      'multi_agent_v1__spawn_agent',
      'multi_agent_v1__wait_agent',
      'get_goal',
      'create_goal',
      'update_goal',
    ]);
    expect(request.providerTools).toMatchObject([{ kind: 'web_search', name: 'web_search' }]);
  });

  it('keeps the rest', () => {
    expect(request).toMatchObject({ stream: true, parallelToolCalls: true, toolChoice: { type: 'auto' } });
    expect(request.cacheKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(Object.keys(ownOf(request))).toEqual(['store', 'include', 'client_metadata', '$summary']);
    expect(request.continues).toBeUndefined();
  });

  it('may bring its tools with the input', () => {
    const other = decodeRequest(loadJson(import.meta.url, 'codex-tools-in-input.json'));
    expect(other.tools.map(({ name }) => name)).toEqual([
      'exec',
      'wait',
      'request_user_input',
      'collaboration__followup_task',
      'collaboration__interrupt_agent',
      'collaboration__list_agents',
    ]);
    expect(other.system.map(({ text }) => text)).toEqual(['You are a coding agent.']);
    expect(other.effort).toBe('low');
  });
});

describe('fields', () => {
  it('with a neutral meaning are read', () => {
    const request = decode({
      instructions: 'Be brief.',
      max_output_tokens: 99,
      temperature: 1.5,
      top_p: 0.5,
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'detailed', context: 'all_turns' },
      user: 'u',
      service_tier: 'flex',
      prompt_cache_key: 'k',
    });
    expect(request).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
      maxTokens: 99,
      temperature: 1.5,
      topP: 0.5,
      parallelToolCalls: false,
      effort: 'high',
      userId: 'u',
      serviceTier: 'flex',
      cacheKey: 'k',
      stream: false,
    });
    expect(ownOf(request)).toEqual({ reasoning: { context: 'all_turns' }, $summary: 'detailed' });
  });

  it('without one are kept', () => {
    const kept = {
      metadata: { a: 'b' },
      truncation: 'auto',
      safety_identifier: 's',
      top_logprobs: 3,
      something_new: [1],
    };
    expect(ownOf(decode(kept))).toEqual(kept);
  });

  it('that are null are not given', () => {
    const request = decode({
      instructions: null,
      temperature: null,
      reasoning: null,
      text: null,
      tools: null,
      metadata: null,
      previous_response_id: null,
    });
    expect(request.system).toEqual([]);
    expect(ownOf(request)).toEqual({});
  });

  it.each<[JsonObject, ConversationRequest['format']]>([
    [{ format: { type: 'text' } }, undefined],
    [{ format: { type: 'json_object' } }, { type: 'json_object' }],
    [
      {
        format: {
          type: 'json_schema',
          name: 'n',
          schema: { type: 'object' },
          strict: true,
          description: 'd',
        },
      },
      { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true, description: 'd' },
    ],
  ])('text %j is the format', (text, format) => {
    expect(decode({ text }).format).toEqual(format);
  });

  it('keeps the verbosity beside the format', () => {
    expect(ownOf(decode({ text: { verbosity: 'low', format: { type: 'text' } } }))).toEqual({
      text: { verbosity: 'low' },
    });
  });
});

describe('what an upstream keeps', () => {
  it.each([
    [{ previous_response_id: 'resp_1' }, 'resp_1', 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conv_1', 'conversation'],
    [{ conversation: { id: 'conv_2' } }, 'conv_2', 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'pmpt_1', 'prompt.id'],
    [{ input: ['item_reference', null].map((type) => ({ type, id: 'msg_1' })) }, 'msg_1', 'input.0'],
    [{ input: [{ role: 'user', content: 'q' }, { id: 'msg_1' }] }, 'msg_1', 'input.1'],
  ])('%j is named', (fields, id, param) => {
    expect(decode(fields).continues).toEqual({ dialect: 'openai-responses', id, param });
  });

  it('may go on without new input', () => {
    expect(decodeRequest({ model: 'm', previous_response_id: 'r', input: [] }).messages).toEqual([]);
  });
});

describe('mistakes', () => {
  it.each<[JsonObject, string, string]>([
    [{ model: '' }, 'model', 'a non-empty string'],
    [{ input: 7 }, 'input', 'a string or an array of items'],
    [{ input: [] }, 'input', 'at least one item'],
    [{ input: [7] }, 'input.0', 'an item'],
    [{ input: [{ role: 'robot', content: '' }] }, 'input.0.role', '"developer"'],
    [{ input: [{ role: 'user', content: 7 }] }, 'input.0.content', 'a string or an array'],
    [{ input: [{ role: 'user', content: [{ text: 'x' }] }] }, 'input.0.content.0.type', '"input_text"'],
    [{ input: [{ type: 'function_call', name: 'a' }] }, 'input.0.call_id', 'a non-empty string'],
    [{ input: [{ type: 'function_call', call_id: 'c' }] }, 'input.0.name', 'a non-empty string'],
    [{ input: [{ type: 'function_call_output', output: '' }] }, 'input.0.call_id', 'a non-empty string'],
    [{ instructions: 7 }, 'instructions', 'a string'],
    [{ stream: 'yes' }, 'stream', 'true or false'],
    [{ temperature: 3 }, 'temperature', 'from 0 to 2'],
    [{ max_output_tokens: 0 }, 'max_output_tokens', 'at least 1'],
    [{ tools: [{ type: 'function' }] }, 'tools.0.name', 'a non-empty string'],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] },
      'tools.0.tools.0.type',
      'custom',
    ],
    [{ tool_choice: 'always' }, 'tool_choice', '"required"'],
    [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort', '"high"'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type', '"json_schema"'],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.schema', 'an object'],
    [{ truncation: 'maybe' }, 'truncation', '"auto"'],
    [{ conversation: 'c', previous_response_id: 'r' }, 'conversation', 'previous_response_id'],
  ])('%j is refused at %s', (fields, param, words) => {
    let error: unknown;
    try {
      decode(fields);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'invalid_request', param });
    expect(String(error)).toContain(words);
  });

  it('a body that is no object is refused', () => {
    expect(() => decodeRequest([])).toThrow('the body: expected an object');
  });

  it('background is asked for in its own bytes alone', () => {
    expect(decode({ background: true }).verbatim).toMatchObject({ param: 'background' });
    expect(decode({ background: false })).not.toHaveProperty('verbatim');
  });
});
