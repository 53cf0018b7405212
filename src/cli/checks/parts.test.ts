import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { checkParts, explainMissingPart } from './parts.js';

function failureOf(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error) {
    return error;
  }
}

const AGAIN = 'npm install --include=optional';

describe('explainMissingPart', () => {
  it.each([
    '@libsql/no-such-platform',
    '@vscode/ripgrep-no-such-platform',
    '@vscode/tree-sitter-wasm/no-such-file',
  ])('tells an install without %s which command to run, and shows no stack', (name) => {
    const failure = failureOf(name);
    const part = name.replace('/no-such-file', '');
    expect(explainMissingPart(failure)).toMatch(new RegExp(`^${part} is not installed.*${AGAIN}$`));
    expect(explainMissingPart(new Error('outside', { cause: failure }))).toContain(part);
  });

  it('tells the same of a library that is none for this machine', async () => {
    const folder = join((await tempFolder()).path, 'node_modules/@libsql/some-platform');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.node'), 'not a library');
    expect(explainMissingPart(failureOf(join(folder, 'index.node')))).toMatch(
      new RegExp(`^@libsql/some-platform cannot be loaded on this machine.*${AGAIN}$`),
    );
  });

  it('leaves another failure what it is', () => {
    expect(explainMissingPart(failureOf('no-such-package'))).toBeUndefined();
    expect(explainMissingPart('thrown')).toBeUndefined();
  });
});

describe('checkParts', () => {
  it('says nothing where all is there', async () => {
    expect(await checkParts({})).toEqual([]);
  });

  it('says of each part that is missing what it costs and what to do', async () => {
    const checks = await checkParts(
      { TOOLGATE_RIPGREP: '/no/such/rg' },
      {
        resolve: () => {
          throw new Error('not found');
        },
        load: async () => {
          throw failureOf('@libsql/no-such-platform');
        },
      },
    );
    expect(checks.map(({ status, finding }) => `${status} ${finding}`)).toEqual([
      'FAIL the store cannot be opened, and the gateway does not start',
      'warn Grep and Glob are off',
      'warn Bash runs no command, because none can be judged',
      'warn Bash runs no command, because none can be judged',
      'warn commands in the sandbox reach no host',
      'warn tools in TypeScript cannot be loaded',
      'warn PDF documents cannot be read',
    ]);
    for (const { advice } of checks) expect(advice).toMatch(/--include=optional$|TOOLGATE_RIPGREP/);
  });
});
