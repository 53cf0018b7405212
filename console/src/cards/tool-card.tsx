/** A call in the flow of a conversation, with its question where one waits. */
import { memo, useDeferredValue, useId, useMemo, useState } from 'react';
import { ApprovalPanel } from '../approvals/approval-panel.js';
import { AskAgain } from '../approvals/ask-again.js';
import { MissingQuestion } from '../approvals/missing-question.js';
import type { CardState, ToolCard } from '../data/reducer/view.js';
import { gatewaySentence } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { classes } from '../ui/classes.js';
import { makeVisible } from '../ui/visible.js';
import { Labelled } from './bodies/body.js';
import { lookOf } from './bodies/table.js';
import { CardHeader } from './card-header.js';
import { STATE_LOOK } from './card-state.js';
import { useApprovalOf } from './known-approvals.js';
import { streamedInput } from './parse/streamed-input.js';
import type { CardProps } from './view/card-props.js';
import { LongText } from './view/long-text.js';
import { choiceOf, keepOpenChoice, openChoice } from './view/open-choice.js';
import { ScrollArea } from './view/scroll-area.js';
import { strings } from './view/strings.js';

export const ToolCardView = memo(function ToolCardView({ card, session, agent }: CardProps) {
  const approval = useApprovalOf(card, session, agent?.id ?? null);
  const state = shownState(card.state, approval?.state);
  const key = choiceOf(session, agent?.id, card.id);
  const [chosen, setChosen] = useState(() => openChoice(key));
  const [raw, setRaw] = useState(false);
  const id = useId();
  const open = chosen ?? STATE_LOOK[state].open;
  const toggle = () => {
    keepOpenChoice(key, !open);
    setChosen(!open);
  };
  return (
    <article
      data-card={card.id}
      data-state={state}
      aria-labelledby={`${id}-title`}
      className={classes(
        'min-w-0 rounded-lg border border-l-[3px] border-line bg-surface text-ink',
        STATE_LOOK[state].edge,
      )}
    >
      <CardHeader
        id={id}
        card={card}
        state={state}
        agent={agent?.label}
        open={open}
        onToggle={toggle}
        raw={raw}
        onRaw={() => setRaw(!raw)}
      />
      {open && (
        <div id={`${id}-body`} className="flex min-w-0 flex-col gap-3 border-t border-line px-3 py-3">
          {approval !== undefined && <ApprovalPanel approval={approval} />}
          {approval === undefined && state === 'waiting' && (
            <MissingQuestion
              session={session}
              call={card.id}
              agent={agent?.id ?? null}
              approval={card.approval}
            />
          )}
          {raw ? (
            <RawView card={card} />
          ) : (
            approval?.state !== 'pending' && (
              <Body card={card} session={session} note={approval === undefined ? state : undefined} />
            )
          )}
          {approval === undefined && <Provenance card={card} state={state} />}
          {approval === undefined && state === 'expired' && (
            <AskAgain call={card.id} session={session} title={card.title ?? card.name} />
          )}
        </div>
      )}
    </article>
  );
});

function Body({
  card,
  session,
  note: state,
}: {
  card: ToolCard;
  session: string;
  note: CardState | undefined;
}) {
  const text = useText(strings);
  // Arguments arrive faster than they can be drawn: intermediate values may be skipped.
  const inputText = useDeferredValue(card.inputText);
  const input = useMemo(() => streamedInput({ input: card.input, inputText }), [card.input, inputText]);
  const { Body: OwnBody } = lookOf(card);
  const note =
    state === 'cancelled' && hasBegun(card)
      ? text.stoppedWhileRunning
      : state === undefined
        ? undefined
        : text.stateNotes[state];
  return (
    <>
      {note !== undefined && <p className="text-xs text-muted">{note}</p>}
      <OwnBody card={card} input={input} session={session} Card={ToolCardView} />
      {card.truncated && <p className="text-xs text-muted">{text.shortened}</p>}
    </>
  );
}

/** Exactly what the model sent and was given. */
function RawView({ card }: { card: ToolCard }) {
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

/** Why it ran or did not, where no approval says it. */
function Provenance({ card, state }: { card: ToolCard; state: CardState }) {
  const text = useText(strings);
  const language = useLanguage();
  if (card.because === undefined || card.because === '') return null;
  const why = makeVisible(gatewaySentence(card.because, language));
  const stopped = state === 'denied' || state === 'expired' || (state === 'cancelled' && !hasBegun(card));
  return (
    <p className="text-xs text-muted wrap-anywhere">
      {stopped ? text.notRunBecause(why) : text.ranBecause(why)}
    </p>
  );
}

const hasBegun = ({ startedAt }: ToolCard): boolean => startedAt !== undefined;

/** Approvals have events of their own, which may arrive before those of the turn. */
function shownState(state: CardState, approval: string | undefined): CardState {
  if (approval === 'pending' && (state === 'pending' || state === 'running')) return 'waiting';
  if (approval !== undefined && approval !== 'pending' && state === 'waiting') {
    if (approval === 'denied' || approval === 'expired' || approval === 'cancelled') return approval;
    return 'pending';
  }
  return state;
}
