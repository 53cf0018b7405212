/**
 * Screenshots of a page: light, dark, and at the width of a phone, kept where TOOLGATE_SHOTS names a
 * folder. Those of every page are taken in any case, so that one that breaks at a width is noticed;
 * those of its many states only to be kept, and in the long run.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LONG } from '../faults/counts.js';
import { tempFolder } from './cleanup.js';

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 740 };

const SHOTS = [
  { look: 'light', colorScheme: 'light', size: WIDE },
  { look: 'dark', colorScheme: 'dark', size: WIDE },
  { look: 'phone', colorScheme: 'light', size: PHONE },
] as const;

type Look = (typeof SHOTS)[number]['look'];
const ALL: readonly Look[] = ['light', 'dark', 'phone'];

/**
 * Writes `NAME-light.png`, `NAME-dark.png` and `NAME-phone.png`. Fails where the page is wider than the
 * screen. Afterwards the page is as wide and as light as before. `looks` are those that are enough to
 * notice a page that breaks: where screenshots are kept it is ignored, and all three are taken.
 */
export async function shots(
  page: Page,
  name: string,
  { always = false, looks = ALL }: { always?: boolean; looks?: readonly Look[] } = {},
): Promise<void> {
  const kept = LONG || process.env['TOOLGATE_SHOTS'] !== undefined;
  if (!always && !kept) return;
  const folder = process.env['TOOLGATE_SHOTS'] ?? (await tempFolder('shots')).path;
  await mkdir(folder, { recursive: true });
  const before = page.viewportSize() ?? WIDE;
  for (const { look, colorScheme, size } of SHOTS.filter((shot) => kept || looks.includes(shot.look))) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    // Two frames: what follows a change of the width has been drawn.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: 'disabled' });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, `${name} (${look}) is wider than the screen`).toBeLessThanOrEqual(size.width);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
}
