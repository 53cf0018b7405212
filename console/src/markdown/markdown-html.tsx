import { useLayoutEffect, useRef } from 'react';
import { useText } from '../text/language.js';
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
    const draw = (): void => {
      const began = performance.now();
      box.current?.replaceChildren(rendererFor(words).render(source, streaming));
      notBefore.current = performance.now() + (performance.now() - began) * (PACE - 1);
    };
    const wait = notBefore.current - performance.now();
    if (!streaming || wait < FRAME_MS) {
      draw();
      return;
    }
    const timer = setTimeout(draw, wait);
    return () => clearTimeout(timer);
  }, [words, source, streaming]);
  return <div ref={box} className="md-block" dir="auto" />;
}

const FRAME_MS = 16;
