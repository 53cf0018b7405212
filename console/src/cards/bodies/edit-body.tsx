import { useMemo } from 'react';
import { useText } from '../../text/language.js';
import { languageOfPath } from '../../ui/highlight.js';
import { VisibleText } from '../../ui/visible-text.js';
import { type DiffRow, rowsOfNew, rowsOfTexts, rowsOfUnified } from '../parse/diff-rows.js';
import { fieldOf, textField } from '../parse/tool-output.js';
import { DiffView } from '../view/diff-view.js';
import { strings } from '../view/strings.js';
import { type BodyProps, failed, Labelled, PlainResult, ResultText, resultText } from './body.js';
import { GenericBody } from './generic-body.js';

interface Drafted {
  rows: DiffRow[];
  /** Of the file itself, not of a piece of it. */
  numbers: boolean;
}

/** What the arguments alone say about the change: the gateway's own diff has the lines around it. */
function draftOf(input: unknown): Drafted | undefined {
  const content = textField(input, 'content');
  if (content !== undefined) return { rows: rowsOfNew(content), numbers: true };
  const source = textField(input, 'new_source');
  if (source !== undefined) return { rows: rowsOfNew(source), numbers: false };
  const edits = fieldOf(input, 'edits');
  const list: unknown[] = Array.isArray(edits) ? edits : [input];
  const rows = list.flatMap((edit, index): DiffRow[] => {
    const before = textField(edit, 'old_string');
    const after = textField(edit, 'new_string');
    if (before === undefined && after === undefined) return [];
    const own = rowsOfTexts(before ?? '', after ?? '');
    return index === 0 ? own : [{ kind: 'gap', text: '' }, ...own];
  });
  return rows.length === 0 ? undefined : { rows, numbers: false };
}

export function EditBody(props: BodyProps) {
  const { card, input } = props;
  const text = useText(strings);
  const path = textField(input.value, 'file_path') ?? textField(input.value, 'notebook_path');
  const { diff } = card;
  const drafted = useMemo(
    () => (diff === undefined ? draftOf(input.value) : { rows: rowsOfUnified(diff), numbers: true }),
    [diff, input.value],
  );
  if (drafted === undefined) return <GenericBody {...props} />;
  const label =
    textField(input.value, 'content') === undefined || diff !== undefined ? text.change : text.newFile;
  return (
    <>
      <Labelled label={label} copy={diff} copyLabel={label}>
        {path !== undefined && (
          <p className="mb-1 font-mono text-xs wrap-anywhere">
            <VisibleText text={path} />
          </p>
        )}
        <DiffView
          rows={drafted.rows}
          label={label}
          numbers={drafted.numbers}
          streaming={input.partial}
          language={languageOfPath(path)}
        />
      </Labelled>
      {failed(card) ? <ResultText card={card} /> : <Said text={resultText(card.result)} />}
      {card.result !== undefined && resultText(card.result) === '' && <PlainResult card={card} />}
    </>
  );
}

/** The diff says it better: only the first line of what the tool answered. */
function Said({ text }: { text: string }) {
  const [first = ''] = text.split('\n');
  return first === '' ? null : (
    <p className="text-xs text-muted wrap-anywhere">
      <VisibleText text={first} />
    </p>
  );
}
