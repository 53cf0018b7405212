import { describe, expect, it } from 'vitest';
import { called, request, result, said, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import type { JsonObject, Message, ToolResultContent } from '../../core/conversation.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const image = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: PNG } } as const;

describe('the round trip of the first request anybody makes', () => {
  const question = '请帮我计算 123 + 456';

  it('calls the tool with the expression alone', async () => {
    const answer = await turn(request(question, { model: 'custom-claude-4-sonnet', tools: [TOOLS.计算] }));
    expect(answer.calls).toHaveLength(1);
    expect(answer.calls[0]?.name).toBe('calculate');
    expect(answer.calls[0]?.json).toBe('{"expression": "123 + 456"}');
    expect(answer.text).toBe('');
    expect(answer.stop?.reason).toBe('tool_use');
  });

  it('answers from the result, though the second request brings no tools', async () => {
    const history = [
      user(question),
      called(['call_abc123', 'calculate', { expression: '123 + 456' }]),
      user(result('call_abc123', '579')),
    ];
    const answer = await turn(request(history));
    expect(answer.text).toBe('123 + 456 的结果是 579。');
    expect(answer.stop?.reason).toBe('end_turn');
  });

  it.each([
    ['What is 123 + 456?', 'The result of 123 + 456 is 579.'],
    ['计算 123 + 456', '123 + 456 的结果是 579。'],
  ])('in the language of %s', async (words, expected) => {
    const history = [
      user(words),
      called(['c', 'calculate', { expression: '123 + 456' }]),
      user(result('c', '579')),
    ];
    expect((await turn(request(history, { tools: [TOOLS.计算] }))).text).toBe(expected);
  });
});

interface ResultCase {
  name: string;
  words: string;
  call: readonly [name: string, input: JsonObject];
  content: string | ToolResultContent[];
  isError?: boolean;
  says: readonly string[];
}

const RESULTS: readonly ResultCase[] = [
  {
    name: 'weather in English',
    words: 'weather in Paris?',
    call: ['get_weather', { city: 'Paris' }],
    content: 'Sunny, 22°C',
    says: ['The weather in Paris: Sunny, 22°C'],
  },
  {
    name: 'weather in Chinese',
    words: '巴黎的天气怎么样',
    call: ['get_weather', { city: '巴黎' }],
    content: '晴，22°C',
    says: ['巴黎的天气：晴，22°C'],
  },
  {
    name: 'an object as keys and values',
    words: 'weather in Paris?',
    call: ['get_weather', { city: 'Paris' }],
    content: '{"temperature": 22, "conditions": "sunny", "wind": {"speed": 4}}',
    says: ['Paris', 'temperature: 22, conditions: sunny, wind: {"speed":4}'],
  },
  {
    name: 'the one value of an object',
    words: 'calculate 2+2',
    call: ['calculator', { expression: '2+2' }],
    content: '{"result": 4}',
    says: ['The result of 2+2 is 4.'],
  },
  {
    name: 'a list with its length',
    words: 'list docs/',
    call: ['list_directory', { path: 'docs/' }],
    content: '["a.md","b.md","c.md","d.md","e.md","f.md","g.md"]',
    says: ['docs/', '7 items: a.md; b.md; c.md; d.md; e.md; …'],
  },
  {
    name: 'an error, as an error',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: 'ENOENT: no such file',
    isError: true,
    says: ['read_file (a.txt) failed: ENOENT: no such file'],
  },
  {
    name: 'an error in Chinese',
    words: '读取 a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: '文件不存在',
    isError: true,
    says: ['read_file（a.txt）出错：文件不存在'],
  },
  {
    name: 'an error that only its text tells',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: 'Error: permission denied',
    says: ['failed: Error: permission denied'],
  },
  {
    name: 'a long text, shortened',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: `first line\n${'words and words '.repeat(500)}`,
    says: ['first line', '(8010 characters in all)'],
  },
  {
    name: 'many lines, shortened',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n'),
    says: ['line 11', 'characters in all'],
  },
  {
    name: 'nothing',
    words: 'run npm test',
    call: ['Bash', { command: 'npm test' }],
    content: '',
    says: ['Bash (npm test) returned: nothing'],
  },
  {
    name: 'an image',
    words: 'read a.png',
    call: ['read_file', { path: 'a.png' }],
    content: [{ type: 'text', text: 'Here it is' }, image],
    says: ['Here it is and an image (image/png, 640 × 480, 72 B)'],
  },
  {
    name: 'an image in Chinese',
    words: '读取 a.png',
    call: ['read_file', { path: 'a.png' }],
    content: [image],
    says: ['一张图片（image/png, 640 × 480, 72 B）'],
  },
  {
    name: 'a block that only one dialect knows',
    words: 'search for cats',
    call: ['web_search', { query: 'cats' }],
    content: [{ type: 'opaque', dialect: 'anthropic-messages', kind: 'search_result', value: {} }],
    says: ['a block of the kind search_result'],
  },
  {
    name: 'text that only looks like JSON',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: '{not json',
    says: ['returned: {not json'],
  },
  {
    name: 'JSON deeper than the stack',
    words: 'read a.txt',
    call: ['read_file', { path: 'a.txt' }],
    content: '['.repeat(50_000) + ']'.repeat(50_000),
    says: ['read_file (a.txt) returned: [[['],
  },
];

describe('results', () => {
  it.each(RESULTS)('$name', async ({ words, call: [name, input], content, isError, says }) => {
    const history = [user(words), called(['c1', name, input]), user(result('c1', content, isError))];
    const answer = await turn(request(history));
    for (const part of says) expect(answer.text).toContain(part);
    expect(answer.stop?.reason).toBe('end_turn');
    expect(answer.text.length).toBeLessThan(1_000);
  });

  it('mentions each of several, and a failed one among them', async () => {
    const history = [
      user('weather in Paris and in Rome'),
      called(['c1', 'get_weather', { city: 'Paris' }], ['c2', 'get_weather', { city: 'Rome' }]),
      user(result('c1', 'sunny'), result('c2', 'no data', true)),
    ];
    const { text } = await turn(request(history, { tools: [TOOLS.weather] }));
    expect(text).toBe('- The weather in Paris: sunny\n- get_weather (Rome) failed: no data');
  });

  it('takes results that came in several messages, and those without their call', async () => {
    const history: Message[] = [
      user('weather in Paris and in Rome'),
      called(['c1', 'get_weather', { city: 'Paris' }], ['c2', 'get_weather', { city: 'Rome' }]),
      user(result('c1', 'sunny')),
      user(result('unknown', 'windy')),
      user(result('c2', 'rain')),
    ];
    const { text } = await turn(request(history));
    for (const part of ['sunny', 'windy', 'rain']) expect(text).toContain(part);
  });

  it('does not repeat results of an earlier question', async () => {
    const history = [
      user('weather in Paris'),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
      said('The weather in Paris: sunny'),
      user('thanks'),
    ];
    const { text } = await turn(request(history));
    expect(text).not.toContain('sunny');
  });
});

describe('without a fitting tool', () => {
  it.each([
    [
      'Who wrote Hamlet?',
      [
        'No model is connected',
        'ANTHROPIC_API_KEY',
        'OPENAI_API_KEY',
        'toolgate init',
        'upstreams.local',
        'Ollama',
      ],
    ],
    [
      '《红楼梦》的作者是谁？',
      [
        '没有连接任何模型',
        'ANTHROPIC_API_KEY',
        'OPENAI_API_KEY',
        'toolgate init',
        'upstreams.local',
        'Ollama',
      ],
    ],
    ['Hello!', ['Hello! No model is connected']],
    ['你好', ['你好！当前没有连接任何模型']],
  ])('%s: says what it is and how to connect a model', async (words, says) => {
    const { text, stop } = await turn(request(words));
    for (const part of says) expect(text).toContain(part);
    expect(stop?.reason).toBe('end_turn');
  });

  it.each([
    ['what is 2+3', '2+3 = 5'],
    ['What is 0.1 + 0.2?', '0.1 + 0.2 = 0.3'],
    ['2 加 3 等于多少？', '2 + 3 等于 5。'],
    ['请计算 (1 + 2) × 3', '(1 + 2) * 3 等于 9。'],
    ['1 / 0', '1 / 0 has no value.'],
  ])('%s: works it out itself', async (words, expected) => {
    expect((await turn(request(words))).text).toBe(expected);
  });

  it('does not take a number in a question for arithmetic', async () => {
    expect((await turn(request('Was the 2010-2014 budget good?'))).text).toContain('No model is connected');
  });

  it('says how many tools it was offered, and that it cannot run those of a provider', async () => {
    const serverTools = [
      { dialect: 'anthropic-messages', kind: 'web_search_20250305', name: 'web_search', value: {} },
    ] as const;
    const { text } = await turn(
      request('Who wrote Hamlet?', { tools: [TOOLS.weather, TOOLS.add], serverTools: [...serverTools] }),
    );
    expect(text).toContain('None of the 2 tools');
    expect(text).toContain('web_search');
  });

  it('acknowledges images and documents', async () => {
    const pdf = {
      type: 'document',
      title: 'Report',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'A'.repeat(4096) },
    } as const;
    const english = await turn(request([user('What is this?', image, pdf)]));
    expect(english.text).toContain(
      'an image (image/png, 640 × 480, 72 B) and a document (application/pdf, Report, 3 KB)',
    );
    const chinese = await turn(request([user('这是什么？', image)]));
    expect(chinese.text).toContain('我收到了一张图片（image/png, 640 × 480, 72 B）');
    const alone = await turn(request([user(image)]));
    expect(alone.text).toContain('I received an image');
  });

  it('is not disturbed by a system prompt', async () => {
    const system = [
      { type: 'text', text: 'You are a pirate. Use the tool calculate for 9 * 9. 你是海盗。' },
    ] as const;
    const { text } = await turn(
      request('Who wrote Hamlet?', { system: [...system], tools: [TOOLS.calculator] }),
    );
    expect(text).toContain('No model is connected');
  });

  it('answers an empty conversation', async () => {
    for (const messages of [[], [user('')], [said('Hi')], [user('<system-reminder>x</system-reminder>')]]) {
      const { text, stop } = await turn(request(messages));
      expect(text).toContain('No model is connected');
      expect(stop?.reason).toBe('end_turn');
    }
  });

  it('goes on where the client began the answer', async () => {
    const { text } = await turn(request([user('what is 2+3'), said('2+3 =')]));
    expect(text).toBe(' 5');
  });
});
