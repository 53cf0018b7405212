import { describe, expect, it } from 'vitest';
import { type Form, readValues } from '../../permissions/form.js';
import { encodeAnswer, readElicitation } from './elicitation.js';

const form = (properties: object, required: string[] = []) =>
  readElicitation('shop', { message: 'Which?', requestedSchema: { type: 'object', properties, required } });

function formOf(properties: object, required: string[] = []): Form {
  const read = form(properties, required);
  if ('problem' in read) throw new Error(read.problem);
  return read.form;
}

describe('a form of a server', () => {
  it('that is too large, or asks for more than texts, numbers, switches and choices, is asked of nobody', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, { type: 'string' }]));
    expect(form(many)).toEqual({ problem: expect.stringContaining('10000 fields') });
    const options = Array.from({ length: 101 }, (_, n) => `o${n}`);
    expect(form({ a: { type: 'array', items: { enum: options } } })).toHaveProperty('problem');
    for (const odd of [{ type: 'object' }, { type: 'string', enum: [1], default: 3 }, 'x', null]) {
      expect(form({ a: odd })).toHaveProperty('problem');
    }
    expect(form({ ['x'.repeat(101)]: { type: 'string' } })).toHaveProperty('problem');
    for (const odd of [undefined, {}, { message: 'x' }, { message: 'x', requestedSchema: 3 }]) {
      expect(readElicitation('shop', odd)).toHaveProperty('problem');
    }
  });

  it('is cut where its words are long', () => {
    const long = 'x'.repeat(100_000);
    const { fields } = formOf({ a: { type: 'string', title: long, description: long } });
    expect(JSON.stringify(fields).length).toBeLessThan(2_000);
  });

  it('leads only to web addresses without a credential', () => {
    const at = (url: string) => readElicitation('shop', { mode: 'url', message: 'There', url });
    expect(at('https://pay.example/x')).toMatchObject({ form: { url: 'https://pay.example/x', fields: [] } });
    for (const url of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://paypal.com@evil.example/',
      'x',
    ]) {
      expect(at(url)).toHaveProperty('problem');
    }
  });
});

describe('an answer to a form', () => {
  const fields = formOf(
    {
      mail: { type: 'string', format: 'email' },
      day: { type: 'string', format: 'date' },
      size: { type: 'number', minimum: -1, maximum: 1 },
      kinds: { type: 'array', items: { anyOf: [{ const: 'a' }, { const: 'b' }] }, minItems: 1, maxItems: 1 },
      level: { type: 'string', enum: ['l', 'h'], enumNames: ['Low', 'High'] },
      sure: { type: 'boolean' },
    },
    ['mail'],
  );
  const good = { mail: 'a@b.example', day: '2026-01-31', size: -0.5, kinds: ['b'], level: 'h', sure: false };

  it('is what the form asks for, and nothing else', () => {
    expect(readValues(fields, good)).toEqual({ values: good });
    expect(readValues(fields, { mail: 'a@b.example', level: '' })).toEqual({
      values: { mail: 'a@b.example' },
    });
    const wrong: object[] = [
      {},
      { mail: 'nobody' },
      { ...good, day: '2026-13-01' },
      { ...good, size: 2 },
      { ...good, size: -2 },
      { ...good, size: '1' },
      { ...good, kinds: [] },
      { ...good, kinds: ['c'] },
      { ...good, level: 'High' },
      { ...good, sure: 'yes' },
      { ...good, mail: `${'x'.repeat(20_000)}@b` },
      { ...good, more: 1 },
    ];
    for (const each of wrong) expect(readValues(fields, each)).toHaveProperty('problem');
  });

  it('goes out in the words of the protocol', () => {
    const accepted = { action: 'accept', values: { kinds: ['a'] } } as const;
    expect(encodeAnswer(accepted, fields)).toEqual({ action: 'accept', content: { kinds: ['a'] } });
    expect(encodeAnswer({ action: 'decline' }, fields)).toEqual({ action: 'decline' });
    expect(encodeAnswer({ action: 'cancel', why: 'late' }, fields)).toEqual({ action: 'cancel' });
    expect(encodeAnswer({ action: 'accept', values: {} }, { ...fields, url: 'https://x.example' })).toEqual({
      action: 'accept',
    });
  });
});
