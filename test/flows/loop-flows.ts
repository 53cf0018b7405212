/**
 * Whole tasks: the client runs its tools and sends their results until the agent is done. The same
 * for every client, those that run their loop by themselves included.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { resultsIn } from '../support/told.js';
import { type CallPart, call, callsAnswer, type Part, type Scripted, textAnswer } from '../support/wire.js';
import type { Flow } from './bench.js';
import type { LoopFlow } from './run-loop.js';
import { CALCULATE, CAMERA, FAILING, ORDER, PICTURE, QUIET, WEATHER } from './tools.js';

const words = (text: string): Part => ({ type: 'text', text });
const saying = (text: string, ...parts: readonly Part[]): Scripted => ({ parts: [words(text), ...parts] });
const starting = (text: string): unknown => expect.stringMatching(new RegExp(`^${text}`));

/** Changes something each time it runs. */
const append = (flow: Flow, name = 'log'): CallPart =>
  flow.call('Bash', { command: `echo once >> ${flow.path(name)}`, description: 'Write a line' });

const read = (flow: Flow, name: string): CallPart => flow.call('Read', { file_path: flow.path(name) });

const notes = (flow: Flow): Promise<void> => writeFile(flow.path('notes.txt'), 'the secret is 42\n');

async function ranOnce(flow: Flow, name = 'log'): Promise<void> {
  expect(await readFile(flow.path(name), 'utf8')).toBe('once\n');
}

const paris = (flow: Flow): CallPart => flow.call('get_weather', { city: 'Paris' });
const PARIS = ['call get_weather {"city":"Paris"}', 'result of get_weather: sunny in Paris'] as const;

export const LOOP_FLOWS: readonly LoopFlow[] = [
  {
    name: 'one client tool',
    prompt: 'How is the weather in Paris?',
    tools: [WEATHER],
    steps: (flow) => [callsAnswer(flow.call('get_weather', { city: 'Paris' })), textAnswer('It is sunny.')],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'It is sunny.',
    told: PARIS,
  },
  {
    name: 'three client tools in parallel',
    prompt: 'Weather and sums, please.',
    tools: [WEATHER, CALCULATE],
    steps: (flow) => [
      saying(
        'Three at once.',
        paris(flow),
        flow.call('calculate', { expression: '123 + 456' }),
        flow.call('get_weather', { city: 'Rome' }),
      ),
      textAnswer('All done.'),
    ],
    calls: [
      'get_weather {"city":"Paris"}',
      'calculate {"expression":"123 + 456"}',
      'get_weather {"city":"Rome"}',
    ],
    rounds: [3],
    said: 'Three at once.All done.',
    told: [
      'assistant: Three at once.',
      PARIS[0],
      'call calculate {"expression":"123 + 456"}',
      'call get_weather {"city":"Rome"}',
      PARIS[1],
      'result of calculate: 123 + 456 的结果是 579',
      'result of get_weather: sunny in Rome',
    ],
  },
  {
    name: 'five rounds',
    prompt: 'One city after the other.',
    tools: [WEATHER],
    steps: (flow) => [
      ...['A', 'B', 'C', 'D', 'E'].map((city) => saying(`${city}?`, flow.call('get_weather', { city }))),
      textAnswer('Five cities.'),
    ],
    calls: ['A', 'B', 'C', 'D', 'E'].map((city) => `get_weather {"city":"${city}"}`),
    rounds: [1, 1, 1, 1, 1],
    said: 'A?B?C?D?E?Five cities.',
    told: ['A', 'B', 'C', 'D', 'E'].flatMap((city) => [
      `assistant: ${city}?`,
      `call get_weather {"city":"${city}"}`,
      `result of get_weather: sunny in ${city}`,
    ]),
  },
  {
    name: 'a built-in and then a client tool in one message',
    prompt: 'Read the notes and look outside.',
    tools: [WEATHER],
    before: notes,
    steps: (flow) => [callsAnswer(read(flow, 'notes.txt'), paris(flow)), textAnswer('42 and sunny.')],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: '42 and sunny.',
    told: [starting('call Read'), PARIS[0], expect.stringContaining('the secret is 42'), PARIS[1]],
  },
  {
    name: 'a client tool and then a built-in in one message',
    prompt: 'Look outside and read the notes.',
    tools: [WEATHER],
    before: notes,
    steps: (flow) => [callsAnswer(paris(flow), read(flow, 'notes.txt')), textAnswer('Sunny and 42.')],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'Sunny and 42.',
    told: [PARIS[0], starting('call Read'), PARIS[1], expect.stringContaining('the secret is 42')],
  },
  {
    name: 'several of both in one message, one of which changes a file',
    prompt: 'Everything at once.',
    tools: [WEATHER, CALCULATE],
    before: notes,
    steps: (flow) => [
      callsAnswer(
        paris(flow),
        append(flow),
        read(flow, 'notes.txt'),
        flow.call('calculate', { expression: '1 + 1' }),
        append(flow, 'second'),
      ),
      textAnswer('Everything.'),
    ],
    calls: ['get_weather {"city":"Paris"}', 'calculate {"expression":"1 + 1"}'],
    rounds: [2],
    said: 'Everything.',
    told: [
      PARIS[0],
      starting('call Bash'),
      starting('call Read'),
      'call calculate {"expression":"1 + 1"}',
      starting('call Bash'),
      PARIS[1],
      starting('result of Bash'),
      expect.stringContaining('the secret is 42'),
      'result of calculate: 1 + 1 的结果是 579',
      starting('result of Bash'),
    ],
    async after(flow) {
      await ranOnce(flow);
      await ranOnce(flow, 'second');
    },
  },
  {
    name: 'built-ins first, then a client tool, then built-ins',
    prompt: 'Write, ask, and write.',
    tools: [WEATHER],
    steps: (flow) => [
      saying('Writing.', append(flow)),
      saying('Asking.', paris(flow)),
      saying('Writing again.', append(flow, 'second')),
      textAnswer('Written.'),
    ],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'Writing.Asking.Writing again.Written.',
    told: [
      'assistant: Writing.',
      starting('call Bash'),
      starting('result of Bash'),
      'assistant: Asking.',
      ...PARIS,
      'assistant: Writing again.',
      starting('call Bash'),
      starting('result of Bash'),
    ],
    async after(flow) {
      await ranOnce(flow);
      await ranOnce(flow, 'second');
    },
  },
  {
    name: 'built-ins alone, which the client never sees',
    prompt: 'Do it all by yourself.',
    tools: [WEATHER],
    before: notes,
    steps: (flow) => [
      saying('I look.', read(flow, 'notes.txt'), append(flow)),
      saying('I look again.', flow.call('Grep', { pattern: 'secret', path: flow.folder })),
      textAnswer('Done.'),
    ],
    calls: [],
    rounds: [],
    said: 'I look.I look again.Done.',
    told: [
      'assistant: I look.',
      starting('call Read'),
      starting('call Bash'),
      expect.stringContaining('the secret is 42'),
      starting('result of Bash'),
      'assistant: I look again.',
      starting('call Grep'),
      expect.stringContaining('notes.txt'),
    ],
    after: (flow) => ranOnce(flow),
  },
  {
    name: 'a client tool that fails',
    prompt: 'Send a letter.',
    tools: [FAILING],
    steps: (flow) => [callsAnswer(flow.call('send_letter', { to: 'Eve' })), textAnswer('It was closed.')],
    calls: ['send_letter {"to":"Eve"}'],
    rounds: [1],
    said: 'It was closed.',
    told: [
      'call send_letter {"to":"Eve"}',
      expect.stringMatching(/^result of send_letter: .*the post office is closed/),
    ],
    after({ client, upstream }, { requests }) {
      // The only wires that have a field for it.
      if (client.route !== 'anthropic-messages' || upstream !== 'anthropic-messages') return;
      expect(resultsIn(requests.at(-1)?.told ?? [])).toMatchObject([{ isError: true }]);
    },
  },
  {
    name: 'Chinese in everything',
    prompt: '请帮我计算 123 + 456，再看看“北京”的天气 🌤️',
    tools: [CALCULATE, WEATHER],
    before: (flow) => writeFile(flow.path('笔记.txt'), '秘密是四十二\n'),
    steps: (flow) => [
      saying(
        '好的，我来计算。',
        flow.call('calculate', { expression: '一百二十三 ＋ 456' }),
        read(flow, '笔记.txt'),
        flow.call('get_weather', { city: '北京 🌤️' }),
      ),
      textAnswer('123 + 456 的结果是 579。'),
    ],
    calls: ['calculate {"expression":"一百二十三 ＋ 456"}', 'get_weather {"city":"北京 🌤️"}'],
    rounds: [2],
    said: '好的，我来计算。123 + 456 的结果是 579。',
    told: [
      'assistant: 好的，我来计算。',
      'call calculate {"expression":"一百二十三 ＋ 456"}',
      starting('call Read'),
      'call get_weather {"city":"北京 🌤️"}',
      'result of calculate: 一百二十三 ＋ 456 的结果是 579',
      expect.stringContaining('秘密是四十二'),
      'result of get_weather: sunny in 北京 🌤️',
    ],
  },
  {
    name: 'a schema that reaches the model as it came',
    prompt: 'Order something.',
    tools: [ORDER],
    steps: (flow) => [
      callsAnswer(flow.call('place-order_2', { items: [{ sku: 'a', amount: '2' }], note: ['x', '“y”'] })),
      textAnswer('Ordered.'),
    ],
    calls: ['place-order_2 {"items":[{"sku":"a","amount":"2"}],"note":["x","“y”"]}'],
    rounds: [1],
    said: 'Ordered.',
    told: [
      'call place-order_2 {"items":[{"sku":"a","amount":"2"}],"note":["x","“y”"]}',
      starting('result of place-order_2: ordered'),
    ],
    after(_flow, { requests }) {
      const [request] = requests;
      const offered = JSON.stringify(request?.seen.body['tools']);
      expect(offered).toContain(JSON.stringify(ORDER.schema.properties));
      expect(offered).toContain(JSON.stringify(ORDER.description));
    },
  },
  {
    name: 'thinking before calls',
    prompt: 'Think first.',
    tools: [WEATHER],
    steps: (flow) => [
      {
        parts: [
          { type: 'thinking', text: 'Let me think about Paris.', signature: 'sealed' },
          words('I ask.'),
          paris(flow),
        ],
      },
      textAnswer('Sunny.'),
    ],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'I ask.Sunny.',
    told: ['assistant: I ask.', ...PARIS],
  },
  {
    name: 'a sub-agent between the calls, which the client never sees',
    prompt: 'Let somebody else look.',
    tools: [WEATHER],
    before: notes,
    steps: (flow) => {
      const errand = flow.play('Find the secret in the notes.', [
        saying('The helper looks.', read(flow, 'notes.txt')),
        textAnswer('The helper says 42.'),
      ]);
      const task = {
        description: 'find it',
        prompt: errand.prompt,
        subagent_type: 'general-purpose',
      };
      return [
        saying('I send a helper.', flow.call('Task', task)),
        saying('And I ask.', paris(flow)),
        textAnswer('It said 42.'),
      ];
    },
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'I send a helper.And I ask.It said 42.',
    told: [
      'assistant: I send a helper.',
      starting('call Task'),
      expect.stringContaining('The helper says 42.'),
      'assistant: And I ask.',
      ...PARIS,
    ],
  },
  {
    name: 'a tool that nobody has, and arguments that nobody can read',
    prompt: 'Make mistakes.',
    tools: [WEATHER],
    steps: (flow) => [
      saying('First.', flow.call('no_such_tool', { a: 1 })),
      saying('Then.', { ...flow.call('Read', {}), arguments: '{"file_path": "a' }),
      saying('At last.', paris(flow)),
      textAnswer('Sunny.'),
    ],
    calls: ['get_weather {"city":"Paris"}'],
    rounds: [1],
    said: 'First.Then.At last.Sunny.',
    told: [
      'assistant: First.',
      'call no_such_tool {"a":1}',
      starting('result of no_such_tool: .*no_such_tool'),
      'assistant: Then.',
      starting('call Read'),
      starting('result of Read: .'),
      'assistant: At last.',
      ...PARIS,
    ],
  },
  {
    name: 'a model that gives its calls the same id each time',
    prompt: 'Again and again.',
    tools: [WEATHER],
    steps: () =>
      [1, 2]
        .map(() => callsAnswer(call('get_weather', { city: 'Paris' }, 'call_0')))
        .concat(textAnswer('Twice.')),
    calls: ['get_weather {"city":"Paris"}', 'get_weather {"city":"Paris"}'],
    rounds: [1, 1],
    said: 'Twice.',
    told: [...PARIS, ...PARIS],
    after(_flow, { requests }) {
      const ids = resultsIn(requests.at(-1)?.told ?? []).map(({ id }) => id);
      expect(new Set(ids).size).toBe(2);
    },
  },
  {
    name: 'a client tool that has nothing to say',
    prompt: 'Do it quietly.',
    tools: [QUIET],
    steps: (flow) => [callsAnswer(flow.call('do_it', {})), textAnswer('Done.')],
    calls: ['do_it {}'],
    rounds: [1],
    said: 'Done.',
    told: ['call do_it {}', starting('result of do_it:')],
  },
  {
    name: 'a picture in a result',
    prompt: 'Take a picture.',
    tools: [CAMERA],
    steps: (flow) => [callsAnswer(flow.call('take_picture', {})), textAnswer('A red garden.')],
    calls: ['take_picture {}'],
    rounds: [1],
    said: 'A red garden.',
    told: ['call take_picture {}', starting('result of take_picture: a picture of the garden')],
    // A wire that has no place for it in the result has it behind.
    open: true,
    after({ client }, { requests }) {
      // `runTools` gives results as texts alone.
      if (client.runner !== undefined && client.route === 'openai-chat') return;
      expect(requests.at(-1)?.seen.recorded.text).toContain(PICTURE);
    },
  },
];
