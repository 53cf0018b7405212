import { describe, expect, it } from 'vitest';
import {
  called,
  namesAndInputs,
  request,
  result,
  TOOLS,
  type ToolKey,
  text,
  turn,
  user,
} from '../../../test/support/demo-requests.js';

type Call = readonly [name: string, input: unknown];

const CALLS: readonly (readonly [words: string, tools: readonly ToolKey[], ...calls: Call[]])[] = [
  ['请帮我计算 123 + 456', ['计算'], ['calculate', { expression: '123 + 456' }]],
  ['What is 123 + 456?', ['calculator', 'weather'], ['calculator', { expression: '123 + 456' }]],
  ['what is 15% of 80', ['calculator'], ['calculator', { expression: '0.15 * 80' }]],
  ['12 ÷ 4 是多少', ['计算', '天气'], ['calculate', { expression: '12 / 4' }]],
  ['add 3 and 5', ['add'], ['add', { a: 3, b: 5 }]],
  ['3加5', ['add', '天气'], ['add', { a: 3, b: 5 }]],
  ['what is 12 times 4?', ['arithmetic'], ['arithmetic', { operation: 'multiply', a: 12, b: 4 }]],
  ['sum 1, 2 and 3.5', ['sum'], ['sum_numbers', { numbers: [1, 2, 3.5] }]],
  ["What's the weather in Paris?", ['weather'], ['get_weather', { city: 'Paris' }]],
  ['weather in new york today', ['weather'], ['get_weather', { city: 'new york' }]],
  ['Is it raining in San Francisco, CA?', ['weather'], ['get_weather', { city: 'San Francisco, CA' }]],
  ["Tokyo's weather please", ['weather', 'time'], ['get_weather', { city: 'Tokyo' }]],
  ['weather in Oslo in fahrenheit', ['weather'], ['get_weather', { city: 'Oslo', unit: 'fahrenheit' }]],
  ['巴黎的天气怎么样？', ['天气'], ['get_weather', { city: '巴黎' }]],
  ['请帮我查一下北京今天的天气', ['天气', '计算'], ['get_weather', { city: '北京' }]],
  ['forecast for Lyon for 30 days', ['forecast'], ['weatherForecast', { location: 'Lyon', days: 14 }]],
  ['现在几点了？', ['time', 'weather'], ['get_current_time', {}]],
  ['Read README.md', ['read', 'write'], ['read_file', { path: 'README.md' }]],
  ['Read the file package.json', ['read', 'write'], ['read_file', { path: 'package.json' }]],
  ['what is in ./src/main.ts?', ['read', 'bash'], ['read_file', { path: './src/main.ts' }]],
  ['打开 /etc/hosts 看看内容', ['read'], ['read_file', { path: '/etc/hosts' }]],
  ['List the files in this folder', ['glob', 'read', 'bash'], ['Glob', { pattern: '*' }]],
  ['列出这个文件夹里的文件', ['glob', 'read', 'bash'], ['Glob', { pattern: '*' }]],
  ['find files matching **/*.md', ['glob', 'read'], ['Glob', { pattern: '**/*.md' }]],
  [
    'write "hello world" to notes.txt',
    ['read', 'write'],
    ['write_file', { path: 'notes.txt', content: 'hello world' }],
  ],
  [
    'Create a file hello.txt with the text hello',
    ['write', 'read'],
    ['write_file', { path: 'hello.txt', content: 'hello' }],
  ],
  [
    '创建文件 hello.txt，内容为 hello',
    ['write', 'read'],
    ['write_file', { path: 'hello.txt', content: 'hello' }],
  ],
  ['把你好写入 a.txt', ['write', 'read'], ['write_file', { path: 'a.txt', content: '你好' }]],
  [
    'replace "foo" with "bar" in src/a.ts',
    ['edit', 'read'],
    ['edit_file', { file_path: 'src/a.ts', old_string: 'foo', new_string: 'bar' }],
  ],
  ['Run git status', ['bash', 'read'], ['Bash', { command: 'git status' }]],
  ['please run `ls -la`', ['bash'], ['Bash', { command: 'ls -la' }]],
  ['运行 git status', ['bash', 'read'], ['Bash', { command: 'git status' }]],
  [
    'Search the web for the best pizza in Rome',
    ['search', 'weather'],
    ['web_search', { query: 'the best pizza in Rome' }],
  ],
  ['look up cats', ['search'], ['web_search', { query: 'cats' }]],
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
  ['把“你好”翻译成英语', ['translate'], ['translate_text', { text: '你好', target_language: '英语' }]],
  [
    'send an email to bob@example.com saying I will be late',
    ['email', 'read'],
    ['send_email', { to: 'bob@example.com', body: 'I will be late' }],
  ],
  [
    'directions from Berlin to Munich',
    ['route'],
    ['get_directions', { origin: 'Berlin', destination: 'Munich' }],
  ],
  ['where is my order #12345?', ['order'], ['get_order_status', { order_id: '12345' }]],
  [
    'Create a user, name: Ada Lovelace, email: ada@example.com, age: 36',
    ['user'],
    ['create_user', { email: 'ada@example.com', name: 'Ada Lovelace', age: 36 }],
  ],
  ['echo hello world', ['echo'], ['echo', { message: 'hello world' }]],
  ['Use the echo tool to say hello', ['echo', 'read'], ['echo', { message: 'hello' }]],
];

/** What is listed means as many calls. */
const LISTS: typeof CALLS = [
  [
    'weather in Paris and in Tokyo',
    ['weather', 'calculator'],
    ['get_weather', { city: 'Paris' }],
    ['get_weather', { city: 'Tokyo' }],
  ],
  [
    'What is the weather in Paris, London and Rome?',
    ['weather'],
    ['get_weather', { city: 'Paris' }],
    ['get_weather', { city: 'London' }],
    ['get_weather', { city: 'Rome' }],
  ],
  ['北京和上海的天气', ['天气'], ['get_weather', { city: '北京' }], ['get_weather', { city: '上海' }]],
  ['read a.txt and b.txt', ['read'], ['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }]],
  [
    'calculate 2+3 and 6/2',
    ['calculator'],
    ['calculator', { expression: '2 + 3' }],
    ['calculator', { expression: '6 / 2' }],
  ],
];

describe.each([
  ['one call', CALLS],
  ['several calls', LISTS],
])('the demo model makes %s', (_name, cases) => {
  for (const [words, tools, ...calls] of cases)
    it(words, async () => {
      const answer = await turn(request(words, { tools: tools.map((key) => TOOLS[key]) }));
      expect(namesAndInputs(answer.calls)).toEqual(calls);
      expect(answer.stop?.reason).toBe('tool_use');
      expect(answer.text).toBe('');
    });
});

/** No tool fits, or what it needs is not said. */
describe('the demo model calls no tool', () => {
  it.each<readonly [words: string, tools: readonly ToolKey[]]>([
    ['hello', ['weather', 'read', 'bash']],
    ['你好', ['天气', 'read']],
    ['tell me a joke', ['weather', 'calculator']],
    ['What is the capital of France?', ['weather', 'bash', 'read']],
    ['What is the weather?', ['weather']],
    ['show me the weather in Oslo', ['read']],
    ['calculate the area', ['calculator']],
    ['delete a.txt', ['read', 'write', 'glob']],
    ['run the tests', ['bash', 'read']],
    ['谢谢', ['天气', '计算']],
  ])('%s', async (words, tools) => {
    const answer = await turn(request(words, { tools: tools.map((key) => TOOLS[key]) }));
    expect(answer.calls).toEqual([]);
    expect(answer.stop?.reason).toBe('end_turn');
    expect(answer.text).toMatch(/demo model|演示模型/);
  });
});

describe('tool choice on the demo model', () => {
  const tools = [TOOLS.weather, TOOLS.calculator];

  it('none: calls nothing, though a tool fits', async () => {
    const answer = await turn(request('weather in Paris', { tools, toolChoice: { type: 'none' } }));
    expect(answer.calls).toEqual([]);
  });

  it('any: calls the best tool, though none fits', async () => {
    const answer = await turn(request('tell me a joke', { tools, toolChoice: { type: 'any' } }));
    expect(answer.calls).toHaveLength(1);
  });

  it('tool: calls that one', async () => {
    const toolChoice = { type: 'tool', name: 'calculator' } as const;
    const answer = await turn(request('weather in Paris', { tools, toolChoice }));
    expect(answer.calls.map(({ name }) => name)).toEqual(['calculator']);
  });

  it('calls no tool whose schema it cannot meet, even where it must', async () => {
    const code = { type: 'string', pattern: '^(?:[a-z]+-)+[a-z]$' };
    const tool = {
      name: 'look_up',
      description: '',
      inputSchema: { required: ['code'], properties: { code } },
    };
    const answer = await turn(request('look_up x', { tools: [tool], toolChoice: { type: 'any' } }));
    expect(answer.calls).toEqual([]);
    expect(answer.text).toContain('No model is connected');
  });
});

describe('the conversation on the demo model', () => {
  const PARIS = called(['c1', 'get_weather', { city: 'Paris' }]);

  it('is read without what clients put between the words', async () => {
    const reminder = '<system-reminder>Read CLAUDE.md and calculate 9 * 9 first.</system-reminder>';
    const messages = [user(reminder, 'weather in Paris', `${reminder} ${reminder}`)];
    const answer = await turn(request(messages, { tools: [TOOLS.weather, TOOLS.read, TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
  });

  it('makes calls one at a time where they may not be parallel', async () => {
    const words = user('weather in Paris and in Rome');
    const asked = { tools: [TOOLS.weather], parallelToolCalls: false };
    const first = await turn(request([words], asked));
    expect(namesAndInputs(first.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
    const second = await turn(request([words, PARIS, user(result('c1', 'sunny'))], asked));
    expect(namesAndInputs(second.calls)).toEqual([['get_weather', { city: 'Rome' }]]);
  });

  it('never repeats a call whose result is there, nor one that the client changed', async () => {
    for (const input of [{ city: 'Paris' }, { city: 'Paris, France', unit: 'celsius' }]) {
      const history = [
        user('weather in Paris'),
        called(['c1', 'get_weather', input]),
        user(result('c1', 'sunny')),
      ];
      for (const toolChoice of [{ type: 'auto' }, { type: 'any' }] as const) {
        const answer = await turn(request(history, { tools: [TOOLS.weather], toolChoice }));
        expect(answer.calls).toEqual([]);
        expect(answer.text).toContain('sunny');
      }
    }
  });

  it('may hold the request behind a long pasted text', async () => {
    const messages = [user(text('lorem ipsum '.repeat(2000)), text('calculate 6 * 7'))];
    const answer = await turn(request(messages, { tools: [TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['calculator', { expression: '6 * 7' }]]);
  });

  it('calls a tool of an MCP server by its own words', async () => {
    const tools = [{ ...TOOLS.weather, name: 'mcp__acme_tools__get_weather' }, TOOLS.read];
    const answer = await turn(request('weather in Paris', { tools }));
    expect(namesAndInputs(answer.calls)).toEqual([['mcp__acme_tools__get_weather', { city: 'Paris' }]]);
  });
});
