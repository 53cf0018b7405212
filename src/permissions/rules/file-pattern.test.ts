import { describe, expect, it } from 'vitest';
import {
  compileFilePattern,
  escapePattern,
  lookAt,
  mayMatchBelow,
  pathForms,
  patternMatches,
} from './file-pattern.js';

const ROOT = '/w/project';
const HOME = '/home/u';

function matches(pattern: string, path: string, wide = false): boolean {
  const forms = pathForms(path.startsWith('/') ? path : `${ROOT}/${path}`, ROOT, HOME);
  return compileFilePattern(pattern, wide).some((each) => {
    const looked = lookAt(forms, each.base, wide);
    return looked !== undefined && patternMatches(each, looked);
  });
}

describe('a pattern for files', () => {
  it.each([
    ['./.env', ['.env', '.env/x'], ['sub/.env', '.envx', 'x.env', '/w/.env', '/w/project-evil/.env']],
    ['.env', ['.env', 'sub/.env', 'a/b/.env/c'], ['.envx', 'x.env', '/home/u/.env']],
    ['*.pem', ['a.pem', 'x/y/a.pem', '.pem'], ['a.pem2', 'pem', '/etc/a.pem']],
    ['./src/**', ['src', 'src/a', 'src/a/b'], ['src2/a', 'a/src/b', 'srca']],
    ['src/', ['src/a', 'a/src/b'], ['srca']],
    ['src/*.ts', ['src/a.ts', 'src/.ts'], ['src/a/b.ts', 'x/src/a.ts', 'src/a.tsx']],
    ['./src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['a.ts', 'src/a.js']],
    ['**/secrets/**', ['secrets/a', 'x/secrets/a/b', 'secrets'], ['xsecrets/a']],
    ['**', ['a', 'a/b', ''], ['/etc/passwd', '/w/other']],
    ['a?c', ['abc', 'x/abc'], ['a/c', 'ac', 'abbc']],
    ['[ab].txt', ['a.txt', 'b.txt'], ['c.txt', '[ab].txt']],
    ['[!ab].txt', ['c.txt'], ['a.txt']],
    ['./a\\*b', ['a*b'], ['axb']],
    ['./a.b', ['a.b'], ['axb']],
    ['~/notes/**', ['/home/u/notes/a'], ['/home/u/notes2', 'notes/a', '/home/other/notes/a']],
    ['~', ['/home/u/x', '/home/u'], ['/home/u2']],
    ['//etc/**', ['/etc/passwd'], ['etc/passwd', '/etc2']],
    ['//**/*.key', ['/a/b.key', 'x.key'], ['/a/b.keys']],
    ['/build', ['build/x'], ['x/build', '/build']],
    ['./+(a)|b', ['+(a)|b'], ['a', 'b']],
  ])('%s', (pattern, yes, no) => {
    for (const path of yes) expect(matches(pattern, path === '' ? ROOT : path), path).toBe(true);
    for (const path of no) expect(matches(pattern, path), path).toBe(false);
  });

  it('that denies is the same in every case, and `/x` also means the root', () => {
    expect(matches('./Secret', 'sECRET', true)).toBe(true);
    expect(matches('./Secret', 'sECRET', false)).toBe(false);
    expect(matches('/etc/passwd', '/etc/passwd', true)).toBe(true);
    expect(matches('/etc/passwd', '/etc/passwd', false)).toBe(false);
  });

  it('never throws and never takes long, whatever it is', () => {
    for (const pattern of [
      '[',
      '[]',
      '[z-a]',
      '\\',
      '***',
      '**/**/**/**/a',
      '(',
      '?+',
      '[[:alpha:]]',
      '.',
      './',
      '/',
      '//',
      '{a,b}',
      '!x',
      '~x',
    ]) {
      expect(() => matches(pattern, `${'a/'.repeat(200)}b`, true), pattern).not.toThrow();
    }
    expect(
      matches(`${'**/*a'.repeat(8)}/${'*a'.repeat(40)}`, `${'a'.repeat(60)}/${'a'.repeat(60)}b`, true),
    ).toBeTypeOf('boolean');
  });

  it('is left alone by its own characters when it is made of a path', () => {
    for (const path of ['a[1].ts', 'b*', 'c?', 'd\\e', 'f]']) {
      expect(matches(`./${escapePattern(path)}`, path), path).toBe(true);
      expect(matches(`./${escapePattern(path)}`, `${path}x`), path).toBe(false);
    }
  });

  it('knows whether a folder may hold what it matches', () => {
    const below = (pattern: string, folder: string): boolean => {
      const forms = pathForms(folder === '' ? ROOT : `${ROOT}/${folder}`, ROOT, HOME);
      return compileFilePattern(pattern, true).some((each) => mayMatchBelow(each, forms[each.base]));
    };
    expect(below('./private/key', '')).toBe(true);
    expect(below('./private/key', 'private')).toBe(true);
    expect(below('./private/key', 'src')).toBe(false);
    expect(below('./private/key', 'private/key')).toBe(false);
    expect(below('./private/*.key', 'private/sub')).toBe(true);
    expect(below('./private/*.key', 'src')).toBe(false);
    expect(below('*.pem', 'src')).toBe(true);
    expect(below('~/x', 'src')).toBe(false);
  });
});
