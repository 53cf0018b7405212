/** What a first visit costs, counted in the files of the build. */
import { expect, inject, it } from 'vitest';
import { firstLoad, totalOf } from '../../scripts/console-size.mjs';

const MOST_BYTES = 200_000;

it('loads less than 200 kB with gzip before the chat is there', async () => {
  expect(inject('buildProblem')).toBe('');
  const files = await firstLoad();
  const total = totalOf(files);
  console.log(`the console's first load: ${(total / 1000).toFixed(1)} kB with gzip in ${files.length} files`);
  expect(files.map(({ file }) => file)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^assets\/chat-page-.*\.js$/), 'index.html']),
  );
  // The page's own framework is in it: less would mean that something was not counted.
  expect(total).toBeGreaterThan(60_000);
  expect(total).toBeLessThan(MOST_BYTES);
});
