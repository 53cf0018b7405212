import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInside, realTarget } from './real-path.js';

function folder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'toolgate-real-')));
}

describe('realTarget', () => {
  it('resolves a link in the last part and in an ancestor', () => {
    const root = folder();
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real', 'a.txt'), 'a');
    symlinkSync('real', join(root, 'linked'));
    symlinkSync('real/a.txt', join(root, 'leaf'));
    expect(realTarget(join(root, 'linked', 'a.txt'))).toBe(join(root, 'real', 'a.txt'));
    expect(realTarget(join(root, 'leaf'))).toBe(join(root, 'real', 'a.txt'));
  });

  it('resolves the linked folder of a file that does not exist yet', () => {
    const root = folder();
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'linked'));
    expect(realTarget(join(root, 'linked', 'new', 'deep.txt'))).toBe(join(root, 'real', 'new', 'deep.txt'));
  });

  it('follows a link that leads nowhere to the place it would create', () => {
    const root = folder();
    mkdirSync(join(root, 'inside'));
    symlinkSync('../outside/new.txt', join(root, 'inside', 'dangling'));
    expect(realTarget(join(root, 'inside', 'dangling'))).toBe(join(root, 'outside', 'new.txt'));
  });

  it('takes .. in a target from where the folder really is', () => {
    const root = folder();
    mkdirSync(join(root, 'a', 'b'), { recursive: true });
    symlinkSync('a/b', join(root, 'short'));
    symlinkSync('short/../missing', join(root, 'tricky'));
    expect(realTarget(join(root, 'tricky'))).toBe(join(root, 'a', 'missing'));
  });

  it('comes to an end on a loop of links', () => {
    const root = folder();
    symlinkSync('two', join(root, 'one'));
    symlinkSync('one', join(root, 'two'));
    expect(isInside(root, realTarget(join(root, 'one', 'x')))).toBe(true);
  });

  it('does not throw on a path with a NUL byte or one that is too long', () => {
    expect(realTarget('/tmp/a\0b')).toBe('/tmp/a\0b');
    const long = `/tmp/${'x'.repeat(5000)}`;
    expect(realTarget(long)).toBe(long);
  });

  it('keeps a name below a plain file as it is', () => {
    const root = folder();
    writeFileSync(join(root, 'file'), '');
    expect(realTarget(join(root, 'file', 'below'))).toBe(join(root, 'file', 'below'));
  });
});

describe('isInside', () => {
  it.each([
    ['/work', '/work', true],
    ['/work', '/work/a/b', true],
    ['/work/', '/work/a', true],
    ['/', '/etc', true],
    ['/work', '/work-evil', false],
    ['/work', '/work-evil/a', false],
    ['/work', '/work/../etc', false],
    ['/work', '/', false],
    ['/work', '/work/..name', true],
  ])('%s and %s: %s', (root, path, expected) => {
    expect(isInside(root, path)).toBe(expected);
  });
});
