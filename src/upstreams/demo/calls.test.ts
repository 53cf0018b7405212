import { describe, expect, it } from 'vitest';
import { called, request, result, said, TOOLS, type ToolKey, text, turn, user } from './testing.js';

type Call = readonly [name: string, input: unknown];
type Case = readonly [words: string, tools: readonly ToolKey[], ...calls: Call[]];

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

const namesAndInputs = (calls: readonly { name: string; input: unknown }[]): unknown[] =>
  calls.map(({ name, input }) => [name, input]);

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

describe('no call', () => {
  it.each(NONE)('%s', async (words, tools) => {
    const answer = await turn(request(words, { tools: tools.map((key) => TOOLS[key]) }));
    expect(answer.calls).toEqual([]);
    expect(answer.stop?.reason).toBe('end_turn');
    expect(answer.text).toMatch(/demo model|演示模型/);
  });
});

describe('tool choice', () => {
  const tools = [TOOLS.weather, TOOLS.calculator];

  it('none: calls nothing, though a tool fits', async () => {
    const answer = await turn(request('weather in Paris', { tools, toolChoice: { type: 'none' } }));
    expect(answer.calls).toEqual([]);
  });

  it('any: calls the best tool, though none fits', async () => {
    const answer = await turn(request('tell me a joke', { tools, toolChoice: { type: 'any' } }));
    expect(answer.calls).toHaveLength(1);
    expect(answer.stop?.reason).toBe('tool_use');
  });

  it('tool: calls that one', async () => {
    const toolChoice = { type: 'tool', name: 'calculator' } as const;
    const answer = await turn(request('weather in Paris', { tools, toolChoice }));
    expect(answer.calls.map(({ name }) => name)).toEqual(['calculator']);
  });

  it('one at a time without parallel calls, each in its turn', async () => {
    const words = 'weather in Paris and in Rome';
    const asked = { tools, parallelToolCalls: false };
    const first = await turn(request(words, asked));
    expect(namesAndInputs(first.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
    const history = [
      user(words),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
    ];
    const second = await turn(request(history, asked));
    expect(namesAndInputs(second.calls)).toEqual([['get_weather', { city: 'Rome' }]]);
  });
});

describe('reading the conversation', () => {
  it('ignores what clients put between the words', async () => {
    const reminder = '<system-reminder>Read CLAUDE.md and calculate 9 * 9 first.</system-reminder>';
    const messages = [user(reminder, 'weather in Paris', `${reminder} ${reminder}`)];
    const answer = await turn(request(messages, { tools: [TOOLS.weather, TOOLS.read, TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
  });

  it('makes relative paths absolute where the tool wants that and the system prompt names the folder', async () => {
    const system = [{ type: 'text', text: '<env>\nWorking directory: /home/me/project\n</env>' }] as const;
    const answer = await turn(
      request('replace a with b in ./x.ts', { system: [...system], tools: [TOOLS.edit] }),
    );
    expect(answer.calls[0]?.input).toMatchObject({ file_path: '/home/me/project/x.ts' });
  });

  it('goes on with the tool of the request before', async () => {
    const before = [
      user('weather in Paris'),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
      said('The weather in Paris: sunny'),
    ];
    for (const [words, city] of [
      ['and in Rome?', 'Rome'],
      ['What about Tokyo?', 'Tokyo'],
      ['那上海呢？', '上海'],
    ] as const) {
      const answer = await turn(request([...before, user(words)], { tools: [TOOLS.weather, TOOLS.read] }));
      expect(namesAndInputs(answer.calls)).toEqual([['get_weather', { city }]]);
    }
  });

  it('uses a result in the call that needs it', async () => {
    const tools = [TOOLS.read, TOOLS.email];
    const words = 'Read a.txt and send it to bob@example.com by email';
    const first = await turn(request(words, { tools }));
    expect(namesAndInputs(first.calls)).toEqual([['read_file', { path: 'a.txt' }]]);
    const history = [
      user(words),
      called(['c1', 'read_file', { path: 'a.txt' }]),
      user(result('c1', 'the notes')),
    ];
    const second = await turn(request(history, { tools }));
    expect(namesAndInputs(second.calls)).toEqual([
      ['send_email', { to: 'bob@example.com', body: 'the notes' }],
    ]);
    const more = [
      ...history,
      called(['c2', 'send_email', { body: 'the notes', to: 'bob@example.com' }]),
      user(result('c2', 'sent')),
    ];
    const third = await turn(request(more, { tools }));
    expect(third.calls).toEqual([]);
    expect(third.text).toContain('sent');
  });

  it('never repeats a call whose result is there, nor one that the client changed', async () => {
    const tools = [TOOLS.weather];
    for (const input of [{ city: 'Paris' }, { city: 'Paris, France', unit: 'celsius' }]) {
      const history = [
        user('weather in Paris'),
        called(['c1', 'get_weather', input]),
        user(result('c1', 'sunny')),
      ];
      for (const toolChoice of [undefined, { type: 'any' } as const]) {
        const answer = await turn(
          request(history, { tools, ...(toolChoice === undefined ? {} : { toolChoice }) }),
        );
        expect(answer.calls).toEqual([]);
        expect(answer.text).toContain('sunny');
      }
    }
  });

  it('finds the request in several text blocks and a long pasted text', async () => {
    const messages = [user(text('lorem ipsum '.repeat(2000)), text('calculate 6 * 7'))];
    const answer = await turn(request(messages, { tools: [TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['calculator', { expression: '6 * 7' }]]);
  });

  it('calls a tool of an MCP server by its own words', async () => {
    const tools = [
      { ...TOOLS.weather, name: 'mcp__acme_tools__get_weather' },
      { ...TOOLS.read, name: 'mcp__fs__read_file' },
    ];
    const answer = await turn(request('weather in Paris', { tools }));
    expect(namesAndInputs(answer.calls)).toEqual([['mcp__acme_tools__get_weather', { city: 'Paris' }]]);
  });
});

describe('ids', () => {
  it('are the same for the same conversation, differ within it, and keep to the narrowest wire', async () => {
    const tools = [TOOLS.weather];
    const asked = request('weather in Paris and in Rome', { tools });
    const first = await turn(asked);
    const ids = first.calls.map(({ id }) => id);
    expect((await turn(asked)).calls.map(({ id }) => id)).toEqual(ids);
    const later = await turn(
      request([...asked.messages, said('Wait.'), user('weather in Paris and in Rome')], { tools }),
    );
    const all = [...ids, ...later.calls.map(({ id }) => id)];
    expect(new Set(all).size).toBe(4);
    for (const id of all) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });
});
