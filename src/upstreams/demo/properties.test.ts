import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { request, result, TOOLS, text, turn, user } from '../../../test/support/demo-requests.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  ToolChoice,
  ToolDefinition,
} from '../../core/conversation.js';

const RUNS = { numRuns: 100 } as const;
/** For machines that do other things at the same time. */
const PATIENCE = 120_000;

/** Half of it sounds like a request, half is anything. */
const WORDS =
  'please weather in Paris and calculate 2+3 "quoted" read a.txt the to bob@x.com https://example.com 天气 北京 和 上海 的 计算 读取 ， ? run `ls` #12 5 file search';
const words = fc.oneof(
  fc.array(fc.constantFrom(...WORDS.split(' ')), { maxLength: 12 }).map((parts) => parts.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

const string = fc.constant('string');
const scalars: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: string }),
  fc.record({ type: string, enum: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }) }),
  fc.record({ type: string, format: fc.constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'odd') }),
  fc.record({ type: string, minLength: fc.nat(5), maxLength: fc.integer({ min: 5, max: 20 }) }),
  fc.record({ type: string, pattern: fc.constantFrom('^[A-Z]?[a-z]*$', '^[^ ]*$') }),
  fc.record({
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.integer({ min: -9, max: 9 }),
    exclusiveMaximum: fc.integer({ min: 11, max: 99 }),
  }),
  fc.record({ type: fc.constantFrom('boolean', ['string', 'null'], 'integer', 'null') }),
  fc.record({ const: fc.constantFrom('x', 4, true) }),
);

const NAMES = 'city path query expression count to from content url when x items pattern result 城市';
const objects = (inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES.split(' ')), inner, fc.boolean()), {
      selector: ([name]) => name,
      maxLength: 4,
    })
    .map((properties) => ({
      type: 'object',
      properties: Object.fromEntries(properties.map(([name, schema]) => [name, schema])),
      required: properties.filter(([, , required]) => required).map(([name]) => name),
      additionalProperties: false,
    }));
const lists = (items: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.record({ type: fc.constant('array'), items, minItems: fc.nat(2) });
const choices = fc.record({ anyOf: fc.array(scalars, { minLength: 1, maxLength: 2 }) });
const references = fc.constant({ $ref: '#/$defs/n' });
const inputSchemas = objects(
  fc.oneof(
    { weight: 4, arbitrary: scalars },
    objects(scalars),
    lists(fc.oneof(scalars, objects(scalars))),
    choices,
    references,
  ),
).map((schema): JsonObject => ({ ...schema, $defs: { n: { type: 'integer', minimum: 3 } } }));

/** Another reading of JSON Schema than the one under test. */
const isValid = (value: unknown, schema: JsonObject): boolean =>
  z.fromJSONSchema(schema).safeParse(value).success;

const tools: fc.Arbitrary<ToolDefinition[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('get_weather', 'read_file', 'calculate', 'web_search', 'Bash', 'x'),
    description: fc.constantFrom('Get the weather', '执行数学计算', 'Search the web', ''),
    inputSchema: inputSchemas,
  }),
  { selector: ({ name }) => name, maxLength: 4 },
);

const id = fc.constantFrom('c1', 'c2', 'c3');
const blocks: fc.Arbitrary<Block> = fc.oneof(
  words.map(text),
  fc.tuple(id, fc.oneof(words, fc.json()), fc.boolean()).map((given) => result(...given)),
  fc.record({
    type: fc.constant('tool_use' as const),
    id,
    name: fc.constantFrom('get_weather', 'read_file'),
    input: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
);
const messages: fc.Arbitrary<Message[]> = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    content: fc.array(blocks, { maxLength: 3 }),
  }),
  { maxLength: 5 },
);
const requests: fc.Arbitrary<ConversationRequest> = fc
  .record(
    {
      messages,
      tools,
      toolChoice: fc.constantFrom<ToolChoice>(
        { type: 'any' },
        { type: 'none' },
        { type: 'tool', name: 'calculate' },
      ),
      parallelToolCalls: fc.boolean(),
      maxTokens: fc.integer({ min: 1, max: 60 }),
      stopSequences: fc.array(fc.constantFrom('the', 'model', '。', ''), { maxLength: 2 }),
      format: fc.oneof(
        fc.constant({ type: 'json_object' as const }),
        fc.record({ type: fc.constant('json_schema' as const), schema: inputSchemas }),
      ),
    },
    { requiredKeys: ['messages', 'tools'] },
  )
  .map(({ messages: asked, ...over }) => request(asked, over));

describe('any request to the demo model', { timeout: PATIENCE }, () => {
  it('is answered with one start first and one stop last, the same way twice', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        const { events, stop, calls, outputTokens } = await turn(asked);
        expect(events[0]?.type).toBe('start');
        expect(events.at(-1)?.type).toBe('stop');
        expect(events.filter(({ type }) => type === 'stop' || type === 'start')).toHaveLength(2);
        expect(outputTokens).toBeLessThanOrEqual(asked.maxTokens ?? Number.POSITIVE_INFINITY);
        if (stop?.reason === 'tool_use') expect(calls.length).toBeGreaterThan(0);
        if (stop?.reason === 'end_turn') expect(calls).toEqual([]);
        if (asked.parallelToolCalls === false) expect(calls.length).toBeLessThanOrEqual(1);
        if (asked.toolChoice?.type === 'none') expect(calls).toEqual([]);
        expect((await turn(asked)).events).toEqual(events);
      }),
      RUNS,
    );
  });

  it('leads to calls of offered tools only, with arguments that their schemas take', async () => {
    await fc.assert(
      fc.asyncProperty(words, tools, async (said, offered) => {
        const asked = request(said, { tools: offered, toolChoice: { type: 'any' } });
        const { calls } = await turn(asked);
        expect(calls.length > 0).toBe(offered.length > 0);
        for (const { name, input } of calls) {
          const own = offered.find((tool) => tool.name === name);
          expect(own).toBeDefined();
          expect(isValid(input, own?.inputSchema ?? {}), JSON.stringify(input)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('in JSON gives JSON that its schema takes', async () => {
    await fc.assert(
      fc.asyncProperty(words, inputSchemas, async (said, schema) => {
        const answer = await turn(request(said, { format: { type: 'json_schema', schema } }));
        expect(isValid(JSON.parse(answer.text), schema), answer.text).toBe(true);
      }),
      RUNS,
    );
  });

  it('ends: each round of results brings it nearer to an answer', async () => {
    const offered = [TOOLS.weather, TOOLS.calculator, TOOLS.read, TOOLS.search, TOOLS.bash, TOOLS.email];
    await fc.assert(
      fc.asyncProperty(words, fc.boolean(), async (said, parallelToolCalls) => {
        const history: Message[] = [user(`weather in Paris and in Rome ${said}`)];
        for (let round = 0; round < 20; round++) {
          const { calls } = await turn(request(history, { tools: offered, parallelToolCalls }));
          if (calls.length === 0) return;
          const content: Block[] = calls.map(({ input, ...call }) => ({
            type: 'tool_use',
            ...call,
            input: Object(input),
          }));
          history.push({ role: 'assistant', content }, user(...calls.map((call) => result(call.id, 'done'))));
        }
        expect.fail('it still calls tools after 20 rounds');
      }),
      { numRuns: 50 },
    );
  });
});

/** What only somebody who means harm would send. */
it.each<JsonObject>([
  { type: { toString: 1 }, properties: [], required: { length: 3 } },
  {
    properties: { a: { enum: [{ toString: 1 }], description: { valueOf: 1 } } },
    required: ['a', 'toString'],
  },
  {
    properties: JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"const": 1}}'),
    required: ['__proto__'],
  },
  { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
  { anyOf: [null, false, { $ref: '#' }], allOf: 'x', items: 4 },
])('the demo model never throws for %j', async (inputSchema) => {
  const hostile = { name: 'get_weather', description: 'Weather', inputSchema };
  const history = [
    user('weather in Paris, a: 1'),
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c', name: 'x', input: { a: { toString: 1 }, b: 2 } }],
    },
    user(result('c', '{"a": {"toString": 1}}')),
    user('weather in Rome'),
  ] satisfies Message[];
  const answer = await turn(request(history, { tools: [hostile], toolChoice: { type: 'any' } }));
  expect(answer.stop).toBeDefined();
});
