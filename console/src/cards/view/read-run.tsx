/** A run of calls that only looked at something, as one line that opens. */
import { type ComponentType, useLayoutEffect, useRef, useState } from 'react';
import type { ToolCard } from '../../data/reducer/view.js';
import { useText } from '../../text/language.js';
import { Disclosure } from '../../ui/disclosure.js';
import { countReads } from '../parse/reads.js';
import type { CardProps } from './card-props.js';
import { choiceOf, keepOpenChoice, openChoice } from './open-choice.js';
import { strings } from './strings.js';

interface ReadRunProps extends Omit<CardProps, 'card'> {
  cards: readonly ToolCard[];
  /** Draws one of them. */
  Card: ComponentType<CardProps>;
}

export function ReadRun({ cards, session, agent, Card }: ReadRunProps) {
  const text = useText(strings);
  const own = useRef<HTMLDivElement>(null);
  const key = `${choiceOf(session, agent?.id, cards[0]?.id ?? '')} run`;
  const [open, setOpen] = useState(() => openChoice(key) ?? false);
  const [seen, setSeen] = useState(() => (openChoice(key) === undefined ? 0 : cards.length));
  const [focused, setFocused] = useState<string>();
  // A card that a person has opened, or is at, is not taken from them when its run is folded.
  if (seen !== cards.length) {
    setSeen(cards.length);
    const added = cards.slice(seen);
    const held = added.find(({ id }) => id === focusedCall());
    setFocused(held?.id);
    if (held !== undefined || added.some(({ id }) => openChoice(choiceOf(session, agent?.id, id)) === true))
      setOpen(true);
  }
  // The run draws the card anew, and its focus would fall to the page.
  useLayoutEffect(() => {
    if (focused === undefined) return;
    own.current?.querySelector<HTMLElement>(`[data-card="${CSS.escape(focused)}"] button`)?.focus();
  }, [focused]);
  return (
    <div ref={own} data-reads={cards.length}>
      <Disclosure
        className="text-muted"
        open={open}
        onToggle={(next) => {
          keepOpenChoice(key, next);
          setOpen(next);
        }}
        summary={text.reads(countReads(cards))}
      >
        <div className="mt-1 ml-1.5 flex flex-col gap-2 border-l-2 border-line pl-4 max-sm:pl-2">
          {cards.map((card) => (
            <Card key={card.id} card={card} session={session} agent={agent} />
          ))}
        </div>
      </Disclosure>
    </div>
  );
}

function focusedCall(): string | undefined {
  return document.activeElement?.closest<HTMLElement>('[data-card]')?.dataset['card'];
}
