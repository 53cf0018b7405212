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

/** A Wednesday. */
export const NOW = new Date('2025-01-01T09:00:00Z');

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
    serverTools: [],
    stopSequences: [],
    stream: true,
    extensions: {},
    ...over,
  };
}

export interface Turn {
  batches: ModelEvent[][];
  events: ModelEvent[];
  text: string;
  thinking: string;
  calls: { id: string; name: string; json: string; input: unknown }[];
  stop: Extract<ModelEvent, { type: 'stop' }> | undefined;
  inputTokens: number;
  outputTokens: number;
}

export async function turn(
  asked: ConversationRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Turn> {
  const batches: ModelEvent[][] = [];
  for await (const batch of runDemo(asked, signal, { now: NOW })) batches.push(batch);
  const events = batches.flat();
  const of = <T extends ModelEvent['type']>(type: T): Extract<ModelEvent, { type: T }>[] =>
    events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
  const calls = of('tool').map(({ key, id = '', name = '' }) => {
    const json = of('tool-input')
      .filter((event) => event.key === key)
      .map((event) => event.json)
      .join('');
    const input: unknown = JSON.parse(json);
    return { id, name, json, input };
  });
  return {
    batches,
    events,
    text: of('text')
      .map((event) => event.text)
      .join(''),
    thinking: of('thinking')
      .map((event) => event.text)
      .join(''),
    calls,
    stop: of('stop')[0],
    inputTokens: of('start')[0]?.usage?.inputTokens ?? 0,
    outputTokens: of('usage').at(-1)?.usage.outputTokens ?? 0,
  };
}

export const namesAndInputs = (calls: readonly { name: string; input: unknown }[]): unknown[] =>
  calls.map(({ name, input }) => [name, input]);

const string = (description = '', more: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...more,
});
const number = (description = ''): JsonObject => ({ type: 'number', description });
const integer = (description = '', more: JsonObject = {}): JsonObject => ({
  type: 'integer',
  description,
  ...more,
});
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });

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
  calculator: tool('calculator', 'Evaluate a math expression', {
    expression: string('The expression to evaluate'),
  }),
  add: tool('add', 'Add two numbers', { a: number(), b: number() }),
  arithmetic: tool('arithmetic', 'Do arithmetic on two numbers', {
    operation: { type: 'string', enum: ['add', 'subtract', 'multiply', 'divide'] },
    a: number(),
    b: number(),
  }),
  sum: tool('sum_numbers', 'Sum a list of numbers', { numbers: list({ type: 'number' }) }),
  weather: tool(
    'get_weather',
    'Get the current weather in a given location',
    { city: string('The city'), unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    ['city'],
  ),
  天气: tool('get_weather', '查询城市天气', { city: string('城市名称') }),
  forecast: tool(
    'weatherForecast',
    'Forecast for the coming days',
    { location: string(), days: integer('', { minimum: 1, maximum: 14 }) },
    ['location', 'days'],
  ),
  time: tool('get_current_time', 'Current time in a city', { location: string() }),
  read: tool('read_file', 'Read the contents of a file', { path: string('Path of the file') }),
  write: tool('write_file', 'Write text to a file', { path: string(), content: string() }),
  edit: tool(
    'edit_file',
    'Replace text in a file',
    {
      file_path: string('The absolute path to the file'),
      old_string: string(),
      new_string: string(),
      replace_all: { type: 'boolean', default: false },
    },
    ['file_path', 'old_string', 'new_string'],
  ),
  glob: tool(
    'Glob',
    'Fast file pattern matching',
    {
      pattern: string('The glob pattern to match files against'),
      path: string('The directory to search in'),
    },
    ['pattern'],
  ),
  grep: tool(
    'Grep',
    'A powerful search tool built on ripgrep',
    {
      pattern: string('The regular expression to search for'),
      path: string('File or directory to search in'),
    },
    ['pattern'],
  ),
  bash: tool(
    'Bash',
    'Executes a given bash command and returns its output',
    { command: string('The command to execute'), description: string(), timeout: number() },
    ['command'],
  ),
  search: tool(
    'web_search',
    'Search the web for information',
    { query: string('The search query'), limit: integer('Max results', { minimum: 1, maximum: 50 }) },
    ['query'],
  ),
  fetch: tool('WebFetch', 'Fetches content from a URL', {
    url: string('The URL', { format: 'uri' }),
    prompt: string('What to look for'),
  }),
  translate: tool('translate_text', 'Translate text to another language', {
    text: string(),
    target_language: string(),
  }),
  translateCode: tool('translate', 'Translate text', {
    text: string(),
    target_lang: string('ISO 639-1 code of the language'),
  }),
  email: tool(
    'send_email',
    'Send an email',
    { to: string('Address of the recipient'), subject: string(), body: string() },
    ['to', 'body'],
  ),
  message: tool('send_message', 'Send a chat message to a person', {
    recipient: string(),
    message: string(),
  }),
  remind: tool('create_reminder', 'Create a reminder', { text: string(), when: string('Date or time') }, [
    'text',
  ]),
  timer: tool('set_timer', 'Set a timer', { minutes: integer() }),
  event: tool(
    'create_event',
    'Create a calendar event',
    {
      title: string(),
      date: string('', { format: 'date' }),
      time: string(),
      attendees: list({ type: 'string' }),
    },
    ['title', 'date'],
  ),
  stock: tool('get_stock_price', 'Get the price of a stock', { symbol: string('Ticker symbol') }),
  currency: tool('convert_currency', 'Convert an amount between currencies', {
    amount: number(),
    from: string(),
    to: string(),
  }),
  route: tool('get_directions', 'Directions between two places', { origin: string(), destination: string() }),
  order: tool('get_order_status', 'Look up the status of an order', { order_id: string() }),
  orderNumber: tool('find_order', 'Find an order by number', { number: integer() }),
  user: tool('create_user', 'Create a user account', { name: string(), email: string(), age: integer() }, [
    'name',
    'email',
  ]),
  todo: tool('TodoWrite', 'Update the todo list', {
    todos: list({
      type: 'object',
      properties: { content: string(), status: { type: 'string', enum: ['pending', 'done'] } },
      required: ['content', 'status'],
    }),
  }),
  dice: tool('roll_dice', 'Roll dice', { count: integer(), sides: integer('', { default: 6 }) }, ['count']),
  light: tool('set_light', 'Turn a light on or off', {
    room: string(),
    state: { type: 'string', enum: ['on', 'off'] },
  }),
  list: tool(
    'list_directory',
    'List the files of a directory',
    { path: string('The directory to list'), recursive: { type: 'boolean' } },
    ['path'],
  ),
  order_item: tool('place_order', 'Order an item', {
    item: {
      type: 'object',
      properties: { sku: string(), quantity: integer() },
      required: ['sku', 'quantity'],
    },
  }),
} satisfies Record<string, ToolDefinition>;

export type ToolKey = keyof typeof TOOLS;
