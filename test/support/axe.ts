/** What axe finds wrong with a page for people who use a keyboard or a screen reader. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const GRAVE = new Set(['serious', 'critical']);

interface AxeResults {
  violations: { id: string; impact: string | null; nodes: { html: string; failureSummary?: string }[] }[];
}

/** Colours that change are judged when they have changed; what goes on for ever is not waited for. */
const AT_REST = `Promise.all(document.getAnimations()
  .filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
  .map((animation) => animation.finished.catch(() => undefined))).then(() => undefined)`;

/**
 * One line for each place that is serious or critical; none is what a test wants. `rules`: only
 * these, such as those about colours when nothing else can have changed.
 */
export async function axeProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the browser itself: the page's own policy would let no such script in.
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    await page.evaluate(await readFile(SOURCE, 'utf8'));
  }
  await page.evaluate(AT_REST);
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const results: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  return results.violations
    .filter(({ impact }) => impact !== null && GRAVE.has(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`),
    );
}
