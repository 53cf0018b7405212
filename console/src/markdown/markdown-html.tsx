import { useLayoutEffect, useRef } from 'react';
import { useText } from '../text/language.js';
import { highlightOnce } from '../ui/highlight.js';
import { rendererFor } from './markdown-render.js';
import { strings } from './strings.js';

/** Of the time in which a block streams, parsing it takes at most one part in so many. */
const PACE = 5;

/** One block, as nodes that DOMPurify made. */
export function MarkdownHtml({ source, streaming }: { source: string; streaming: boolean }) {
  const words = useText(strings);
  const box = useRef<HTMLDivElement>(null);
  const notBefore = useRef(0);
  useLayoutEffect(() => {
    let uncolour: (() => void)[] = [];
    const draw = (): void => {
      const began = performance.now();
      box.current?.replaceChildren(rendererFor(words).render(source, streaming));
      uncolour = colour(box.current);
      notBefore.current = performance.now() + (performance.now() - began) * (PACE - 1);
    };
    const wait = notBefore.current - performance.now();
    if (!streaming || wait < FRAME_MS) {
      draw();
      return () => clear(uncolour);
    }
    const timer = setTimeout(draw, wait);
    return () => {
      clearTimeout(timer);
      clear(uncolour);
    };
  }, [words, source, streaming]);
  return <div ref={box} className="md-block" dir="auto" />;
}

const FRAME_MS = 16;

/** Code inside of a list or a quote; other code is a block of its own. */
function colour(box: Element | null): (() => void)[] {
  return [...(box?.querySelectorAll('.md-code') ?? [])].flatMap((each) => {
    const code = each.querySelector('code');
    const language = each.querySelector('.md-code-bar > span')?.textContent ?? '';
    return code === null || language === '' ? [] : [highlightOnce(code, language)];
  });
}

function clear(each: readonly (() => void)[]): void {
  for (const undo of each) undo();
}
