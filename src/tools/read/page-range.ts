/** `pages` of Read: `3`, `1-5`, `10-`. */
import { READ_LIMITS } from './limits.js';

export interface PageRange {
  from: number;
  /** Open: up to the end, or as many as one call shows. */
  to?: number;
}

/** The problem as a sentence where it cannot be used. */
export function parsePageRange(given: string): PageRange | string {
  const match = /^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?\s*)?$/.exec(given);
  if (match === null) return `pages must look like "3" or "1-5", not ${JSON.stringify(given)}.`;
  const from = Number(match[1]);
  const to = match[2] === undefined ? from : match[3] === undefined ? undefined : Number(match[3]);
  if (from === 0) return 'Pages are counted from 1.';
  if (to === undefined) return { from };
  if (to < from) return `pages "${given}" ends before it begins.`;
  if (to - from + 1 > READ_LIMITS.pdf.pagesPerCall) {
    return `pages "${given}" is ${to - from + 1} pages; one call shows at most ${READ_LIMITS.pdf.pagesPerCall}. Ask for "${from}-${from + READ_LIMITS.pdf.pagesPerCall - 1}" first.`;
  }
  return { from, to };
}
