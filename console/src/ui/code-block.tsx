import { useRef } from 'react';
import { useText } from '../text/language.js';
import { classes } from './classes.js';
import { CopyButton } from './copy-button.js';
import { useHighlight } from './highlight.js';
import { scrollRegion } from './scroll-region.js';
import { strings } from './strings.js';
import { VisibleText } from './visible-text.js';

interface CodeBlockProps {
  text: string;
  /** What it is: the name of the region that scrolls, and of what is copied. */
  label: string;
  language?: string | undefined;
  wrap?: boolean | undefined;
  /** Shows `label` in a bar above the text. */
  title?: boolean | undefined;
  /** A class for the greatest height, such as `max-h-80`; without one it is as high as its text. */
  maxHeight?: string | undefined;
  copy?: boolean | undefined;
}

/** Scrolls in itself, by keyboard too, and shows characters that could not be seen. */
export function CodeBlock({
  text,
  label,
  language,
  wrap = false,
  title = false,
  maxHeight,
  copy = true,
}: CodeBlockProps) {
  const words = useText(strings);
  const code = useRef<HTMLElement>(null);
  useHighlight(code, language, text);
  return (
    <div className="group/code relative min-w-0 overflow-hidden rounded-md border border-line bg-code">
      {title && (
        <div className="flex min-h-9 items-center justify-between gap-2 border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
          <span className="min-w-0 truncate font-medium">{label}</span>
          {copy && <CopyButton text={text} label={words.copyOf(label)} />}
        </div>
      )}
      {!title && copy && (
        <div className="absolute top-1 right-1 z-10 rounded-md bg-code opacity-0 transition-opacity group-focus-within/code:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100">
          <CopyButton text={text} label={words.copyOf(label)} />
        </div>
      )}
      <div
        {...scrollRegion(label)}
        className={classes('overflow-auto focus-visible:-outline-offset-2', maxHeight)}
      >
        <pre
          className={classes(
            'w-fit min-w-full p-3 font-mono text-xs leading-relaxed text-ink',
            wrap && 'w-full break-words whitespace-pre-wrap',
          )}
        >
          <code ref={code} data-language={language}>
            <VisibleText text={text} />
          </code>
        </pre>
      </div>
    </div>
  );
}
