import { expect, it } from 'vitest';
import { findCycles, importsOf, packageOf, resolveImport, type SourceFile } from './source-tree.js';

it('finds every kind of import and none in a comment', () => {
  const text = `
    /* import a from 'block'; */
    // import b from 'line';
    import { readFile } from 'node:fs/promises';
    import type { A } from './a.js';
    import './side-effect.js';
    import data from '../data.json' with { type: 'json' };
    import {
      type B,
      c,
    } from '../b/c.js';
    export * from './d.js';
    export type { E } from './e.js';
    const load = () => import('./lazy.js');
    const text = 'https://example.com'; export const f = 1;
    type G = import('pino').Logger;
  `;
  expect(importsOf(text)).toEqual([
    { specifier: 'node:fs/promises', typeOnly: false, lazy: false },
    { specifier: './a.js', typeOnly: true, lazy: false },
    { specifier: './side-effect.js', typeOnly: false, lazy: false },
    { specifier: '../data.json', typeOnly: false, lazy: false },
    { specifier: '../b/c.js', typeOnly: false, lazy: false },
    { specifier: './d.js', typeOnly: false, lazy: false },
    { specifier: './e.js', typeOnly: true, lazy: false },
    { specifier: './lazy.js', typeOnly: false, lazy: true },
    { specifier: 'pino', typeOnly: false, lazy: true },
  ]);
});

it('does not take an exported value for an import', () => {
  expect(importsOf("export const a = 'b';\nexport const from = 'c';")).toEqual([]);
});

it('resolves relative imports and leaves packages alone', () => {
  expect(resolveImport('src/a/b.ts', '../c/d.js')).toBe('src/c/d.ts');
  expect(resolveImport('src/a/b.ts', 'zod')).toBeUndefined();
  expect(packageOf('@scope/name/deep.js')).toBe('@scope/name');
  expect(packageOf('zod/mini')).toBe('zod');
});

it('finds loops of imports, but for those that are gone at run time', () => {
  const file = (path: string, ...imports: string[]): SourceFile => ({
    path,
    text: '',
    imports: imports.map((specifier) => ({ specifier, typeOnly: false, lazy: false })),
  });
  const typed = { path: 'b.ts', text: '', imports: [{ specifier: './a.js', typeOnly: true, lazy: false }] };
  expect(findCycles([file('a.ts', './b.js'), typed])).toEqual([]);
  expect(findCycles([file('a.ts', './b.js'), file('b.ts', './c.js'), file('c.ts')])).toEqual([]);
  expect(findCycles([file('a.ts', './b.js'), file('b.ts', './c.js'), file('c.ts', './b.js')])).toEqual([
    ['b.ts', 'c.ts', 'b.ts'],
  ]);
});
