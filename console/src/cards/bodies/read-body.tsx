import { useMemo } from 'react';
import { useText } from '../../text/language.js';
import { languageOfPath } from '../../ui/highlight.js';
import { VisibleText } from '../../ui/visible-text.js';
import { numberedLines, textField } from '../parse/tool-output.js';
import { MediaList } from '../view/media.js';
import { NumberedText } from '../view/numbered-text.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { type BodyProps, Labelled, PlainResult, resultText } from './body.js';
import { GenericBody } from './generic-body.js';

/** Read: lines with their numbers, pictures, documents. */
export function ReadBody(props: BodyProps) {
  const { card, input } = props;
  const text = useText(strings);
  const path = textField(input.value, 'file_path') ?? textField(input.value, 'notebook_path');
  const content = resultText(card.result);
  const lines = useMemo(() => numberedLines(content), [content]);
  if (path === undefined) return <GenericBody {...props} />;
  return (
    <>
      <p className="font-mono text-xs wrap-anywhere">
        <VisibleText text={path} />
      </p>
      {lines === undefined ? (
        <PlainResult card={card} />
      ) : (
        <>
          <Labelled label={text.file} copy={content} copyLabel={text.copyResult}>
            <ScrollArea label={text.file} className="py-1">
              <NumberedText lines={lines} label={text.file} language={languageOfPath(path)} />
            </ScrollArea>
          </Labelled>
          <MediaList blocks={card.result ?? []} />
        </>
      )}
    </>
  );
}
