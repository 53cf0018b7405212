import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import { fits, isShallow, matchesPattern, schemaOf, smallest } from './schema.js';

describe('fits', () => {
  it.each<readonly [schema: JsonObject, value: unknown, expected: boolean]>([
    [{ type: 'string' }, 1, false],
    [{ type: 'STRING' }, 'a', true],
    [{ type: 'integer' }, 1.5, false],
    [{ type: 'number', minimum: 1 }, 0, false],
    [{ type: 'number', exclusiveMinimum: 1 }, 1, false],
    [{ type: 'integer', multipleOf: 5 }, 10, true],
    [{ type: 'string', minLength: 2 }, '中', false],
    [{ type: 'string', format: 'email' }, 'a', false],
    [{ type: ['string', 'null'] }, null, true],
    [{ type: 'string', nullable: true }, null, true],
    [{ enum: ['a', 1, null] }, null, true],
    [{ enum: ['a'] }, 'b', false],
    [{ const: { a: 1 } }, { a: 1 }, true],
    [{ type: 'array', items: { type: 'integer' }, minItems: 1 }, [], false],
    [{ type: 'array', items: { type: 'integer' } }, [1, 'a'], false],
    [{ type: 'array', uniqueItems: true }, [1, 1], false],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }, ['a', 'b'], false],
    [{ type: 'object', required: ['a'] }, {}, false],
    [{ type: 'object', properties: { a: {} }, additionalProperties: false }, { b: 1 }, false],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, { b: 'x' }, false],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 3, true],
    [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 3, false],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'integer' } } }, 'x', false],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, false],
    [{}, 'anything', true],
  ])('%j: %j is %s', (schema, value, expected) => {
    expect(fits(value, schemaOf(schema))).toBe(expected);
  });
});

/** Schemas as tools have them. */
const { schema: schemas } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({ type: fc.constant('string'), minLength: fc.integer({ min: 0, max: 9 }) }),
    fc.record({
      type: fc.constant('string'),
      format: fc.constantFrom('date', 'email', 'uri', 'uuid', 'date-time', 'other'),
    }),
    fc.record({ type: fc.constant('string'), enum: fc.array(fc.string(), { minLength: 1, maxLength: 4 }) }),
    fc.record({
      type: fc.constantFrom('integer', 'number'),
      minimum: fc.integer({ min: -50, max: 50 }),
      maximum: fc.integer({ min: 51, max: 99 }),
    }),
    fc.record({
      type: fc.constant('integer'),
      multipleOf: fc.integer({ min: 1, max: 9 }),
      exclusiveMinimum: fc.integer({ min: -9, max: 9 }),
    }),
    fc.record({ type: fc.constantFrom('boolean', 'null') }),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc
      .dictionary(fc.string({ minLength: 1, maxLength: 6 }), tie('schema'), { maxKeys: 4 })
      .map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).slice(0, 2),
        additionalProperties: false,
      })),
  ),
}));

describe('smallest', () => {
  it('fits its schema', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        expect(fits(smallest(schemaOf(schema)), schemaOf(schema))).toBe(true);
      }),
    );
  });

  it.each<readonly [schema: JsonObject, expected: unknown]>([
    [{ type: 'integer', default: 7 }, 7],
    [{ type: 'string', examples: ['x'] }, 'x'],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 }, 0.05],
    [{ type: 'integer', multipleOf: 5, minimum: 7 }, 10],
    [{ type: 'number', default: 'no number' }, 0],
    [{ type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true }, [0, 1, 2]],
    [{ oneOf: [{ required: ['a'], properties: { a: { const: 1 } } }, { required: ['b'] }] }, { a: 1 }],
  ])('%j is %j', (schema, expected) => {
    expect(smallest(schemaOf(schema))).toEqual(expected);
  });

  it('ends on schemas that never do', () => {
    const wide = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, { $ref: '#' }]));
    const endless: JsonObject[] = [
      { $ref: '#' },
      { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
      { allOf: [{ $ref: '#' }, { $ref: '#' }] },
      { type: 'object', properties: wide, required: Object.keys(wide) },
      { type: 'array', minItems: 9, items: { $ref: '#' } },
    ];
    for (const schema of endless) smallest(schemaOf(schema));
  });
});

it('isShallow is false for what is deeper than any schema', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(isShallow(deep)).toBe(false);
  expect(isShallow({ a: [1, { b: null }] })).toBe(true);
});

describe('matchesPattern', () => {
  it.each(['^[A-Z]{3}-\\d{4}$', '\\w+', '^(?:AAA|BBB)-0+$'])('runs %s', (pattern) => {
    expect(matchesPattern(pattern, 'AAA-0000')).toBe(true);
    expect(matchesPattern(pattern, '-')).toBe(false);
  });

  it.each(['(a+)+$', '(a|a)*b', '.*.*.*x', '(?<=a)b', '\\1', '[', `${'a?'.repeat(120)}`])(
    'never runs %s',
    (pattern) => {
      expect(matchesPattern(pattern, 'a'.repeat(200))).toBe(false);
    },
  );
});
