/** Plain text out of HTML in one pass: for pages that the converter cannot cope with, and for errors. */

/** Their content is not text of the page. Ends at its own end tag whatever stands between. */
const RAW = ['script', 'style'];

/** Scripts and styles are often most of a page. What is never closed goes up to the end. */
export function withoutRawElements(html: string): string {
  return RAW.reduce(cutElement, html);
}

function cutElement(html: string, name: string): string {
  const start = new RegExp(`<${name}(?=[\\s/>])`, 'gi');
  const end = new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, 'gi');
  let kept = '';
  let from = 0;
  for (let opening = start.exec(html); opening !== null; opening = start.exec(html)) {
    kept += html.slice(from, opening.index);
    end.lastIndex = opening.index;
    const closing = end.exec(html);
    if (closing === null) return kept;
    from = end.lastIndex;
    start.lastIndex = from;
  }
  return kept + html.slice(from);
}

/** Without an end tag of their own, or closed by what follows them: they do not nest by being repeated. */
const NOT_NESTING: ReadonlySet<string> = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'p li td th tr dt dd option optgroup thead tbody tfoot colgroup rt rp html head body a button nobr'
  ).split(' '),
);

/** How deep the elements are nested, at most: an estimate from the tags alone, never too small by much. */
export function nestingDepth(html: string): number {
  let depth = 0;
  let deepest = 0;
  // The look-ahead leaves one way to read a name, so that text without an end is read once.
  for (const [tag, slash, name = ''] of html.matchAll(/<(\/?)([a-z][^\s/<>]*)(?=[\s/>])[^<>]*>/gi)) {
    if (NOT_NESTING.has(name.toLowerCase()) || tag.endsWith('/>')) continue;
    depth = slash === '/' ? Math.max(0, depth - 1) : depth + 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const BLOCK_TAG =
  /<\/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|td|th|title|tr|ul)(?=[\s/>])[^<>]*>/gi;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

export function htmlText(html: string): string {
  return withoutRawElements(html)
    .replace(/<!--[^<>]{0,5000}-->/g, '')
    .replace(BLOCK_TAG, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, decodeEntity)
    .replace(/[ \t\r\f\v]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function decodeEntity(
  whole: string,
  decimal: string | undefined,
  hex: string | undefined,
  name: string | undefined,
): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
