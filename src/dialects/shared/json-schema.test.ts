import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { normaliseOutputSchema, normaliseSchema, type SchemaProfile } from './json-schema.js';

const PROFILES: SchemaProfile[] = ['full', 'openai', 'gemini', 'mistral'];
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...rest,
});

describe('the root', () => {
  it.each(PROFILES)('is always an object with properties (%s)', (profile) => {
    expect(normaliseSchema(undefined, profile).schema).toEqual({ type: 'object', properties: {} });
    expect(normaliseSchema({ type: 'object' }, profile).schema).toEqual({ type: 'object', properties: {} });
    expect(normaliseSchema({}, profile).schema).toEqual({ type: 'object', properties: {} });
  });

  it('is the same object when nothing is to be changed', () => {
    const schema = object({ a: { type: 'string', format: 'date' } }, { required: ['a'] });
    expect(normaliseSchema(schema, 'full').schema).toBe(schema);
    expect(normaliseSchema(schema, 'openai').schema).toBe(schema);
    expect(normaliseSchema(schema, 'mistral').schema).toBe(schema);
  });

  it('is what a reference at the root names', () => {
    const Input = object({ a: { type: 'string' } }, { required: ['a'] });
    const schema = { $ref: '#/definitions/Input', definitions: { Input } };
    expect(normaliseSchema(schema, 'gemini').schema).toEqual(Input);
    expect(normaliseSchema(schema, 'openai').schema).toMatchObject(Input);
  });

  it('keeps the order of keys', () => {
    const schema = object({ z: { format: 'uri', type: 'string' }, a: { type: 'string' } });
    expect(JSON.stringify(normaliseSchema(schema, 'openai').schema)).toBe(
      '{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}',
    );
  });
});

interface Case {
  name: string;
  profile: SchemaProfile;
  schema: JsonObject;
  expected: JsonObject;
  removed?: string[];
}

const cases: Case[] = [
  {
    name: 'a format outside the list',
    profile: 'openai',
    schema: object({ url: { type: 'string', format: 'uri' }, day: { type: 'string', format: 'date' } }),
    expected: object({ url: { type: 'string' }, day: { type: 'string', format: 'date' } }),
    removed: ['format'],
  },
  {
    name: 'a property that is called format',
    profile: 'openai',
    schema: object({ format: { type: 'string' }, $schema: { type: 'string' } }),
    expected: object({ format: { type: 'string' }, $schema: { type: 'string' } }),
  },
  {
    name: 'an array without items',
    profile: 'openai',
    schema: object({ list: { type: 'array' } }),
    expected: object({ list: { type: 'array', items: {} } }),
  },
  {
    name: 'boolean schemas',
    profile: 'openai',
    schema: object({ any: true, extra: { type: 'object', additionalProperties: true } }),
    expected: object({ any: {}, extra: { type: 'object', additionalProperties: true } }),
  },
  {
    name: 'a union at the root',
    profile: 'openai',
    schema: {
      type: 'object',
      anyOf: [
        object({ a: { type: 'string' }, id: {} }, { required: ['a', 'id'] }),
        object({ b: { type: 'number' }, id: {} }, { required: ['b', 'id'] }),
      ],
    },
    expected: object({ a: { type: 'string' }, id: {}, b: { type: 'number' } }, { required: ['id'] }),
    removed: ['anyOf at the root'],
  },
  {
    name: 'allOf at the root',
    profile: 'openai',
    schema: {
      allOf: [object({ a: {} }, { required: ['a'] }), object({ b: {} }, { required: ['b'] })],
    },
    expected: object({ a: {}, b: {} }, { required: ['a', 'b'] }),
    removed: ['allOf at the root'],
  },
  {
    name: 'what Mistral refuses, at every level',
    profile: 'mistral',
    schema: object(
      { a: { type: 'object', additionalProperties: false, properties: {} } },
      { $schema: 'http://json-schema.org/draft-07/schema#', additionalProperties: false },
    ),
    expected: object({ a: { type: 'object', properties: {} } }),
    removed: ['additionalProperties'],
  },
  {
    name: 'what Gemini refuses',
    profile: 'gemini',
    schema: object(
      {
        n: { type: 'integer', exclusiveMinimum: 0, default: 3 },
        url: { type: 'string', format: 'uri', pattern: '^h' },
        map: { type: 'object', propertyNames: { pattern: 'x' }, patternProperties: {} },
        default: { type: 'string' },
      },
      { $schema: 'x', additionalProperties: false },
    ),
    expected: object({
      n: { type: 'integer' },
      url: { type: 'string', pattern: '^h' },
      map: { type: 'object' },
      default: { type: 'string' },
    }),
    removed: [
      'exclusiveMinimum',
      'default',
      'format',
      'propertyNames',
      'patternProperties',
      'additionalProperties',
    ],
  },
  {
    name: 'types, unions and null for Gemini',
    profile: 'gemini',
    schema: object({
      maybe: { type: ['string', 'null'] },
      either: { type: ['string', 'number'] },
      opt: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      one: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    }),
    expected: object({
      maybe: { type: 'string', nullable: true },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      opt: { type: 'integer', nullable: true },
      one: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    }),
  },
  {
    name: 'constants and enums for Gemini',
    profile: 'gemini',
    schema: object({
      kind: { const: 'a' },
      level: { type: 'integer', enum: [1, 2] },
      word: { enum: ['a', '', null] },
    }),
    expected: object({
      kind: { type: 'string', enum: ['a'] },
      level: { type: 'integer' },
      word: { type: 'string', enum: ['a'], nullable: true },
    }),
    removed: ['enum'],
  },
  {
    name: 'references for Gemini',
    profile: 'gemini',
    schema: object(
      { at: { $ref: '#/$defs/Point', description: 'where' }, all: { allOf: [{ $ref: '#/$defs/Point' }] } },
      { $defs: { Point: object({ x: { type: 'number' } }) } },
    ),
    expected: object({
      at: { ...object({ x: { type: 'number' } }), description: 'where' },
      all: object({ x: { type: 'number' } }),
    }),
  },
  {
    name: 'a schema that contains itself, for Gemini',
    profile: 'gemini',
    schema: object(
      { tree: { $ref: '#/$defs/Tree' } },
      { $defs: { Tree: object({ left: { $ref: '#/$defs/Tree' }, right: { $ref: '#/$defs/Tree' } }) } },
    ),
    expected: object({ tree: object({ left: { type: 'object' }, right: { type: 'object' } }) }),
    removed: ['$ref'],
  },
  {
    name: 'a schema that contains itself through allOf, for Gemini',
    profile: 'gemini',
    schema: object({ next: { allOf: [{ $ref: '#' }] } }),
    expected: object({ next: object({ next: { type: 'object' } }) }),
    removed: ['$ref'],
  },
  {
    name: 'a reference to a reference, for Gemini',
    profile: 'gemini',
    schema: object(
      { a: { $ref: '#/$defs/A' } },
      { $defs: { A: { $ref: '#/$defs/B' }, B: { type: 'number' } } },
    ),
    expected: object({ a: { type: 'number' } }),
  },
  {
    name: 'required names without a property, for Gemini',
    profile: 'gemini',
    schema: object({ a: { type: 'string' } }, { required: ['a', 'gone'] }),
    expected: object({ a: { type: 'string' } }, { required: ['a'] }),
  },
  {
    name: 'an array without items, for Gemini',
    profile: 'gemini',
    schema: object({ list: { type: 'array' } }),
    expected: object({ list: { type: 'array', items: { type: 'string' } } }),
  },
];

describe('profiles', () => {
  it.each(cases)('$profile: $name', ({ profile, schema, expected, removed = [] }) => {
    const before = JSON.stringify(schema);
    const result = normaliseSchema(schema, profile);
    expect(result.schema).toEqual(expected);
    expect([...result.removed].sort()).toEqual([...removed].sort());
    expect(JSON.stringify(schema)).toBe(before);
  });

  it('leaves the root of an output schema as it is', () => {
    const schema = { type: 'array', items: { type: 'string', format: 'uri' } };
    expect(normaliseOutputSchema(schema, 'openai').schema).toEqual({
      type: 'array',
      items: { type: 'string' },
    });
    expect(normaliseOutputSchema(schema, 'full').schema).toBe(schema);
  });
});

const KEYWORDS =
  'type properties items anyOf oneOf allOf enum const format $ref $defs required not additionalProperties'.split(
    ' ',
  );
const VALUES = [
  'object',
  'array',
  'string',
  'null',
  'uri',
  'date',
  '#/$defs/type',
  '#',
  true,
  false,
  1,
  null,
];

const { schema: anySchema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 5 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(...VALUES),
    fc.array(fc.constantFrom<unknown>(...VALUES), { maxLength: 3 }),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 3 }),
  ),
}));

describe('hostile schemas', () => {
  it('ends on references that double at every level', () => {
    const $defs: JsonObject = { D0: object({ x: { type: 'string' } }) };
    for (let level = 1; level < 40; level += 1) {
      const ref = { $ref: `#/$defs/D${level - 1}` };
      $defs[`D${level}`] = object({ a: ref, b: ref });
    }
    const { schema, removed } = normaliseSchema(
      object({ top: { $ref: '#/$defs/D39' } }, { $defs }),
      'gemini',
    );
    expect(JSON.stringify(schema).length).toBeLessThan(10_000_000);
    expect(removed).toContain('$ref');
  });

  it('ends on nesting deeper than any schema', () => {
    let schema: JsonObject = { type: 'string', format: 'uri' };
    for (let level = 0; level < 5_000; level += 1) schema = object({ a: schema });
    for (const profile of PROFILES) expect(normaliseSchema(schema, profile).schema['type']).toBe('object');
  });

  it('takes any JSON, never throws, and leaves nothing that Gemini refuses', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        for (const profile of PROFILES) {
          const root = normaliseSchema(schema, profile).schema;
          expect(root).toMatchObject({ type: 'object', properties: expect.any(Object) });
        }
        for (const each of schemasIn(normaliseSchema(schema, 'gemini').schema)) {
          expect(Object.keys(each)).not.toEqual(expect.arrayContaining([expect.stringMatching(REFUSED)]));
          expect(Array.isArray(each['type'])).toBe(false);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

const REFUSED = /^(\$ref|\$defs|const|oneOf|allOf|not|additionalProperties)$/;

function* schemasIn(schema: JsonObject): Generator<JsonObject> {
  yield schema;
  const { properties, items, anyOf } = schema;
  const below = [
    ...(isObject(properties) ? Object.values(properties) : []),
    ...(Array.isArray(anyOf) ? anyOf : []),
    items,
  ];
  for (const each of below) if (isObject(each)) yield* schemasIn(each);
}
