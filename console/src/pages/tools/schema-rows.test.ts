import { describe, expect, it } from 'vitest';
import { schemaRows } from './schema-rows.js';

describe('a schema', () => {
  it('is read as names, types and what they are for, also inside of others', () => {
    const rows = schemaRows({
      type: 'object',
      required: ['file_path', 'edits'],
      properties: {
        file_path: { type: 'string', description: 'Which file' },
        mode: { enum: ['a', 'b'], default: 'a' },
        limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], minimum: 1 },
        edits: {
          type: 'array',
          items: { type: 'object', properties: { old: { type: ['string', 'null'] } } },
        },
      },
    });
    expect(
      rows.map(({ depth, name, type, required, notes }) => [depth, name, type, required, notes]),
    ).toEqual([
      [0, 'file_path', 'string', true, []],
      [0, 'mode', 'enum', false, ['"a" | "b"', 'default: "a"']],
      [0, 'limit', 'integer | null', false, ['minimum: 1']],
      [0, 'edits', 'array<object>', true, []],
      [1, 'old', 'string | null', false, []],
    ]);
    expect(rows[0]?.description).toBe('Which file');
  });

  it('of any size and shape is bounded', () => {
    const deep = (level: number): object => ({ properties: level === 0 ? {} : { a: deep(level - 1) } });
    expect(schemaRows(deep(50)).length).toBeLessThan(10);
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, {}]));
    expect(schemaRows({ properties: wide })).toHaveLength(300);
    for (const odd of [null, 5, 'x', [], { properties: [] }, { properties: { a: null } }]) schemaRows(odd);
  });
});
