import { describe, expect, it } from 'vitest';
import { called, request, result, said, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import type { JsonObject } from '../../core/conversation.js';
import { fits, schemaOf } from './schema.js';

const object = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const string = { type: 'string' };

describe('json_schema', () => {
  it.each<readonly [name: string, words: string, schema: JsonObject, expected: unknown]>([
    [
      'a title',
      'Please refactor the login form of the shop',
      object({ title: string }),
      { title: 'Refactor the login form of the shop' },
    ],
    ['a Chinese title', '请帮我重构登录表单', object({ title: string }), { title: '重构登录表单' }],
    [
      'a computed number',
      'What is 6 * 7?',
      object({ expression: string, result: { type: 'number' } }),
      { expression: '6 * 7', result: 42 },
    ],
    [
      'a person',
      'My name is Ada Lovelace, email: ada@example.com, age 36',
      object({ name: string, email: { type: 'string', format: 'email' }, age: { type: 'integer' } }),
      { name: 'Ada Lovelace', email: 'ada@example.com', age: 36 },
    ],
    [
      'an event with its people',
      'Alice and Bob meet in Paris on 2025-06-01',
      object({ city: string, date: { type: 'string', format: 'date' } }),
      { city: 'Paris', date: '2025-06-01' },
    ],
    [
      'a choice that is mentioned',
      'This review is negative: the food was cold',
      object({ sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative'] } }),
      { sentiment: 'negative' },
    ],
    [
      'nullable fields',
      'hello',
      object({ note: { type: ['string', 'null'] }, n: { anyOf: [{ type: 'null' }, { type: 'integer' }] } }),
      { note: 'hello', n: 1 },
    ],
    ['a constant', 'hello', object({ kind: { const: 'greeting' } }), { kind: 'greeting' }],
    ['nothing to fill', 'hello', object({}), {}],
  ])('%s', async (_name, words, schema, expected) => {
    const answer = await turn(request(words, { format: { type: 'json_schema', schema } }));
    expect(JSON.parse(answer.text)).toEqual(expected);
  });

  it.each<readonly [name: string, schema: JsonObject]>([
    [
      'definitions and references',
      {
        $ref: '#/$defs/root',
        $defs: {
          root: object({ items: { type: 'array', minItems: 2, items: { $ref: '#/$defs/item' } } }),
          item: object({ n: { type: 'integer', minimum: 3 } }),
        },
      },
    ],
    [
      'a tree that refers to itself',
      {
        type: 'object',
        properties: { value: string, children: { type: 'array', items: { $ref: '#' } } },
        required: ['value', 'children'],
      },
    ],
    [
      'lengths and patterns',
      object({
        code: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
        pin: { type: 'string', minLength: 6, maxLength: 6 },
      }),
    ],
    [
      'bounds and steps',
      object({
        a: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
        b: { type: 'integer', multipleOf: 5, minimum: 7 },
      }),
    ],
    [
      'all of two',
      {
        allOf: [
          object({ a: string }),
          { type: 'object', properties: { b: { type: 'boolean' } }, required: ['b'] },
        ],
        additionalProperties: true,
      },
    ],
    [
      'one of two',
      object({
        shape: { oneOf: [object({ radius: { type: 'number' } }), object({ side: { type: 'number' } })] },
      }),
    ],
    [
      'formats',
      object({
        id: { type: 'string', format: 'uuid' },
        at: { type: 'string', format: 'date-time' },
        link: { type: 'string', format: 'uri' },
      }),
    ],
    [
      'unique items',
      object({ ids: { type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true } }),
    ],
    ['a map', object({ scores: { type: 'object', additionalProperties: { type: 'number' } } })],
    ['an array at the root', { type: 'array', items: string, minItems: 1 }],
    ['no type at all', object({ anything: {} })],
  ])('is valid for %s', async (_name, schema) => {
    const answer = await turn(
      request('Something with 12 and Paris', { format: { type: 'json_schema', schema } }),
    );
    expect(fits(JSON.parse(answer.text), schemaOf(schema))).toBe(true);
  });

  it('takes fields from results', async () => {
    const history = [
      user('weather in Paris'),
      called(['c', 'get_weather', { city: 'Paris' }]),
      user(result('c', '{"temperature": 22, "city": "Paris", "humidity": 40}')),
    ];
    const format = {
      type: 'json_schema',
      schema: object({ city: string, temperature: { type: 'number' } }),
    } as const;
    const answer = await turn(request(history, { format, tools: [TOOLS.weather] }));
    expect(JSON.parse(answer.text)).toEqual({ city: 'Paris', temperature: 22 });
  });

  it('still calls a tool first', async () => {
    const format = { type: 'json_schema', schema: object({ temperature: { type: 'number' } }) } as const;
    expect((await turn(request('weather in Paris', { format, tools: [TOOLS.weather] }))).calls).toHaveLength(
      1,
    );
  });
});

describe('json_object', () => {
  const format = { type: 'json_object' } as const;

  it('takes the keys that the prompt names', async () => {
    const system = [{ type: 'text', text: 'Answer as {"title": "...", "isNewTopic": true|false}.' }] as const;
    const answer = await turn(request('Fix the login form', { format, system: [...system] }));
    expect(JSON.parse(answer.text)).toEqual({ title: 'Fix the login form', isNewTopic: false });
  });

  it('is an object in every case', async () => {
    expect(JSON.parse((await turn(request('what is 2+3', { format }))).text)).toEqual({
      expression: '2+3',
      result: 5,
    });
    expect(JSON.parse((await turn(request('Who wrote Hamlet?', { format }))).text)).toMatchObject({
      answer: expect.stringContaining('No model is connected'),
    });
    const history = [
      user('weather in Paris'),
      called(['c', 'get_weather', { city: 'Paris' }]),
      user(result('c', 'sunny')),
    ];
    expect(JSON.parse((await turn(request(history, { format }))).text)).toEqual({
      answer: 'The weather in Paris: sunny',
    });
  });
});

describe('what clients ask on the side', () => {
  const system = (text: string) => [{ type: 'text' as const, text }];

  it('a title in plain words', async () => {
    const plain = system('Summarize this coding conversation in under 50 characters.');
    expect((await turn(request('please fix the bug in the parser', { system: plain }))).text).toBe(
      'Fix the bug in the parser',
    );
    const words =
      'Please write a 5-10 word title for the following conversation:\n\nUser: how do I sort a list?';
    expect((await turn(request(words))).text).toBe('How do I sort a list');
  });

  it('a title as JSON', async () => {
    const asked = system(
      'Analyze if this message indicates a new topic and generate a title. Answer in JSON with isNewTopic and title.',
    );
    expect(JSON.parse((await turn(request('Build a snake game', { system: asked }))).text)).toEqual({
      isNewTopic: true,
      title: 'Build a snake game',
    });
    const other = system(
      'Generate a concise title for this session. Return JSON with a single "title" field.',
    );
    expect(JSON.parse((await turn(request('Build a snake game', { system: other }))).text)).toEqual({
      title: 'Build a snake game',
    });
  });

  it('the prefix of a command: none, so that a person is asked', async () => {
    const asked = system('Determine the command prefix, or answer command_injection_detected.');
    expect((await turn(request('Command: git status; rm -rf x', { system: asked }))).text).toBe('none');
  });

  it('a summary of the conversation, before its tools', async () => {
    const history = [
      user('weather in Paris'),
      called(['c', 'get_weather', { city: 'Paris' }]),
      user(result('c', 'sunny')),
      said('The weather in Paris: sunny'),
      user('Your task is to create a detailed summary of the conversation so far.'),
    ];
    const answer = await turn(request(history, { tools: [TOOLS.weather, TOOLS.read] }));
    expect(answer.calls).toEqual([]);
    expect(answer.text).toContain('- weather in Paris');
    expect(answer.text).toContain('get_weather');
  });

  it('a suggestion of what to type: nothing', async () => {
    const { text, stop } = await turn(
      request('[SUGGESTION MODE: Suggest what the user might type next.]', { tools: [TOOLS.read] }),
    );
    expect(text).toBe('');
    expect(stop?.reason).toBe('end_turn');
  });
});
