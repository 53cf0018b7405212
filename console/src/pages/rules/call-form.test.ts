import { describe, expect, it } from 'vitest';
import { fieldsOf, inputOf } from './call-form.js';

const SCHEMA = {
  type: 'object',
  required: ['command'],
  properties: {
    timeout: { type: 'number' },
    command: { type: 'string', description: 'What to run' },
    background: { type: 'boolean' },
    mode: { type: 'string', enum: ['a', 'b'] },
    edits: { type: 'array' },
    path: { type: 'string' },
  },
};

describe('a call to try', () => {
  it('has a field for each parameter, those that are needed first', () => {
    expect(fieldsOf(SCHEMA).map(({ name, kind, required }) => `${name} ${kind} ${required}`)).toEqual([
      'command lines true',
      'timeout number false',
      'background boolean false',
      'mode choice false',
      'edits json false',
      'path text false',
    ]);
    expect(fieldsOf('odd')).toEqual([]);
  });

  it('becomes an input of the right types, without what is empty', () => {
    const fields = fieldsOf(SCHEMA);
    expect(
      inputOf(fields, { command: 'ls', timeout: '5', background: 'true', mode: 'b', edits: '[1]', path: '' }),
    ).toEqual({ ok: true, input: { command: 'ls', timeout: 5, background: true, mode: 'b', edits: [1] } });
    expect(inputOf(fields, {})).toEqual({ ok: true, input: { command: '' } });
    expect(inputOf(fields, { timeout: 'soon' })).toEqual({ ok: false, field: 'timeout' });
    expect(inputOf(fields, { edits: '[' })).toEqual({ ok: false, field: 'edits' });
  });
});
