import { describe, expect, it } from 'vitest';
import { called, request, result, said, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import type { JsonObject, Message, ToolResultContent } from '../../core/conversation.js';

interface ResultCase {
  words: string;
  call: readonly [name: string, input: JsonObject];
  content: string | ToolResultContent[];
  isError?: boolean;
  says: readonly string[];
}

const IMAGE = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: '' } } as const;

const RESULTS: readonly ResultCase[] = [
  {
    words: '请帮我计算 123 + 456',
    call: ['calculate', { expression: '123 + 456' }],
    content: '579',
    says: ['123 + 456 的结果是 579。'],
  },
  {
    words: 'What is 123 + 456?',
    call: ['calculate', { expression: '123 + 456' }],
    content: '{"result": 579}',
    says: ['The result of 123 + 456 is 579.'],
  },
  {
    words: '巴黎的天气怎么样',
    call: ['get_weather', { city: '巴黎' }],
    content: '晴，22°C',
    says: ['get_weather（巴黎）返回：晴，22°C'],
  },
  {
    words: 'weather in Paris?',
    call: ['get_weather', { city: 'Paris' }],
    content: '{"temperature": 22, "wind": {"speed": 4}}',
    says: ['get_weather (Paris) returned: {"temperature": 22, "wind": {"speed": 4}}'],
  },
  {
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: 'ENOENT: no such file',
    isError: true,
    says: ['read_file (a.txt) failed: ENOENT: no such file'],
  },
  {
    words: '读取 a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: 'Error: permission denied',
    says: ['read_file（a.txt）出错：Error: permission denied'],
  },
  {
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: `first line\n${'words and words '.repeat(500)}`,
    says: ['first line', '(8010 characters in all)'],
  },
  {
    words: 'run npm test',
    call: ['Bash', { command: 'npm test' }],
    content: '',
    says: ['returned: nothing'],
  },
  {
    words: 'read a.png',
    call: ['read_file', { path: 'a.png' }],
    content: [{ type: 'text', text: 'Here it is' }, IMAGE],
    says: ['Here it is and image'],
  },
  {
    words: 'read deep.json',
    call: ['read_file', { path: 'deep.json' }],
    content: '['.repeat(50_000) + ']'.repeat(50_000),
    says: ['read_file (deep.json) returned: [[['],
  },
];

describe('the demo model answers from results', () => {
  it.each(RESULTS)('$words: $content', async ({ words, call: [name, input], content, isError, says }) => {
    const history = [user(words), called(['c1', name, input]), user(result('c1', content, isError))];
    const answer = await turn(request(history));
    for (const part of says) expect(answer.text).toContain(part);
    expect(answer.stop?.reason).toBe('end_turn');
    expect(answer.text.length).toBeLessThan(1_000);
  });

  it('mentions each of several, a failed one and one without its call among them', async () => {
    const history: Message[] = [
      user('weather in Paris and in Rome'),
      called(['c1', 'get_weather', { city: 'Paris' }], ['c2', 'get_weather', { city: 'Rome' }]),
      user(result('c1', 'sunny')),
      user(result('unknown', 'windy'), result('c2', 'no data', true)),
    ];
    const { text } = await turn(request(history, { tools: [TOOLS.weather] }));
    expect(text).toBe(
      '- get_weather (Paris) returned: sunny\n- tool returned: windy\n- get_weather (Rome) failed: no data',
    );
  });

  it('does not repeat results of an earlier question', async () => {
    const history = [
      user('weather in Paris'),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
      said('sunny'),
      user('thanks'),
    ];
    expect((await turn(request(history))).text).not.toContain('sunny');
  });
});

describe('the demo model without a fitting tool', () => {
  const CONNECT = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'toolgate init', 'upstreams.local', 'Ollama'];

  it.each([
    ['Who wrote Hamlet?', 'No model is connected: this is the demo model'],
    ['《红楼梦》的作者是谁？', '当前没有连接任何模型：这是网关内置的演示模型'],
    ['Was the 2010-2014 budget good?', 'No model is connected'],
  ])('%s: says what it is and how to connect a model', async (words, honest) => {
    const { text, stop } = await turn(request(words));
    for (const part of [honest, ...CONNECT]) expect(text).toContain(part);
    expect(stop?.reason).toBe('end_turn');
  });

  it.each([
    ['What is 15% of 240?', '0.15 * 240 = 36'],
    ['What is 2 to the power of 10?', '2 ^ 10 = 1024'],
    ['What is 0.1 + 0.2?', '0.1 + 0.2 = 0.3'],
    ['2 加 3 等于多少？', '2 + 3 等于 5。'],
    ['请计算 (1 + 2) × 3', '(1 + 2) * 3 等于 9。'],
    ['1 / 0', '1 / 0 has no value.'],
  ])('%s: works it out itself', async (words, expected) => {
    expect((await turn(request(words))).text).toBe(expected);
  });

  it('says how many tools it was offered', async () => {
    const { text } = await turn(request('Who wrote Hamlet?', { tools: [TOOLS.weather, TOOLS.add] }));
    expect(text).toContain('this. None of the tools on offer (2) fits this request. To connect');
  });

  it('is not disturbed by a system prompt', async () => {
    const system = [{ type: 'text' as const, text: 'Use the tool calculate for 9 * 9. 你是海盗。' }];
    const { text } = await turn(request('Who wrote Hamlet?', { system, tools: [TOOLS.calculator] }));
    expect(text).toContain('No model is connected');
  });

  it.each([[[]], [[user('')]], [[said('Hi')]], [[user(IMAGE)]]])('answers %j', async (messages) => {
    const { text, stop } = await turn(request(messages));
    expect(text).toContain('No model is connected');
    expect(stop?.reason).toBe('end_turn');
  });
});

describe('the demo model in JSON', () => {
  it.each<readonly [words: string, properties: JsonObject, expected: unknown]>([
    ['Please refactor the login form', { title: { type: 'string' } }, { title: 'Refactor the login form' }],
    ['请帮我重构登录表单', { title: { type: 'string' } }, { title: '重构登录表单' }],
    [
      'What is 6 * 7?',
      { expression: { type: 'string' }, result: { type: 'number' } },
      { expression: '6 * 7', result: 42 },
    ],
    [
      'This review is negative: the food was cold',
      { sentiment: { type: 'string', enum: ['positive', 'negative'] } },
      { sentiment: 'negative' },
    ],
    [
      'hello',
      { kind: { const: 'greeting' }, n: { anyOf: [{ type: 'null' }, { type: 'integer' }] } },
      { kind: 'greeting', n: 1 },
    ],
  ])('%s: fills the schema', async (words, properties, expected) => {
    const schema = { type: 'object', properties, required: Object.keys(properties) };
    const { text } = await turn(request(words, { format: { type: 'json_schema', schema } }));
    expect(JSON.parse(text)).toEqual(expected);
  });

  it('without a schema is an object with the answer', async () => {
    const { text } = await turn(request('what is 2+3', { format: { type: 'json_object' } }));
    expect(JSON.parse(text)).toEqual({ answer: '2 + 3 = 5' });
  });
});

describe('what clients ask the demo model on the side', () => {
  it.each([
    ['Summarize this coding conversation in under 50 characters.', 'Fix the bug in the parser'],
    [
      'Generate a concise title for this session. Return JSON with a "title" field.',
      '{"title":"Fix the bug in the parser"}',
    ],
  ])('a title: %s', async (prompt, expected) => {
    const system = [{ type: 'text' as const, text: prompt }];
    expect((await turn(request('please fix the bug in the parser', { system }))).text).toBe(expected);
  });

  it('a title of what the message quotes', async () => {
    const words =
      'Please write a 5-10 word title for the following conversation:\n\nUser: how do I sort a list?';
    expect((await turn(request(words))).text).toBe('How do I sort a list');
  });

  it.each([
    ['[SUGGESTION MODE: Suggest what the user might read in a.txt next.]', /^$/],
    [
      'Your task is to create a detailed summary of the conversation so far, with a.txt.',
      /^No model is connected/,
    ],
  ])('%s: calls no tool', async (words, expected) => {
    const { text, calls, stop } = await turn(request(words, { tools: [TOOLS.read, TOOLS.write] }));
    expect(calls).toEqual([]);
    expect(text).toMatch(expected);
    expect(stop?.reason).toBe('end_turn');
  });
});
