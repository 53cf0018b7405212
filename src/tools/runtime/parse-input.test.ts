import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fakeTool } from '../../../test/support/fake-tools.js';
import type { JsonObject } from '../../core/conversation.js';
import { parseInput } from './parse-input.js';

const SCHEMA = z.strictObject({
  file_path: z.string(),
  limit: z.int().optional(),
  ratio: z.number().optional(),
  all: z.boolean().optional(),
  edits: z.array(z.strictObject({ old: z.string(), count: z.int().optional() })).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
  mode: z.enum(['a', 'b']).default('a'),
});
const JSON_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    file_path: { type: 'string' },
    limit: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    all: { type: 'boolean' },
    edits: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } } } },
    meta: { type: 'object' },
  },
  required: ['file_path'],
  additionalProperties: false,
};

const zod = fakeTool('Read', { inputSchema: SCHEMA });
const json = fakeTool('Read', { inputJSONSchema: JSON_SCHEMA });
const messageOf = (tool: typeof zod, input: unknown): string => {
  const parsed = parseInput(tool, input);
  return parsed.ok ? `taken: ${JSON.stringify(parsed.input)}` : parsed.message;
};

describe('input that can be read in one way only', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a whole number as text', { limit: '5' }, { limit: 5 }],
    ['a number as text', { ratio: ' -0.5 ' }, { ratio: -0.5 }],
    ['a boolean as text', { all: 'True' }, { all: true }],
    ['a list as text', { edits: '[{"old":"x"}]' }, { edits: [{ old: 'x' }] }],
    ['an object as text', { meta: '{"a":1}' }, { meta: { a: 1 } }],
    [
      'a number inside a list as text',
      { edits: '[{"old":"x","count":"3"}]' },
      { edits: [{ old: 'x', count: 3 }] },
    ],
    ['null for what may be left out', { limit: null }, {}],
  ])('is put right: %s', (_what, given, meant) => {
    const input = { file_path: '/a', ...given };
    const before = structuredClone(input);
    expect(parseInput(zod, input)).toEqual({ ok: true, input: { file_path: '/a', mode: 'a', ...meant } });
    expect(input).toEqual(before);
    expect(parseInput(json, input)).toEqual({ ok: true, input: { file_path: '/a', ...meant } });
  });

  it('is put right when all of it came as text', () => {
    expect(parseInput(zod, '{"file_path":"/a"}')).toEqual({
      ok: true,
      input: { file_path: '/a', mode: 'a' },
    });
  });
});

describe('input that cannot be used', () => {
  it.each<[string, JsonObject, RegExp]>([
    [
      'a text that is no number',
      { file_path: '/a', limit: 'ten' },
      /`limit` must be .*, got the string "ten"/,
    ],
    ['a number with a unit', { file_path: '/a', limit: '5px' }, /`limit`/],
    ['a hexadecimal number', { file_path: '/a', limit: '0x10' }, /`limit`/],
    ['an empty text for a number', { file_path: '/a', limit: '' }, /`limit`/],
    ['a number for a text', { file_path: 7 }, /`file_path` must be a string, got the number 7/],
    ['one for a boolean', { file_path: '/a', all: 1 }, /`all` must be a boolean/],
    ['an object for a list', { file_path: '/a', edits: '{}' }, /`edits` must be an array/],
    ['null for what must be there', { file_path: null }, /`file_path` is missing/],
    ['nothing for what must be there', {}, /`file_path` is missing/],
    ['a field that is not known', { file_path: '/a', path: 'x' }, /`path` is not a field of it/],
  ])('is refused: %s', (_what, input, message) => {
    expect(messageOf(zod, input)).toMatch(message);
    expect(messageOf(json, input)).toMatch(message);
  });

  it('is answered with all problems and with the fields that there are', () => {
    expect(messageOf(zod, { limit: 'x' })).toBe(
      'Read cannot take this input: `file_path` is missing; `limit` must be a number, got the string "x". ' +
        'Its fields: file_path (required), limit, ratio, all, edits, meta, mode.',
    );
  });

  it('names the place inside a list', () => {
    expect(messageOf(zod, { file_path: '/a', edits: [{ old: 'x' }, {}] })).toContain(
      '`edits.1.old` is missing',
    );
  });

  it.each([[undefined], [null], [5], ['x'], [[]]])('is refused where it is no object: %j', (input) => {
    expect(messageOf(zod, input)).toContain('cannot take this input');
    expect(messageOf(json, input)).toContain('cannot take this input');
  });
});

describe('a JSON Schema', () => {
  it('only checks: the input stays as it was written, defaults and formats change nothing', () => {
    const tool = fakeTool('T', {
      inputJSONSchema: {
        type: 'object',
        properties: {
          when: { type: 'string', format: 'date-time' },
          default: { type: 'string' },
          n: { type: 'integer', default: 3 },
        },
      },
    });
    const input = { extra: 1, when: '2026-01-02T03:04:05+02:00', default: 'x' };
    expect(parseInput(tool, input)).toEqual({ ok: true, input });
    expect(messageOf(tool, { default: 5 })).toContain('`default` must be a string');
  });

  it('that zod cannot read still has its fields asked for', () => {
    const tool = fakeTool('T', {
      inputJSONSchema: { type: 'object', not: { required: ['x'] }, properties: {}, required: ['id'] },
    });
    expect(messageOf(tool, {})).toContain('`id` is missing');
    expect(parseInput(tool, { id: 1, x: 2 }).ok).toBe(true);
  });
});

describe('a tool without a schema', () => {
  it('takes any object', () => {
    expect(parseInput(fakeTool('T'), { a: 1 })).toEqual({ ok: true, input: { a: 1 } });
  });
});
