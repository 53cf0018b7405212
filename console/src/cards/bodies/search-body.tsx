import { useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { FileIcon } from '../../ui/icons.js';
import { VisibleText } from '../../ui/visible-text.js';
import { type FileMatches, searchResult, textField } from '../parse/tool-output.js';
import { JsonView } from '../view/json-view.js';
import { NumberedText } from '../view/numbered-text.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { type BodyProps, failed, Labelled, ResultText, resultText } from './body.js';

const SHOWN = { first: 100, more: 1_000 };

/** Grep and Glob: what was found, by file. */
export function SearchBody({ card, input }: BodyProps) {
  const text = useText(strings);
  const mode = card.name === 'Glob' ? '' : (textField(input.value, 'output_mode') ?? 'files_with_matches');
  const content = resultText(card.result);
  const asked = <JsonView value={input.value ?? input.text} label={text.arguments} />;
  if (card.result === undefined || failed(card)) {
    return (
      <>
        <Labelled label={text.arguments}>{asked}</Labelled>
        <ResultText card={card} />
      </>
    );
  }
  const { files, notes } = searchResult(content, mode);
  const label = mode === 'content' ? text.matches : text.files;
  return (
    <>
      <Labelled label={text.arguments}>{asked}</Labelled>
      <Labelled label={label} copy={content} copyLabel={text.copyResult}>
        {files.length === 0 ? (
          <p className="text-xs text-muted">{text.nothingFound}</p>
        ) : (
          <ScrollArea label={label}>
            <Files files={files} withLines={mode === 'content'} />
          </ScrollArea>
        )}
        {notes.map((note) => (
          <p key={note} className="mt-1 text-xs text-muted">
            <VisibleText text={note} />
          </p>
        ))}
      </Labelled>
    </>
  );
}

function Files({ files, withLines }: { files: readonly FileMatches[]; withLines: boolean }) {
  const text = useText(strings);
  const [wanted, setWanted] = useState(SHOWN.first);
  const left = files.length - wanted;
  return (
    <ul className="divide-y divide-line">
      {files.slice(0, wanted).map((file, index) => {
        const key = `${index}`;
        const name = file.path ?? text.inOneFile;
        return (
          <li key={key} className="px-2 py-1">
            <div className="flex min-w-0 items-center gap-1.5 font-mono text-xs">
              <FileIcon size={13} className="shrink-0 text-muted" />
              <span className="min-w-0 flex-1 font-medium wrap-anywhere">
                <VisibleText text={name} />
              </span>
              {(withLines || file.count !== undefined) && (
                <span className="shrink-0 font-sans text-muted">
                  {text.matchCount(file.count ?? file.lines.length)}
                </span>
              )}
            </div>
            {file.lines.length > 0 && <NumberedText lines={file.lines} label={name} />}
          </li>
        );
      })}
      {left > 0 && (
        <li className="px-2 py-1.5">
          <Button size="small" onClick={() => setWanted(wanted + SHOWN.more)}>
            {text.moreEntries(left)}
          </Button>
        </li>
      )}
    </ul>
  );
}
