/** Output of a command: its end first, the rest on demand. */
import { useMemo, useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { type TerminalLine, terminalLines } from '../parse/ansi.js';
import { ScrollArea } from './scroll-area.js';
import { strings } from './strings.js';
import './terminal.css';

/** Lines at first, and with each further step; a line of one piece that is longer is cut up to be drawn. */
const SHOWN = { first: 400, more: 2_000, block: 100 };
/** What is out of sight is not drawn; its height is that of a block of single lines. */
const LAZY = '[contain-intrinsic-size:auto_2000px] [content-visibility:auto]';
/** Of the end of a long output this much is read at first. */
const FIRST_CHARS = 120_000;

export function TerminalView({ output, label }: { output: string; label: string }) {
  const text = useText(strings);
  const [wanted, setWanted] = useState(SHOWN.first);
  const cut = wanted === SHOWN.first && output.length > FIRST_CHARS;
  const lines = useMemo(() => terminalLines(cut ? endOf(output) : output), [cut, output]);
  const shown = lines.slice(-wanted);
  const left = lines.length - shown.length;
  const blocks = blocksOf(shown);
  return (
    <ScrollArea label={label} className="tg-terminal">
      {(left > 0 || cut) && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5 text-xs text-muted">
          <span>{cut ? text.showsEnd : text.earlierLines(left)}</span>
          <Button size="small" onClick={() => setWanted(wanted + SHOWN.more)}>
            {text.showEarlier}
          </Button>
          <Button size="small" onClick={() => setWanted(Number.POSITIVE_INFINITY)}>
            {text.showAll}
          </Button>
        </div>
      )}
      <pre className="w-full px-3 py-2 font-mono text-xs leading-relaxed whitespace-pre-wrap wrap-anywhere">
        <bdi>
          {blocks.map((block, index) => {
            const key = `${lines.length - index}`;
            return <Block key={key} lines={block} lazy={blocks.length > 1} />;
          })}
        </bdi>
      </pre>
    </ScrollArea>
  );
}

function Block({ lines, lazy }: { lines: readonly TerminalLine[]; lazy: boolean }) {
  return (
    <span className={classes('block', lazy && LAZY)}>
      {lines.map((line, index) => {
        const key = `${index}`;
        return (
          <span key={key}>
            {line.map((span, position) => {
              const spanKey = `${position}`;
              return span.classes === '' ? (
                span.text
              ) : (
                <span key={spanKey} className={span.classes}>
                  {span.text}
                </span>
              );
            })}
            {'\n'}
          </span>
        );
      })}
    </span>
  );
}

function blocksOf(lines: readonly TerminalLine[]): TerminalLine[][] {
  const blocks: TerminalLine[][] = [];
  for (let at = 0; at < lines.length; at += SHOWN.block) blocks.push(lines.slice(at, at + SHOWN.block));
  return blocks;
}

function endOf(output: string): string {
  const end = output.slice(-FIRST_CHARS);
  const line = end.indexOf('\n');
  return line < 0 ? end : end.slice(line + 1);
}
