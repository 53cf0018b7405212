/** Lines with the numbers that they have in their file. */
import { useRef, useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { useHighlight } from '../../ui/highlight.js';
import { makeVisible } from '../../ui/visible.js';
import type { NumberedLine } from '../parse/tool-output.js';
import { strings } from './strings.js';

const SHOWN = { first: 200, more: 2_000 };

interface NumberedTextProps {
  lines: readonly NumberedLine[];
  label: string;
  language?: string | undefined;
}

export function NumberedText({ lines, label, language }: NumberedTextProps) {
  const text = useText(strings);
  const [wanted, setWanted] = useState(SHOWN.first);
  const left = lines.length - wanted;
  const table = useRef<HTMLTableElement>(null);
  useHighlight(table, language, `${lines.length} ${wanted}`);
  return (
    <>
      <table ref={table} className="w-full border-collapse font-mono text-xs leading-relaxed">
        <caption className="sr-only">{label}</caption>
        <tbody>
          {lines.slice(0, wanted).map((line, index) => {
            const key = `${index}`;
            return (
              <tr key={key} className={classes(line.context && 'text-muted')}>
                <td className="w-px px-2 text-right align-top text-muted tabular-nums select-none">
                  {line.number}
                </td>
                <td className="pr-3 align-top whitespace-pre-wrap wrap-anywhere">
                  <bdi data-code-line>{makeVisible(line.text)}</bdi>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {left > 0 && (
        <div className="flex flex-wrap items-center gap-2 px-3 py-1.5 text-xs text-muted">
          <span>{text.moreLines(left)}</span>
          <Button size="small" onClick={() => setWanted(wanted + SHOWN.more)}>
            {text.showMore}
          </Button>
          <Button size="small" onClick={() => setWanted(Number.POSITIVE_INFINITY)}>
            {text.showAll}
          </Button>
        </div>
      )}
    </>
  );
}
