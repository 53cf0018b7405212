/** What every body of a card is made of. */
import type { ComponentType, ReactNode } from 'react';
import type { BlockWire } from '../../../../src/activity/wire.js';
import type { ToolCard } from '../../data/reducer/view.js';
import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy-button.js';
import type { StreamedInput } from '../parse/streamed-input.js';
import type { CardProps } from '../view/card-props.js';
import { LongText } from '../view/long-text.js';
import { MediaList } from '../view/media.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';

export interface BodyProps {
  card: ToolCard;
  input: StreamedInput;
  session: string;
  /** Draws a call of a sub-agent. A card has a body, so the body cannot import the card. */
  Card: ComponentType<CardProps>;
}

/** The text of a result, without pictures. */
export function resultText(result: readonly BlockWire[] | undefined): string {
  return (result ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

export function failed({ state }: ToolCard): boolean {
  return state === 'error' || state === 'denied' || state === 'expired' || state === 'cancelled';
}

export function Labelled({
  label,
  copy,
  copyLabel,
  children,
}: {
  label: string;
  copy?: string | undefined;
  copyLabel?: string | undefined;
  children: ReactNode;
}) {
  return (
    <div className="min-w-0">
      <div className="mb-1 flex min-h-6 items-center justify-between gap-2">
        <h4 className="text-xs font-semibold text-muted">{label}</h4>
        {copy !== undefined && copy !== '' && <CopyButton text={copy} label={copyLabel ?? label} />}
      </div>
      {children}
    </div>
  );
}

/** The text of a result as it is; an error is highlighted. */
export function ResultText({ card, text: shown }: { card: ToolCard; text?: string }) {
  const text = useText(strings);
  const content = shown ?? resultText(card.result);
  const bad = failed(card);
  if (content === '') return null;
  return (
    <Labelled label={bad ? text.error : text.result} copy={content} copyLabel={text.copyResult}>
      <ScrollArea
        label={bad ? text.error : text.resultText}
        className={classes(bad && 'border-danger/40 bg-danger-soft')}
      >
        <LongText text={content} />
      </ScrollArea>
    </Labelled>
  );
}

/** Everything of a result that no special view has shown. */
export function PlainResult({ card }: { card: ToolCard }) {
  const text = useText(strings);
  if (card.result === undefined) return null;
  const empty = card.result.length === 0 || (resultText(card.result) === '' && card.result.length === 1);
  return (
    <>
      <ResultText card={card} />
      <MediaList blocks={card.result} />
      {empty && !card.result.some(({ type }) => type === 'image' || type === 'document') && (
        <p className="text-xs text-muted">{text.noOutput}</p>
      )}
    </>
  );
}
