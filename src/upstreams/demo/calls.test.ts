import { describe, expect, it } from 'vitest';
import {
  namesAndInputs,
  request,
  TOOLS,
  type ToolKey,
  tool,
  turn,
} from '../../../test/support/demo-requests.js';
import type { JsonObject, ToolDefinition } from '../../core/conversation.js';

type Call = readonly [name: string, input: unknown];
type Case = readonly [words: string, tools: readonly ToolKey[], ...calls: Call[]];
type CommonCase = readonly [words: string, tools: readonly ToolDefinition[], ...calls: Call[]];

const string = (description = ''): JsonObject => ({ type: 'string', description });
const integer: JsonObject = { type: 'integer' };

const ARITHMETIC: readonly Case[] = [
  ['请帮我计算 123 + 456', ['计算'], ['calculate', { expression: '123 + 456' }]],
  ['calculate 123 + 456', ['calculator', 'weather'], ['calculator', { expression: '123 + 456' }]],
  ['What is (2 + 3) * 4?', ['calculator'], ['calculator', { expression: '(2 + 3) * 4' }]],
  ['12 ÷ 4 是多少', ['计算', '天气'], ['calculate', { expression: '12 / 4' }]],
  ['计算3加5乘以2', ['计算'], ['calculate', { expression: '3 + 5 * 2' }]],
  ['what is 15% of 80', ['calculator'], ['calculator', { expression: '0.15 * 80' }]],
  ['Compute the product of 6 and 7', ['calculator'], ['calculator', { expression: '6 * 7' }]],
  ['add 3 and 5', ['add'], ['add', { a: 3, b: 5 }]],
  ['3加5', ['add', '天气'], ['add', { a: 3, b: 5 }]],
  ['what is 12 times 4?', ['arithmetic'], ['arithmetic', { operation: 'multiply', a: 12, b: 4 }]],
  ['100 - 58', ['arithmetic'], ['arithmetic', { operation: 'subtract', a: 100, b: 58 }]],
  ['sum 1, 2 and 3.5', ['sum'], ['sum_numbers', { numbers: [1, 2, 3.5] }]],
  [
    'calculate 2+3, 4*5 and 6/2',
    ['calculator'],
    ['calculator', { expression: '2+3' }],
    ['calculator', { expression: '4*5' }],
    ['calculator', { expression: '6/2' }],
  ],
];

const WEATHER: readonly Case[] = [
  ["What's the weather in Paris?", ['weather'], ['get_weather', { city: 'Paris' }]],
  ['weather in new york today', ['weather'], ['get_weather', { city: 'new york' }]],
  [
    'Is it raining in San Francisco, CA right now?',
    ['weather'],
    ['get_weather', { city: 'San Francisco, CA' }],
  ],
  ["Tokyo's weather please", ['weather', 'time'], ['get_weather', { city: 'Tokyo' }]],
  ['weather in Oslo in fahrenheit', ['weather'], ['get_weather', { city: 'Oslo', unit: 'fahrenheit' }]],
  ['巴黎的天气怎么样？', ['天气'], ['get_weather', { city: '巴黎' }]],
  ['Paris 的天气如何', ['天气'], ['get_weather', { city: 'Paris' }]],
  ['请帮我查一下北京今天的天气', ['天气', '计算'], ['get_weather', { city: '北京' }]],
  ['明天上海会下雨吗？', ['天气'], ['get_weather', { city: '上海' }]],
  ['用摄氏度告诉我柏林的气温', ['weather'], ['get_weather', { city: '柏林', unit: 'celsius' }]],
  ['Forecast for Lyon for 3 days', ['forecast'], ['weatherForecast', { location: 'Lyon', days: 3 }]],
  ['forecast for Lyon for 30 days', ['forecast'], ['weatherForecast', { location: 'Lyon', days: 14 }]],
  [
    'weather in Paris and in Tokyo',
    ['weather', 'calculator'],
    ['get_weather', { city: 'Paris' }],
    ['get_weather', { city: 'Tokyo' }],
  ],
  ['北京和上海的天气', ['天气'], ['get_weather', { city: '北京' }], ['get_weather', { city: '上海' }]],
  [
    'What is the weather in Paris, London and Rome in fahrenheit?',
    ['weather'],
    ['get_weather', { city: 'Paris', unit: 'fahrenheit' }],
    ['get_weather', { city: 'London', unit: 'fahrenheit' }],
    ['get_weather', { city: 'Rome', unit: 'fahrenheit' }],
  ],
  [
    "What's the weather and the time in Paris?",
    ['weather', 'time'],
    ['get_weather', { city: 'Paris' }],
    ['get_current_time', { location: 'Paris' }],
  ],
];

const FILES: readonly Case[] = [
  ['Read README.md', ['read', 'write'], ['read_file', { path: 'README.md' }]],
  ['what is in ./src/main.ts?', ['read', 'bash'], ['read_file', { path: './src/main.ts' }]],
  ['读取报告.txt', ['read'], ['read_file', { path: '报告.txt' }]],
  ['打开 /etc/hosts 看看内容', ['read'], ['read_file', { path: '/etc/hosts' }]],
  ['read a.txt and b.txt', ['read'], ['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }]],
  [
    'read a.txt and calculate 2*3',
    ['read', 'calculator', 'weather'],
    ['read_file', { path: 'a.txt' }],
    ['calculator', { expression: '2*3' }],
  ],
  [
    '读取 a.txt 然后计算 2*3',
    ['read', '计算'],
    ['read_file', { path: 'a.txt' }],
    ['calculate', { expression: '2*3' }],
  ],
  [
    'write "hello world" to notes.txt',
    ['read', 'write'],
    ['write_file', { path: 'notes.txt', content: 'hello world' }],
  ],
  [
    'create a file hello.txt with content hello there',
    ['write', 'read'],
    ['write_file', { path: 'hello.txt', content: 'hello there' }],
  ],
  ['把你好写入 a.txt', ['write', 'read'], ['write_file', { path: 'a.txt', content: '你好' }]],
  [
    '写一个 b.txt 文件，内容为 你好世界',
    ['write', 'read'],
    ['write_file', { path: 'b.txt', content: '你好世界' }],
  ],
  [
    'replace foo with bar in src/a.ts',
    ['edit', 'read'],
    ['edit_file', { file_path: 'src/a.ts', old_string: 'foo', new_string: 'bar' }],
  ],
  [
    'replace all of foo with bar in src/a.ts',
    ['edit', 'read'],
    ['edit_file', { file_path: 'src/a.ts', old_string: 'all of foo', new_string: 'bar', replace_all: true }],
  ],
  ['list all typescript files in src', ['glob', 'grep'], ['Glob', { pattern: 'src/**/*.ts' }]],
  ['find files matching **/*.md', ['glob', 'grep'], ['Glob', { pattern: '**/*.md' }]],
  ['list docs/ recursively', ['list', 'read'], ['list_directory', { path: 'docs/', recursive: true }]],
  ['列出 src 目录下的文件', ['list'], ['list_directory', { path: 'src' }]],
  [
    'search for "createServer" in src',
    ['grep', 'glob', 'search'],
    ['Grep', { pattern: 'createServer', path: 'src' }],
  ],
];

const OTHERS: readonly Case[] = [
  ['run npm test', ['bash', 'read'], ['Bash', { command: 'npm test' }]],
  ['please run `ls -la`', ['bash'], ['Bash', { command: 'ls -la' }]],
  ['运行 npm test', ['bash', 'read'], ['Bash', { command: 'npm test' }]],
  ['git status', ['bash', 'read'], ['Bash', { command: 'git status' }]],
  [
    'Search the web for the best pizza in Rome',
    ['search', 'weather', 'grep'],
    ['web_search', { query: 'the best pizza in Rome' }],
  ],
  ['look up quantum computing', ['search'], ['web_search', { query: 'quantum computing' }]],
  ['search for cats and dogs', ['search'], ['web_search', { query: 'cats and dogs' }]],
  ['搜索人工智能的最新新闻', ['search', '天气'], ['web_search', { query: '人工智能的最新新闻' }]],
  [
    'fetch https://example.com/a?b=1 and summarize it',
    ['fetch', 'search'],
    ['WebFetch', { url: 'https://example.com/a?b=1', prompt: 'summarize it' }],
  ],
  [
    'translate "good morning" to French',
    ['translate'],
    ['translate_text', { text: 'good morning', target_language: 'French' }],
  ],
  [
    'translate "good morning" to French',
    ['translateCode'],
    ['translate', { text: 'good morning', target_lang: 'fr' }],
  ],
  ['把“你好”翻译成英语', ['translate'], ['translate_text', { text: '你好', target_language: '英语' }]],
  [
    'Translate hello world into Spanish and German',
    ['translate'],
    ['translate_text', { text: 'hello world', target_language: 'Spanish' }],
    ['translate_text', { text: 'hello world', target_language: 'German' }],
  ],
  [
    'send an email to bob@example.com saying I will be late',
    ['email', 'message'],
    ['send_email', { to: 'bob@example.com', body: 'I will be late' }],
  ],
  [
    'Send an email to a@b.co with subject "Hi" saying see you soon',
    ['email'],
    ['send_email', { to: 'a@b.co', subject: 'Hi', body: 'see you soon' }],
  ],
  [
    '给 bob@example.com 发邮件说我会迟到',
    ['email'],
    ['send_email', { to: 'bob@example.com', body: '我会迟到' }],
  ],
  [
    'Send a message to Alice saying dinner is ready',
    ['message'],
    ['send_message', { recipient: 'Alice', message: 'dinner is ready' }],
  ],
  ['Remind me to buy milk tomorrow', ['remind'], ['create_reminder', { text: 'buy milk', when: 'tomorrow' }]],
  ['set a timer for five minutes', ['timer'], ['set_timer', { minutes: 5 }]],
  [
    'Create an event titled "Standup" on March 5, 2025 at 10:00 with Alice and Bob',
    ['event'],
    ['create_event', { title: 'Standup', date: '2025-03-05', time: '10:00', attendees: ['Alice', 'Bob'] }],
  ],
  ['明天新建会议，标题为周会', ['event'], ['create_event', { title: '周会', date: '2025-01-02' }]],
  ['price of AAPL stock', ['stock'], ['get_stock_price', { symbol: 'AAPL' }]],
  ['convert 100 USD to EUR', ['currency'], ['convert_currency', { amount: 100, from: 'USD', to: 'EUR' }]],
  ['100美元换算成人民币', ['currency'], ['convert_currency', { amount: 100, from: 'USD', to: 'CNY' }]],
  [
    'directions from Berlin to Munich',
    ['route'],
    ['get_directions', { origin: 'Berlin', destination: 'Munich' }],
  ],
  ['从北京到上海怎么走', ['route'], ['get_directions', { origin: '北京', destination: '上海' }]],
  ['where is my order #12345?', ['order'], ['get_order_status', { order_id: '12345' }]],
  ['find order 778', ['orderNumber'], ['find_order', { number: 778 }]],
  [
    'Create a user named John Smith with email john@x.com, age 30',
    ['user'],
    ['create_user', { name: 'John Smith', email: 'john@x.com', age: 30 }],
  ],
  [
    'todo: buy milk, call mom',
    ['todo'],
    [
      'TodoWrite',
      {
        todos: [
          { content: 'buy milk', status: 'pending' },
          { content: 'call mom', status: 'pending' },
        ],
      },
    ],
  ],
  ['roll two dice with 20 sides', ['dice'], ['roll_dice', { count: 2, sides: 20 }]],
  ['turn on the kitchen light', ['light'], ['set_light', { room: 'kitchen', state: 'on' }]],
  ['关闭客厅的灯', ['light'], ['set_light', { room: '客厅', state: 'off' }]],
  ['order 3 of A-100', ['order_item'], ['place_order', { item: { sku: 'A-100', quantity: 3 } }]],
];

/** As the documentation of providers and frameworks writes them. */
const COMMON: readonly CommonCase[] = [
  [
    "What's the weather like in San Francisco, Tokyo, and Paris?",
    [
      tool('get_current_weather', 'Get the current weather in a given location', {
        location: string('The city and state'),
      }),
    ],
    ['get_current_weather', { location: 'San Francisco' }],
    ['get_current_weather', { location: 'Tokyo' }],
    ['get_current_weather', { location: 'Paris' }],
  ],
  [
    'What is 3 * 12? Also, what is 11 + 49?',
    [
      tool('multiply', 'Multiply two integers together.', { a: integer, b: integer }),
      tool('add', 'Add two integers', { a: integer, b: integer }),
    ],
    ['multiply', { a: 3, b: 12 }],
    ['add', { a: 11, b: 49 }],
  ],
  [
    'what is the value of magic_function(3)?',
    [tool('magic_function', 'Applies a magic function to an input.', { input: integer })],
    ['magic_function', { input: 3 }],
  ],
  [
    'Find me a flight from London to New York on March 5',
    [
      tool('search_flights', 'Search for flights', {
        origin: string(),
        destination: string(),
        date: string('YYYY-MM-DD'),
      }),
    ],
    ['search_flights', { origin: 'London', destination: 'New York', date: '2025-03-05' }],
  ],
  [
    '帮我订一张从上海到北京的机票，日期是2025年3月5日',
    [
      tool('book_flight', '预订机票', {
        from: string('出发城市'),
        to: string('到达城市'),
        date: { type: 'string', format: 'date' },
      }),
    ],
    ['book_flight', { from: '上海', to: '北京', date: '2025-03-05' }],
  ],
  ['What time is it?', [tool('get_time', 'Get the current time', {})], ['get_time', {}]],
  ['现在几点了？', [tool('get_time', 'Get the current time', {})], ['get_time', {}]],
  [
    'echo hello world',
    [tool('echo', 'Echo back a message', { message: string() })],
    ['echo', { message: 'hello world' }],
  ],
  [
    'Use the echo tool to say hello',
    [tool('echo', 'Echoes the input', { message: string() })],
    ['echo', { message: 'hello' }],
  ],
  [
    'delete user 42',
    [
      tool('get_user', 'Fetch a user by id', { id: integer }),
      tool('delete_user', 'Delete a user', { id: integer }),
    ],
    ['delete_user', { id: 42 }],
  ],
  [
    'what is the distance between Paris and Berlin',
    [tool('get_distance', 'Distance between two cities', { city_a: string(), city_b: string() })],
    ['get_distance', { city_a: 'Paris', city_b: 'Berlin' }],
  ],
  [
    'get the first 3 commits of torvalds/linux',
    [
      tool(
        'list_commits',
        'List commits of a repository',
        { owner: string(), repo: string(), per_page: integer },
        ['owner', 'repo'],
      ),
    ],
    ['list_commits', { owner: 'torvalds', repo: 'linux', per_page: 3 }],
  ],
  [
    'I want to know 25 * 4',
    [
      tool('calculator', 'Basic math', {
        operation: string('add, subtract, multiply, or divide'),
        x: integer,
        y: integer,
      }),
    ],
    ['calculator', { operation: 'multiply', x: 25, y: 4 }],
  ],
  [
    'add a todo to buy bread',
    [tool('list_todos', 'List all todos', {}), tool('add_todo', 'Add a todo', { title: string() })],
    ['add_todo', { title: 'Buy bread' }],
  ],
  [
    '播放周杰伦的歌',
    [tool('play_music', 'Play music', { artist: string() })],
    ['play_music', { artist: '周杰伦' }],
  ],
  [
    '查询订单 A10086 的状态',
    [tool('query_order', '查询订单状态', { order_id: string('订单号') })],
    ['query_order', { order_id: 'A10086' }],
  ],
  [
    'What is the weather?',
    [
      tool('weather', 'The weather here', {
        unit: { type: 'string', enum: ['c', 'f'] },
        details: { type: 'boolean' },
      }),
    ],
    ['weather', { unit: 'c', details: false }],
  ],
];

/** No tool fits, or what it needs is not said: nothing is called. */
const NONE: readonly (readonly [words: string, tools: readonly ToolKey[]])[] = [
  ['hello', ['weather', 'read', 'bash']],
  ['你好', ['天气', 'read']],
  ['tell me a joke', ['weather', 'calculator']],
  ['What is the capital of France?', ['weather', 'bash', 'read', 'grep']],
  ['show me the weather in Oslo', ['read']],
  ['calculate the area', ['calculator']],
  ['how do I read a file in python?', ['read', 'glob', 'grep']],
  ['Write a haiku about autumn', ['write', 'todo']],
  ['delete a.txt', ['read', 'write', 'glob']],
  ['run the tests', ['bash', 'read']],
  ['what is your name?', ['user', 'weather']],
  ['谢谢', ['天气', '计算']],
];

describe.each([
  ['arithmetic', ARITHMETIC],
  ['weather', WEATHER],
  ['files', FILES],
  ['other tools', OTHERS],
])('calls: %s', (_name, cases) => {
  for (const [words, tools, ...calls] of cases)
    it(words, async () => {
      const answer = await turn(request(words, { tools: tools.map((key) => TOOLS[key]) }));
      expect(namesAndInputs(answer.calls)).toEqual(calls);
      expect(answer.stop?.reason).toBe('tool_use');
      expect(answer.text).toBe('');
    });
});

describe('calls: tools as they are found everywhere', () => {
  for (const [words, tools, ...calls] of COMMON)
    it(words, async () => {
      const answer = await turn(request(words, { tools: [...tools] }));
      expect(namesAndInputs(answer.calls)).toEqual(calls);
    });
});

describe('no call', () => {
  it.each(NONE)('%s', async (words, tools) => {
    const answer = await turn(request(words, { tools: tools.map((key) => TOOLS[key]) }));
    expect(answer.calls).toEqual([]);
    expect(answer.stop?.reason).toBe('end_turn');
    expect(answer.text).toMatch(/demo model|演示模型/);
  });
});
