/** Requests with something in every field that clients use, to be broken in each of them. */
import type { DialectName, JsonObject } from '../../src/core/conversation.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where', enum: ['Paris', 'Zürich'] },
    days: { type: 'array', items: { type: 'integer', minimum: 1 } },
    unit: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['city'],
  additionalProperties: false,
};

const anthropic = {
  model: 'm',
  max_tokens: 1024,
  stream: false,
  system: [{ type: 'text', text: 'You are brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    { role: 'user', content: 'What is the weather in Paris?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Look it up.', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris', days: [1] } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          is_error: false,
          content: [
            { type: 'text', text: 'Sunny.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          ],
        },
        { type: 'text', text: 'And there?' },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'A page.' },
          title: 'Page',
          citations: { enabled: true },
        },
      ],
    },
  ],
  tools: [
    { name: 'get_weather', description: 'The weather of a city', input_schema: SCHEMA },
    { type: 'custom', name: 'search', input_schema: { type: 'object' }, strict: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  temperature: 1,
  top_p: 0.9,
  top_k: 40,
  stop_sequences: ['END', 'STOP'],
  metadata: { user_id: 'user-1' },
  thinking: { type: 'enabled', budget_tokens: 1024 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
  service_tier: 'auto',
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
};

const chat = {
  model: 'm',
  stream: false,
  stream_options: { include_usage: true },
  messages: [
    { role: 'developer', content: [{ type: 'text', text: 'You are brief.' }] },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What is the weather in Paris?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'low' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Look it up.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
        { id: 'call_2', type: 'custom', custom: { name: 'note', input: 'free text' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' },
    { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'Noted.' }] },
    { role: 'user', content: 'And there?' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'get_weather', description: 'The weather', parameters: SCHEMA, strict: true },
    },
    { type: 'custom', custom: { name: 'note', description: 'A note', format: { type: 'text' } } },
  ],
  tool_choice: { type: 'function', function: { name: 'get_weather' } },
  parallel_tool_calls: false,
  max_completion_tokens: 100,
  max_tokens: 100,
  temperature: 0.5,
  top_p: 1,
  n: 1,
  stop: ['END'],
  presence_penalty: 0,
  frequency_penalty: 0,
  logit_bias: { 50256: -100 },
  logprobs: false,
  top_logprobs: 0,
  seed: 7,
  user: 'user-1',
  reasoning_effort: 'low',
  response_format: { type: 'json_schema', json_schema: { name: 'out', schema: SCHEMA, strict: true } },
  metadata: { a: 'b' },
  service_tier: 'auto',
  store: false,
  prompt_cache_key: 'key',
};

const responses = {
  model: 'm',
  stream: false,
  instructions: 'You are brief.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be exact.' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is the weather in Paris?' },
        { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Look it up.' }],
      encrypted_content: 'c2ln',
    },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'get_weather',
      arguments: '{"city":"Paris"}',
    },
    { type: 'function_call_output', call_id: 'call_1', output: 'Sunny.' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'note', input: 'free text' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'Noted.' }] },
    { role: 'user', content: 'And there?' },
  ],
  tools: [
    { type: 'function', name: 'get_weather', description: 'The weather', parameters: SCHEMA, strict: true },
    { type: 'custom', name: 'note', description: 'A note', format: { type: 'text' } },
    { type: 'web_search', search_context_size: 'low' },
  ],
  tool_choice: { type: 'function', name: 'get_weather' },
  parallel_tool_calls: false,
  max_output_tokens: 100,
  max_tool_calls: 3,
  temperature: 0.5,
  top_p: 1,
  top_logprobs: 0,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { verbosity: 'low', format: { type: 'json_schema', name: 'out', schema: SCHEMA, strict: true } },
  include: ['reasoning.encrypted_content'],
  metadata: { a: 'b' },
  user: 'user-1',
  truncation: 'disabled',
  store: false,
  service_tier: 'auto',
  prompt_cache_key: 'key',
};

export const VALID_BODIES: Readonly<Record<DialectName, JsonObject>> = {
  'anthropic-messages': anthropic,
  'openai-chat': chat,
  'openai-responses': responses,
};
