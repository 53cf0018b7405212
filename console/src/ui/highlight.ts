/**
 * Colours for code that is in the page already: ranges over its text, and no nodes of its own. A browser
 * without such ranges shows the same text in one colour. The grammars are fetched with the first code.
 */
import { type RefObject, useEffect } from 'react';
import type { ScopeRange } from './highlight-grammars.js';

/** Longer code stays as it is: it would hold up the page. */
const MOST_CHARS = 60_000;
/** Lines of a table, where the code is in one. */
const LINES = '[data-code-line]';

/** `language`: its name, or the end of a file's name. `text`: the colours are made anew where it is another. */
export function useHighlight(
  box: RefObject<Element | null>,
  language: string | undefined,
  text: unknown,
): void {
  useEffect(() => {
    const element = box.current;
    if (element === null || language === undefined || language === '') return;
    // Whatever has changed about the text, its nodes are others.
    void text;
    return highlightOnce(element, language);
  }, [box, language, text]);
}

/** Colours code that is not React's, once; its nodes have to stay as they are. Returns what takes the colours away. */
export function highlightOnce(code: Element, language: string): () => void {
  if (!isSupported()) return () => {};
  let ranges: [scope: string, range: Range][] = [];
  let wanted = true;
  void paint(code, language).then((made) => {
    if (!wanted) return;
    ranges = made;
    for (const [scope, range] of ranges) highlightOf(scope).add(range);
  });
  return () => {
    wanted = false;
    for (const [scope, range] of ranges) highlightOf(scope).delete(range);
  };
}

/** The language of a file, by the end of its name. */
export function languageOfPath(path: string | undefined): string | undefined {
  const name = path?.slice(path.lastIndexOf('/') + 1).toLowerCase() ?? '';
  if (name === 'dockerfile' || name === 'makefile') return name;
  const end = name.lastIndexOf('.');
  return end <= 0 ? undefined : name.slice(end + 1);
}

function isSupported(): boolean {
  return typeof CSS !== 'undefined' && 'highlights' in CSS;
}

function highlightOf(scope: string): Highlight {
  const name = `code-${scope}`;
  const known = CSS.highlights.get(name);
  if (known !== undefined) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}

async function paint(element: Element, language: string): Promise<[string, Range][]> {
  const nodes = textNodes(element);
  const code = nodes.map(({ text }) => text).join('');
  if (code.length > MOST_CHARS) return [];
  try {
    const { scopesOf } = await import('./highlight-grammars.js');
    return rangesOf(nodes, scopesOf(code, language));
  } catch {
    // Without a network it stays in one colour.
    return [];
  }
}

interface PlacedNode {
  /** Undefined for the break between two lines of a table. */
  node: Text | undefined;
  text: string;
  from: number;
}

function textNodes(element: Element): PlacedNode[] {
  const lines = [...element.querySelectorAll(LINES)];
  const placed: PlacedNode[] = [];
  let from = 0;
  const put = (node: Text | undefined, text: string): void => {
    placed.push({ node, text, from });
    from += text.length;
  };
  for (const line of lines.length === 0 ? [element] : lines) {
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (node instanceof Text) put(node, node.data);
    if (lines.length > 0) put(undefined, '\n');
  }
  return placed;
}

function rangesOf(nodes: readonly PlacedNode[], scopes: readonly ScopeRange[]): [string, Range][] {
  const ranges: [string, Range][] = [];
  let at = 0;
  for (const { scope, from, to } of scopes) {
    while (at < nodes.length && endOf(nodes[at]) <= from) at += 1;
    for (let index = at; index < nodes.length; index += 1) {
      const placed = nodes[index];
      if (placed === undefined || placed.from >= to) break;
      const { node } = placed;
      // React may have changed it meanwhile: then the colours are made anew.
      if (node === undefined || node.data !== placed.text) continue;
      const range = new Range();
      range.setStart(node, Math.max(0, from - placed.from));
      range.setEnd(node, Math.min(placed.text.length, to - placed.from));
      ranges.push([scope, range]);
    }
  }
  return ranges;
}

function endOf(placed: PlacedNode | undefined): number {
  return placed === undefined ? 0 : placed.from + placed.text.length;
}
