import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayElements, objectMembers } from './json-ranges.js';

describe('ranges in JSON', () => {
  it('are those of the values, whatever strings and blanks there are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.constantFrom(undefined, 1, '\t'),
        (values, indent) => {
          const list = JSON.stringify(values, null, indent);
          expect(arrayElements(list, 0).map(({ start, end }) => JSON.parse(list.slice(start, end)))).toEqual(
            JSON.parse(list),
          );
          const object = JSON.stringify(
            Object.fromEntries(values.map((value, index) => [`k"\\${index}`, value])),
            null,
            indent,
          );
          const members = objectMembers(object, 0);
          expect(
            Object.fromEntries(
              members.map(({ key, start, end }) => [key, JSON.parse(object.slice(start, end))]),
            ),
          ).toEqual(JSON.parse(object));
        },
      ),
      { numRuns: 300 },
    );
  });
});
