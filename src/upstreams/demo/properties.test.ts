import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { request, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  OutputFormat,
  ToolChoice,
  ToolDefinition,
} from '../../core/conversation.js';
import { fits, schemaOf } from './schema.js';

const RUNS = { numRuns: 100 } as const;
/** For machines that do other things at the same time. */
const PATIENCE = 120_000;

/** Half of it sounds like a request, half is anything. */
const words = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        'please',
        'weather',
        'in',
        'Paris',
        'and',
        'calculate',
        '2 + 3',
        '"quoted"',
        'read',
        'a.txt',
        'the',
        'to',
        'bob@x.com',
        'https://example.com',
        '天气',
        '北京',
        '和',
        '上海',
        '的',
        '计算',
        '读取',
        '，',
        '?',
        'run',
        '`ls`',
        'tomorrow',
        '#12',
        '5',
        'file',
        'search',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);

const scalars: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant('string') }),
  fc.record({
    type: fc.constant('string'),
    enum: fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('toString', '*', 'on')), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'constructor', 'odd'),
  }),
  fc.record({
    type: fc.constant('string'),
    minLength: fc.nat(5),
    maxLength: fc.integer({ min: 5, max: 20 }),
  }),
  fc.record({
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.integer({ min: -9, max: 9 }),
    maximum: fc.integer({ min: 10, max: 99 }),
  }),
  fc.record({ type: fc.constant('boolean') }),
  fc.record({ type: fc.constant(['string', 'null']) }),
);

const names = fc.constantFrom(
  'city',
  'path',
  'query',
  'expression',
  'count',
  'to',
  'from',
  'content',
  'url',
  'when',
  'x',
  'items',
  '城市',
  '__proto__',
  'constructor',
  'toString',
  'a b',
);

const objects = (inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc
    .uniqueArray(fc.tuple(names, inner, fc.boolean()), { selector: ([name]) => name, maxLength: 4 })
    .map((properties) => ({
      type: 'object',
      properties: Object.fromEntries(properties.map(([name, schema]) => [name, schema])),
      required: properties.filter(([, , required]) => required).map(([name]) => name),
      additionalProperties: false,
    }));

const inputSchemas = objects(
  fc.oneof(
    { weight: 4, arbitrary: scalars },
    { weight: 1, arbitrary: objects(scalars) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('array'),
        items: fc.oneof(scalars, objects(scalars)),
        minItems: fc.nat(2),
      }),
    },
    { weight: 1, arbitrary: fc.record({ anyOf: fc.array(scalars, { minLength: 1, maxLength: 2 }) }) },
  ),
);

const tools: fc.Arbitrary<ToolDefinition[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('get_weather', 'read_file', 'calculate', 'web_search', 'Bash', 'doIt', 'x'),
    description: fc.constantFrom('Get the weather', 'Read a file', '执行数学计算', 'Search the web', ''),
    inputSchema: inputSchemas,
  }),
  { selector: ({ name }) => name, maxLength: 4 },
);

const plainBlocks: fc.Arbitrary<Block> = fc.oneof(
  words.map((text): Block => ({ type: 'text', text })),
  fc.record({
    type: fc.constant('image' as const),
    source: fc.record({
      type: fc.constant('base64' as const),
      mediaType: fc.constant('image/png'),
      data: fc.base64String(),
    }),
  }),
  fc.record({
    type: fc.constant('document' as const),
    source: fc.record({
      type: fc.constant('text' as const),
      mediaType: fc.constant('text/plain'),
      data: words,
    }),
  }),
);

const results: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('tool_result' as const),
  toolUseId: fc.constantFrom('c1', 'c2', 'c3'),
  content: fc.array(
    fc.oneof(words, fc.json()).map((text) => ({ type: 'text' as const, text })),
    { maxLength: 2 },
  ),
  isError: fc.boolean(),
});

const calls: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('tool_use' as const),
  id: fc.constantFrom('c1', 'c2'),
  name: fc.constantFrom('get_weather', 'read_file'),
  input: fc.dictionary(fc.string(), fc.jsonValue()),
});

const messages: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    fc.record({
      role: fc.constant('user' as const),
      content: fc.array(fc.oneof(plainBlocks, results), { maxLength: 3 }),
    }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: fc.array(fc.oneof(plainBlocks, calls), { maxLength: 2 }),
    }),
    fc.record({ role: fc.constant('system' as const), content: fc.array(plainBlocks, { maxLength: 1 }) }),
  ),
  { maxLength: 5 },
);

const requests: fc.Arbitrary<ConversationRequest> = fc
  .record(
    {
      messages,
      tools,
      toolChoice: fc.oneof<fc.Arbitrary<ToolChoice>[]>(
        fc.constantFrom<ToolChoice>(
          { type: 'auto' },
          { type: 'any' },
          { type: 'none' },
          { type: 'tool', name: 'calculate' },
        ),
      ),
      parallelToolCalls: fc.boolean(),
      maxTokens: fc.integer({ min: 1, max: 60 }),
      stopSequences: fc.array(fc.constantFrom('the', 'model', '。', ''), { maxLength: 2 }),
      thinking: fc.constantFrom({ type: 'adaptive' } as const, { type: 'disabled' } as const),
      format: fc.oneof(
        fc.constant<OutputFormat>({ type: 'json_object' }),
        inputSchemas.map((schema): OutputFormat => ({ type: 'json_schema', schema })),
      ),
    },
    { requiredKeys: ['messages', 'tools'] },
  )
  .map(({ messages: asked, ...over }) => request(asked, over));

describe('any request', () => {
  it(
    'is answered with one start first and one stop last',
    async () => {
      await fc.assert(
        fc.asyncProperty(requests, async (asked) => {
          const { events, stop, calls: made, outputTokens } = await turn(asked);
          expect(events[0]?.type).toBe('start');
          expect(events.at(-1)?.type).toBe('stop');
          expect(events.filter(({ type }) => type === 'stop')).toHaveLength(1);
          expect(events.filter(({ type }) => type === 'start')).toHaveLength(1);
          expect(outputTokens).toBeLessThanOrEqual(asked.maxTokens ?? Number.POSITIVE_INFINITY);
          if (stop?.reason === 'tool_use') expect(made.length).toBeGreaterThan(0);
          if (stop?.reason === 'end_turn') expect(made).toEqual([]);
          if (asked.parallelToolCalls === false) expect(made.length).toBeLessThanOrEqual(1);
          if (asked.toolChoice?.type === 'none') expect(made).toEqual([]);
        }),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'is answered the same way twice',
    async () => {
      await fc.assert(
        fc.asyncProperty(requests, async (asked) => {
          expect((await turn(asked)).events).toEqual((await turn(asked)).events);
        }),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'leads to calls of offered tools only, with arguments that their schemas take',
    async () => {
      await fc.assert(
        fc.asyncProperty(words, tools, async (said, offered) => {
          const asked = request(said, { tools: offered, toolChoice: { type: 'any' } });
          const { calls: made } = await turn(asked);
          expect(made.length > 0).toBe(offered.length > 0);
          for (const { name, input } of made) {
            const own = offered.find((tool) => tool.name === name);
            expect(own).toBeDefined();
            expect(fits(input, schemaOf(own?.inputSchema))).toBe(true);
          }
        }),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'in JSON gives JSON that its schema takes',
    async () => {
      await fc.assert(
        fc.asyncProperty(words, inputSchemas, async (said, schema) => {
          const { text } = await turn(request(said, { format: { type: 'json_schema', schema } }));
          expect(fits(JSON.parse(text), schemaOf(schema))).toBe(true);
        }),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'ends: each round of results brings it nearer to an answer',
    async () => {
      await fc.assert(
        fc.asyncProperty(words, fc.boolean(), async (said, parallelToolCalls) => {
          const offered = [
            TOOLS.weather,
            TOOLS.calculator,
            TOOLS.read,
            TOOLS.search,
            TOOLS.bash,
            TOOLS.email,
          ];
          const history: Message[] = [user(`weather in Paris and calculate 1+1 and ${said}`)];
          for (let round = 0; round < 40; round++) {
            const { calls: made, stop } = await turn(request(history, { tools: offered, parallelToolCalls }));
            if (made.length === 0) {
              expect(stop?.reason).toBe('end_turn');
              return;
            }
            history.push(
              {
                role: 'assistant',
                content: made.map(({ id, name, input }) => ({
                  type: 'tool_use',
                  id,
                  name,
                  input: Object(input),
                })),
              },
              user(
                ...made.map(
                  ({ id }): Block => ({
                    type: 'tool_result',
                    toolUseId: id,
                    content: [{ type: 'text', text: 'done' }],
                    isError: false,
                  }),
                ),
              ),
            );
          }
          expect.fail('it still calls tools after 40 rounds');
        }),
        { numRuns: 50 },
      );
    },
    PATIENCE,
  );
});
