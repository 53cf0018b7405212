/** The documentation names what is there: relative links lead to files, and lists are whole. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, ROOT, readSources } from './support/source-tree.js';

const pages = [
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'REVIEW.md', 'SECURITY.md', 'CHANGELOG.md'].map(
    (name) => join(ROOT, name),
  ),
  ...filesUnder('docs', '.md').map((name) => join(ROOT, name)),
  ...['bench', 'deploy', 'test/attacks', 'test/conformance'].map((folder) => join(ROOT, folder, 'README.md')),
];

describe('links', () => {
  it.each(pages.map((page) => relative(ROOT, page)))('%s', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const missing = targets
      .filter((target) => !/^(?:https?:|mailto:|#)/.test(target))
      .filter((target) => !existsSync(join(ROOT, dirname(page), target.replace(/#.*$/, ''))));
    expect(missing).toEqual([]);
  });
});

it('test/attacks/README.md lists every attack that has a test', () => {
  const text = readFileSync(join(ROOT, 'test/attacks/README.md'), 'utf8');
  const listed = [...text.matchAll(/\]\((\S+\.test\.ts)\): \S/g)].map(([, file]) => `test/attacks/${file}`);
  expect(listed.toSorted()).toEqual(filesUnder('test/attacks', '.test.ts'));
});

describe('the map and the glossary name what is there', () => {
  const declared = new Set(
    [...readSources('src'), ...readSources('console/src')].flatMap(({ text }) =>
      [
        ...text.matchAll(
          /^(?:export )?(?:async )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm,
        ),
      ].map(([, name = '']) => name),
    ),
  );
  const quoted = (page: string): string[] =>
    [...readFileSync(join(ROOT, 'docs', page), 'utf8').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

  it.each(['architecture.md', 'glossary.md'])('%s: every path is a file or folder', (page) => {
    const paths = quoted(page).filter((code) => /^(?:src|console|test|docs)\/[\w./-]*$/.test(code));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('glossary.md: every name in the column of the code is declared', () => {
    const names = quoted('glossary.md').filter((code) => /^[A-Z][a-z]+[A-Za-z]*$/.test(code));
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !declared.has(name))).toEqual([]);
  });
});
