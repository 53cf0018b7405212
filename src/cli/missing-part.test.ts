import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { explainMissingPart } from './missing-part.js';

function failureOf(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error) {
    return error;
  }
}

it.each(['@libsql/no-such-platform', '@vscode/ripgrep-no-such-platform'])(
  'an install without %s is told which command to run, not shown a stack',
  (name) => {
    const failure = failureOf(name);
    expect(explainMissingPart(failure)).toMatch(
      new RegExp(`^${name} is not installed.*npm ci --include=optional$`),
    );
    expect(explainMissingPart(new Error('outside', { cause: failure }))).toContain(name);
  },
);

it('another failure stays what it is', () => {
  expect(explainMissingPart(failureOf('no-such-package'))).toBeUndefined();
  expect(explainMissingPart('thrown')).toBeUndefined();
});
