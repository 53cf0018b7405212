/** What axe finds wrong with a page for people who use a keyboard or a screen reader. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const GRAVE = new Set(['serious', 'critical']);

interface AxeResults {
  violations: { id: string; impact: string | null; nodes: { html: string; failureSummary?: string }[] }[];
}

/** One line for each place that is serious or critical; none is what a test wants. */
export async function axeProblems(page: Page): Promise<string[]> {
  // Evaluated by the browser itself: the page's own policy would let no such script in.
  await page.evaluate(await readFile(SOURCE, 'utf8'));
  const results: AxeResults = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })');
  return results.violations
    .filter(({ impact }) => impact !== null && GRAVE.has(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`),
    );
}
