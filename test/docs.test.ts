/** Every relative link in the documentation leads to a file that is there. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, ROOT } from './support/source-tree.js';

const pages = [
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((name) => join(ROOT, name)),
  ...filesUnder('docs', '.md').map((name) => join(ROOT, name)),
  join(ROOT, 'bench', 'README.md'),
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
