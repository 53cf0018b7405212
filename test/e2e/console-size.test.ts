/** What a first visit costs, counted in the files of the build. */
import { expect, inject, it } from 'vitest';
import { firstLoad, totalOf } from '../../scripts/console-size.mjs';

/** With the two faces; a first visit is meant to stay below 300 kB with all that it fetches. */
const MOST_BYTES = 260_000;

it('loads less than 260 kB with gzip, the faces with it, before the chat is there', async () => {
  expect(inject('buildProblem')).toBe('');
  const files = await firstLoad();
  const total = totalOf(files);
  console.log(`the console's first load: ${(total / 1000).toFixed(1)} kB with gzip in ${files.length} files`);
  expect(files.map(({ file }) => file)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^assets\/chat-page-.*\.js$/), 'index.html']),
  );
  expect(files.filter(({ file }) => file.endsWith('.woff2'))).toHaveLength(2);
  // The page's own framework is in it: less would mean that something was not counted.
  expect(total).toBeGreaterThan(60_000);
  expect(total).toBeLessThan(MOST_BYTES);
});
