import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadCases } from './load.js';
import { DOCUMENT, documentOf } from './table.js';

it('docs/translation.md says what the cases say; `npm run docs:translation` writes it', () => {
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(documentOf(loadCases()));
});
