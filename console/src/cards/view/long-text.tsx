/** Text of any length: all of it is in the page, but what is out of sight costs nothing to draw. */
import { useMemo } from 'react';
import { classes } from '../../ui/classes.js';
import { VisibleText } from '../../ui/visible-text.js';

/** A guess for what is not drawn yet, so that the bar of the scroll area does not jump. */
const LINE_PX = 20;
const WIDTH_CHARS = 90;

const BLOCK_LINES = 100;
const BLOCK_CHARS = 16_000;

/** Blocks break at the ends of lines; a line is never cut. */
function blocksOf(text: string): string[] {
  if (text.length <= BLOCK_CHARS) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let chars = 0;
  for (const line of text.split('\n')) {
    lines.push(line);
    chars += line.length + 1;
    if (lines.length >= BLOCK_LINES || chars >= BLOCK_CHARS) {
      blocks.push(lines.join('\n'));
      lines = [];
      chars = 0;
    }
  }
  if (lines.length > 0) blocks.push(lines.join('\n'));
  return blocks;
}

export function LongText({
  text,
  wrap = true,
  className,
}: {
  text: string;
  wrap?: boolean;
  className?: string;
}) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <pre
      className={classes(
        'w-fit min-w-full px-3 py-2 font-mono text-xs leading-relaxed',
        wrap && 'w-full whitespace-pre-wrap wrap-anywhere',
        className,
      )}
    >
      {blocks.map((block, index) => {
        const key = `${index}`;
        return blocks.length === 1 ? (
          <VisibleText key={key} text={block} />
        ) : (
          <span key={key} className="block [content-visibility:auto]" style={heightOf(block)}>
            <VisibleText text={block} />
            {'\n'}
          </span>
        );
      })}
    </pre>
  );
}

function heightOf(block: string): { containIntrinsicSize: string } {
  const lines = block.split('\n').reduce((sum, line) => sum + Math.ceil((line.length + 1) / WIDTH_CHARS), 0);
  return { containIntrinsicSize: `auto ${lines * LINE_PX}px` };
}
