/** Requests as they are written in documentation for curl, byte for byte. */

export const CHAT_MODEL = 'custom-claude-4-sonnet';
export const MESSAGES_MODEL = 'claude-code-opus';

const CHAT_HEAD = `{
    "model": "custom-claude-4-sonnet",
    "messages": [
      {
        "role": "user",
        "content": "请帮我计算 123 + 456"
      }`;

const CHAT_TOOLS = `"tools": [{
      "type": "function",
      "function": {
        "name": "calculate",
        "description": "执行数学计算",
        "parameters": {
          "type": "object",
          "properties": {
            "expression": {
              "type": "string",
              "description": "数学表达式"
            }
          },
          "required": ["expression"]
        }
      }
    }]`;

export const CHAT_FIRST = `${CHAT_HEAD}
    ],
    ${CHAT_TOOLS}
  }`;

export const CHAT_FIRST_STREAMED = `${CHAT_HEAD}
    ],
    "stream": true,
    ${CHAT_TOOLS}
  }`;

/** With the result, and without the tools. */
export const CHAT_SECOND = `${CHAT_HEAD},
      {
        "role": "assistant",
        "content": null,
        "tool_calls": [{
          "id": "call_abc123",
          "type": "function",
          "function": {
            "name": "calculate",
            "arguments": "{\\"expression\\": \\"123 + 456\\"}"
          }
        }]
      },
      {
        "role": "tool",
        "content": "579",
        "tool_call_id": "call_abc123"
      }
    ]
  }`;

export const CHAT_CALL = { id: 'call_abc123', name: 'calculate', arguments: '{"expression": "123 + 456"}' };
export const CHAT_FINAL = '123 + 456 的结果是 579。';

export const WEATHER_CALL = { id: 'toolu_01abc', name: 'get_weather', arguments: '{"city": "Paris"}' };

const WEATHER = {
  name: 'get_weather',
  description: 'The weather in a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** The names by which the agent's own tools are known to clients. */
export const INTERNAL_TOOLS = [
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'Bash',
  'Glob',
  'Grep',
  'LS',
  'WebFetch',
  'WebSearch',
  'TodoRead',
  'TodoWrite',
  'Task',
  'Jupyter',
];

const first = { role: 'user', content: 'What is the weather in Paris?' };

const body = (rest: object): string =>
  JSON.stringify({ model: MESSAGES_MODEL, max_tokens: 1024, messages: [first], tools: [WEATHER], ...rest });

export const MESSAGES_FIRST = body({});
export const MESSAGES_FIRST_STREAMED = body({ stream: true });

/** Names every internal tool beside one of its own. */
export const MESSAGES_ALL_TOOLS = body({
  tools: [
    ...INTERNAL_TOOLS.map((name) => ({ name, input_schema: { type: 'object', properties: {} } })),
    WEATHER,
  ],
});

/** What `content` answered to the first, and the result. */
export const messagesSecond = (content: unknown): string =>
  body({
    messages: [
      first,
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: WEATHER_CALL.id, content: '18 °C' }] },
    ],
  });

export const WEATHER_FINAL = 'It is 18 °C in Paris.';

/** Results that do not say of what. */
export const NO_ID: readonly [path: string, body: object][] = [
  [
    '/v1/messages',
    {
      model: MESSAGES_MODEL,
      max_tokens: 1024,
      messages: [first, { role: 'user', content: [{ type: 'tool_result', content: '18 °C' }] }],
    },
  ],
  ['/v1/chat/completions', { model: CHAT_MODEL, messages: [first, { role: 'tool', content: '579' }] }],
  ['/v1/responses', { model: CHAT_MODEL, input: [{ type: 'function_call_output', output: '579' }] }],
];
