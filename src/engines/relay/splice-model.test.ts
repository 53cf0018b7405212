import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spliceModel } from './splice-model.js';

const splice = (text: string) => spliceModel(Buffer.from(text), 'gpt "5"')?.toString();

describe('spliceModel', () => {
  it.each([
    ['{"model":"a"}', '{"model":"gpt \\"5\\""}'],
    [
      '{ "x" : {"model":"no"}, "model" : "a\\\\\\"b", "y":[ "model" ] }',
      '{ "x" : {"model":"no"}, "model" : "gpt \\"5\\"", "y":[ "model" ] }',
    ],
    [
      '{"messages":[{"content":"\\"model\\": \\"x\\""}],"model":"a"}',
      '{"messages":[{"content":"\\"model\\": \\"x\\""}],"model":"gpt \\"5\\""}',
    ],
    ['{"a":"model","model":"b"}', '{"a":"model","model":"gpt \\"5\\""}'],
  ])('replaces the model of %s', (body, expected) => {
    expect(splice(body)).toBe(expected);
  });

  it('leaves what is ambiguous to the other lane', () => {
    expect(splice('{"model":"a","model":"b"}')).toBeUndefined();
    expect(splice('{"mod\\u0065l":"a"}')).toBeUndefined();
    expect(splice('{"model":"a","Model":"b"}')).toBeUndefined();
    expect(splice('{"MODEL":"b","model":"a"}')).toBeUndefined();
    expect(splice('{"x":1}')).toBeUndefined();
  });

  it('changes the model and nothing else of any body', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.nat(3),
        (rest, model, indent) => {
          const { model: _, ...others } = rest;
          const body = Buffer.from(JSON.stringify({ ...others, model, tail: 1 }, null, indent));
          const spliced = spliceModel(body, 'new');
          if (spliced === undefined) {
            expect(Object.keys(others).some((key) => JSON.stringify(key).includes('\\'))).toBe(true);
            return;
          }
          expect(JSON.parse(spliced.toString())).toEqual({
            ...JSON.parse(JSON.stringify(others)),
            model: 'new',
            tail: 1,
          });
        },
      ),
    );
  });
});
