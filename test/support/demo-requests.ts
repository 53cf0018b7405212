/** Requests, tools and a collector for the tests of the demo model. */
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  ToolDefinition,
  ToolResultContent,
} from '../../src/core/conversation.js';
import type { ModelEvent } from '../../src/core/events.js';
import { runDemo } from '../../src/upstreams/demo/index.js';

export const text = (value: string): Block => ({ type: 'text', text: value });
export const user = (...content: (string | Block)[]): Message => ({
  role: 'user',
  content: content.map((each) => (typeof each === 'string' ? text(each) : each)),
});
export const said = (value: string): Message => ({ role: 'assistant', content: [text(value)] });
export const called = (
  ...calls: readonly (readonly [id: string, name: string, input: JsonObject])[]
): Message => ({
  role: 'assistant',
  content: calls.map(([id, name, input]) => ({ type: 'tool_use', id, name, input })),
});
export const result = (id: string, content: string | ToolResultContent[], isError = false): Block => ({
  type: 'tool_result',
  toolUseId: id,
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  isError,
});

export function request(
  messages: Message[] | string,
  over: Partial<ConversationRequest> = {},
): ConversationRequest {
  return {
    model: 'demo',
    system: [],
    messages: typeof messages === 'string' ? [user(messages)] : messages,
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: true,
    extensions: {},
    ...over,
  };
}

export interface Turn {
  events: ModelEvent[];
  text: string;
  calls: { id: string; name: string; input: unknown }[];
  stop: Extract<ModelEvent, { type: 'stop' }> | undefined;
  outputTokens: number;
}

export async function turn(
  asked: ConversationRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Turn> {
  const events: ModelEvent[] = [];
  for await (const batch of runDemo(asked, signal)) events.push(...batch);
  const of = <T extends ModelEvent['type']>(type: T): Extract<ModelEvent, { type: T }>[] =>
    events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
  return {
    events,
    text: of('text')
      .map((event) => event.text)
      .join(''),
    calls: of('tool').map(({ key, id = '', name = '' }) => {
      const pieces = of('tool-input').filter((event) => event.key === key);
      const input: unknown = JSON.parse(pieces.map(({ json }) => json).join(''));
      return { id, name, input };
    }),
    stop: of('stop')[0],
    outputTokens: of('usage').at(-1)?.usage.outputTokens ?? 0,
  };
}

export const namesAndInputs = (calls: readonly { name: string; input: unknown }[]): unknown[] =>
  calls.map(({ name, input }) => [name, input]);

const string = (description = ''): JsonObject => ({ type: 'string', description });
const number: JsonObject = { type: 'number' };

export function tool(
  name: string,
  description: string,
  properties: Record<string, JsonObject>,
  required: readonly string[] = Object.keys(properties),
): ToolDefinition {
  return { name, description, inputSchema: { type: 'object', properties, required } };
}

/** As clients write them, in both languages. */
export const TOOLS = {
  计算: tool('calculate', '执行数学计算', { expression: string('数学表达式') }),
  calculator: tool('calculator', 'Evaluate a math expression', { expression: string('What to evaluate') }),
  add: tool('add', 'Add two numbers', { a: number, b: number }),
  arithmetic: tool('arithmetic', 'Do arithmetic on two numbers', {
    operation: { type: 'string', enum: ['add', 'subtract', 'multiply', 'divide'] },
    a: number,
    b: number,
  }),
  sum: tool('sum_numbers', 'Sum a list of numbers', { numbers: { type: 'array', items: number } }),
  weather: tool(
    'get_weather',
    'Get the current weather in a given location',
    { city: string('The city'), unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    ['city'],
  ),
  天气: tool('get_weather', '查询城市天气', { city: string('城市名称') }),
  forecast: tool('weatherForecast', 'Forecast for the coming days', {
    location: string(),
    days: { type: 'integer', minimum: 1, maximum: 14 },
  }),
  time: tool('get_current_time', 'Current time', {}),
  read: tool('read_file', 'Read the contents of a file', { path: string('Path of the file') }),
  write: tool('write_file', 'Write text to a file', {
    path: string(),
    content: string('What the file holds'),
  }),
  edit: tool('edit_file', 'Replace text in a file', {
    file_path: string(),
    old_string: string(),
    new_string: string(),
  }),
  glob: tool('Glob', 'Fast file pattern matching', { pattern: string('The pattern to match files against') }),
  bash: tool('Bash', 'Executes a given bash command', { command: string(), timeout: number }, ['command']),
  search: tool('web_search', 'Search the web for information', { query: string(), limit: number }, ['query']),
  fetch: tool('WebFetch', 'Fetches content from a URL', {
    url: { type: 'string', format: 'uri' },
    prompt: string(),
  }),
  translate: tool('translate_text', 'Translate text', { text: string(), target_language: string() }),
  email: tool('send_email', 'Send an email', { to: string('Address'), body: string() }),
  route: tool('get_directions', 'Directions between two places', { origin: string(), destination: string() }),
  order: tool('get_order_status', 'Look up the status of an order', { order_id: string() }),
  user: tool('create_user', 'Create a user', { name: string(), email: string(), age: { type: 'integer' } }, [
    'email',
  ]),
  echo: tool('echo', 'Echo back a message', { message: string() }),
} satisfies Record<string, ToolDefinition>;

export type ToolKey = keyof typeof TOOLS;
