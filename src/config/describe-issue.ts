/** What the schema found wrong, in words for the person who wrote the file. */
import type * as z from 'zod';
import { nearest } from './nearest.js';

type Issue = z.core.$ZodIssue;

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with keys',
  record: 'a section with keys',
};

/**
 * The sentence for one issue. `showValue` is false where the value came from the environment:
 * it could be a secret that landed in the wrong place.
 */
export function describeIssue(issue: Issue, showValue: boolean): string {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = TYPE_WORDS[issue.expected] ?? issue.expected;
      if (issue.input === undefined) return `missing; expected ${expected}`;
      return `expected ${expected}, got ${describeValue(issue.input)}`;
    }
    case 'invalid_value':
      return describeChoice(issue.input, issue.values.map(String), showValue);
    case 'invalid_union':
      return issue.discriminator === undefined
        ? missingOr(issue.input, issue.message)
        : describeChoice(
            discriminatorOf(issue.input, issue.discriminator),
            'options' in issue ? (issue.options ?? []).filter((option) => typeof option === 'string') : [],
            showValue,
          );
    case 'too_small':
      return describeBound('at least', issue.minimum, issue.origin, issue.inclusive !== false);
    case 'too_big':
      return describeBound('at most', issue.maximum, issue.origin, issue.inclusive !== false);
    case 'invalid_key':
      return `${issue.issues[0]?.message ?? 'this name cannot be used'} as the key`;
    default:
      return issue.message;
  }
}

/** An unknown key: the nearest known one, or where the key belongs, or all that is known here. */
export function describeUnknownKey(
  key: string,
  known: readonly string[],
  elsewhere: readonly string[],
): string {
  const close = nearest(key, known);
  if (close !== undefined) return `unknown key. Did you mean \`${close}\`?`;
  const place = elsewhere[0];
  if (place !== undefined) return `unknown key here. Did you mean \`${place}\`?`;
  if (known.length === 0) return 'unknown key';
  return `unknown key. Known keys: ${known.join(', ')}`;
}

function describeChoice(input: unknown, options: readonly string[], showValue: boolean): string {
  const expected = options.length === 1 ? `\`${options[0]}\`` : `one of ${options.join(', ')}`;
  if (input === undefined) return `missing; expected ${expected}`;
  if (typeof input !== 'string') return `expected ${expected}, got ${describeValue(input)}`;
  if (!showValue) return `expected ${expected}`;
  const shown = input.length > 40 ? `${input.slice(0, 40)}…` : input;
  const close = nearest(input, options);
  return `expected ${expected}, got \`${shown}\`${close === undefined ? '' : `. Did you mean \`${close}\`?`}`;
}

function describeBound(side: string, bound: number | bigint, origin: string, inclusive: boolean): string {
  switch (origin) {
    case 'string':
      return side === 'at least' && bound === 1
        ? 'expected a text, got an empty one'
        : `expected ${side} ${bound} characters`;
    case 'array':
      return side === 'at least' && bound === 1
        ? 'expected a list with at least one entry'
        : `expected ${side} ${bound} entries`;
    default:
      if (inclusive) return `expected a number of ${side} ${bound}`;
      return `expected a number ${side === 'at least' ? 'above' : 'below'} ${bound}`;
  }
}

function missingOr(input: unknown, message: string): string {
  return input === undefined ? message.replace(/^expected/, 'missing; expected') : message;
}

function discriminatorOf(input: unknown, key: string): unknown {
  if (typeof input !== 'object' || input === null) return input;
  return Object.getOwnPropertyDescriptor(input, key)?.value;
}

function describeValue(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty text' : 'a text';
    case 'number':
      return Number.isFinite(value) ? `the number ${value}` : 'a number without end';
    case 'boolean':
      return String(value);
    default:
      return 'a section with keys';
  }
}
