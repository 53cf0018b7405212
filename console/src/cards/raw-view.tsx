import { useMemo } from 'react';
import type { ToolCard } from '../data/view.js';
import { useText } from '../text/language.js';
import { Labelled } from './bodies/body.js';
import { strings } from './strings.js';
import { LongText } from './view/long-text.js';
import { ScrollArea } from './view/scroll-area.js';

/** Exactly what the model sent and was given. */
export function RawView({ card }: { card: ToolCard }) {
  const text = useText(strings);
  const input = useMemo(
    () => (card.input === undefined ? card.inputText : JSON.stringify(card.input, null, 2)),
    [card.input, card.inputText],
  );
  const result = useMemo(
    () => (card.result === undefined ? undefined : JSON.stringify(card.result, null, 2)),
    [card.result],
  );
  return (
    <>
      <Labelled label={text.rawInput} copy={input} copyLabel={text.copyInput}>
        <ScrollArea label={text.rawInput}>
          <LongText text={`${card.name} ${card.id}\n${input}`} />
        </ScrollArea>
      </Labelled>
      {result !== undefined && (
        <Labelled label={text.rawResult} copy={result} copyLabel={text.copyResult}>
          <ScrollArea label={text.rawResult}>
            <LongText text={result} />
          </ScrollArea>
        </Labelled>
      )}
    </>
  );
}
