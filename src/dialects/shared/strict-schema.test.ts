import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import { strictSchema } from './strict-schema.js';

describe('strictSchema', () => {
  it('returns a schema that is strict already', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string' } } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(strictSchema(schema)).toBe(schema);
  });

  it('closes objects that say nothing, at every level', () => {
    const open = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] };
    const closed = { ...open, additionalProperties: false };
    const schema = {
      type: 'object',
      properties: { a: open, list: { type: 'array', items: open }, any: { anyOf: [open] } },
      required: ['a', 'list', 'any'],
      $defs: { D: open },
    };
    const before = JSON.stringify(schema);
    expect(strictSchema(schema)).toEqual({
      type: 'object',
      properties: { a: closed, list: { type: 'array', items: closed }, any: { anyOf: [closed] } },
      required: ['a', 'list', 'any'],
      $defs: { D: closed },
      additionalProperties: false,
    });
    expect(JSON.stringify(schema)).toBe(before);
  });

  const refused: [string, JsonObject][] = [
    ['an optional property', { type: 'object', properties: { a: {} } }],
    ['an open object', { type: 'object', properties: {}, additionalProperties: true }],
    [
      'an optional property below',
      { type: 'object', properties: { a: { properties: { b: {} } } }, required: ['a'] },
    ],
    ['a boolean schema', { type: 'object', properties: { a: true }, required: ['a'] }],
    ['an optional property in a union', { anyOf: [{ type: 'object', properties: { b: {} } }] }],
  ];
  it.each(refused)('refuses %s', (_name, schema) => {
    expect(strictSchema(schema)).toBeUndefined();
  });
});
