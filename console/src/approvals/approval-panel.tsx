/** A question about a call: what it would do, and the buttons that answer it. */
import { useEffect, useId, useRef, useState } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { serverFormOf } from '../cards/parse/server-form.js';
import { useIdentity } from '../data/identity.js';
import { useConsole } from '../data/store.js';
import { useLanguage, useText } from '../text/language.js';
import { CopyButton } from '../ui/copy-button.js';
import { ErrorNote } from '../ui/error-note.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { ButtonRow } from './button-row.js';
import { Choices } from './choices.js';
import { Countdown, TIME, useTimeLeft } from './countdown.js';
import { DecidedNote } from './decided-note.js';
import { DenyForm, type FormProps } from './deny-form.js';
import { type Draft, typedIn, useDraft } from './drafts.js';
import { EditForm } from './edit-form.js';
import { titleOf } from './plain-run.js';
import { PlanForm } from './plan-form.js';
import { QuestionForm } from './question-form.js';
import { RuleForm } from './rule-form.js';
import { ServerForm } from './server-form.js';
import { strings } from './strings.js';
import { type Deciding, isTooLate, useDecision } from './use-decision.js';
import { WhatItDoes } from './what-it-does.js';

export function ApprovalPanel({ approval: given }: { approval: ApprovalWire }) {
  const text = useText(strings);
  const deciding = useDecision(given);
  const [draft, change] = useDraft(given.id);
  const { approval } = deciding;
  const pending = approval.state === 'pending';
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useFocusAfterDecision(panel, pending);
  const language = useLanguage();
  const { title, isSaidBelow } = titleOf(approval, language);
  return (
    <section
      ref={panel}
      tabIndex={-1}
      data-approval={approval.id}
      data-approval-state={approval.state}
      aria-labelledby={`${id}-title`}
      className="flex min-w-0 flex-col gap-2 outline-none"
    >
      <h3
        id={`${id}-title`}
        className={pending && !isSaidBelow ? 'text-sm font-semibold wrap-anywhere' : 'sr-only'}
      >
        <span className="block text-xs font-normal text-muted">{heading(approval, text)}</span>
        {makeVisible(title)}
      </h3>
      {pending ? (
        <Waiting deciding={deciding} draft={draft} change={change} />
      ) : (
        <>
          <DecidedNote
            approval={approval}
            done={deciding.done}
            tooLate={isTooLate(deciding.sent, approval)}
          />
          <Typed draft={draft} />
        </>
      )}
    </section>
  );
}

function Waiting({ deciding, draft, change }: FormProps) {
  const text = useText(strings);
  const { approval, problem } = deciding;
  const may = useIdentity().can('approve');
  const lost = useConsole((state) => state.connection === 'lost');
  useAutoExtend(deciding, draft);
  const plan = approval.question && approval.tool === 'ExitPlanMode';
  const form = serverFormOf(approval.describe);
  const question = approval.question && !plan && form === undefined;
  return (
    <>
      {question || plan || form !== undefined ? (
        <Countdown deciding={deciding} canExtend={may} />
      ) : (
        <WhatItDoes approval={approval} aside={<Countdown deciding={deciding} canExtend={may} />} />
      )}
      {lost && <p className="text-xs text-warn">{text.lost}</p>}
      <OnItsWay deciding={deciding} lost={lost} />
      {problem !== undefined && (
        <ErrorNote
          title={text.decisionFailed}
          message={problem.kind === 'changed' ? text.changed : problem.message}
        />
      )}
      {!may && <p className="text-sm text-muted">{text.mayNot}</p>}
      {may && plan && <PlanForm deciding={deciding} draft={draft} change={change} />}
      {may && form !== undefined && <ServerForm deciding={deciding} form={form} />}
      {may && question && <QuestionForm deciding={deciding} draft={draft} change={change} />}
      {may && !approval.question && <Answers deciding={deciding} draft={draft} change={change} />}
    </>
  );
}

/** After this delay the pending answer is shown, so that the press does not seem lost. */
const SLOW_MS = 1_000;

function OnItsWay({ deciding: { busy, sent }, lost }: { deciding: Deciding; lost: boolean }) {
  const text = useText(strings);
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [busy]);
  if (!busy || sent === undefined || !(slow || lost)) return null;
  return (
    <p role="status" className="text-sm font-medium">
      {text.sending[sent.decision]}
    </p>
  );
}

/** A form opens with the focus in its first field; Escape goes back to the button that opened it. */
function Answers(props: FormProps) {
  const { draft, change } = props;
  const { mode } = draft;
  const row = useRef<HTMLDivElement>(null);
  const before = useRef(mode);
  useEffect(() => {
    const was = before.current;
    before.current = mode;
    if (was === mode || !isFocusNowhere()) return;
    // Never a button that decides: a key that is held down would press it.
    const target = mode === 'buttons' ? `[data-opens="${was}"]` : 'textarea, input, select';
    const found = row.current?.querySelector<HTMLElement>(target);
    (found ?? row.current?.closest<HTMLElement>('[data-approval]'))?.focus({ preventScroll: true });
  }, [mode]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the key on its way up.
    <div
      ref={row}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || mode === 'buttons' || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        change({ mode: 'buttons' });
      }}
    >
      <AnswerForm {...props} />
    </div>
  );
}

/** What had it was removed. */
function isFocusNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function AnswerForm(props: FormProps) {
  switch (props.draft.mode) {
    case 'deny':
      return <DenyForm {...props} />;
    case 'always':
      return <RuleForm {...props} />;
    case 'edit':
      return <EditForm {...props} />;
    case 'buttons':
      return <Buttons {...props} />;
  }
}

function Buttons({ deciding, change }: FormProps) {
  return <ButtonRow>{(guard) => <Choices deciding={deciding} change={change} guard={guard} />}</ButtonRow>;
}

/** Another person decided first: the typed text stays and can be copied. */
function Typed({ draft }: { draft: Draft }) {
  const text = useText(strings);
  const typed = typedIn(draft);
  if (typed === '') return null;
  return (
    <div className="rounded-md border border-line bg-bg px-3 py-2 text-sm">
      <p className="text-xs text-muted">{text.elsewhere}</p>
      <div className="mt-1 flex items-center justify-between gap-2">
        <p className="text-xs font-semibold text-muted">{text.typed}</p>
        <CopyButton text={typed} label={text.copyTyped} />
      </div>
      <p className="max-h-40 overflow-auto whitespace-pre-wrap wrap-anywhere">
        <VisibleText text={typed} />
      </p>
    </div>
  );
}

const extendedOnce = new Set<string>();

/** Extends the time once, when little of it is left and the person has begun to answer. */
function useAutoExtend({ approval, extending, extendNow }: Deciding, draft: Draft): void {
  const left = useTimeLeft(approval);
  const begun = draft.mode !== 'buttons';
  const short = left !== undefined && left > 0 && left < TIME.shortMs;
  useEffect(() => {
    // A pending extension may suffice or fail: the effect runs again after it.
    if (!begun || !short || extending || extendedOnce.has(approval.id)) return;
    extendedOnce.add(approval.id);
    void extendNow();
  });
}

/** The pressed button is unmounted, so the focus moves to the card and keyboard users stay on it. */
function useFocusAfterDecision(panel: React.RefObject<HTMLElement | null>, pending: boolean): void {
  const within = useRef(false);
  useEffect(() => {
    const element = panel.current;
    if (element === null) return;
    const enter = () => {
      within.current = true;
    };
    const leave = (event: FocusEvent) => {
      // A removed element loses the focus without a new target.
      if (event.relatedTarget !== null) within.current = false;
    };
    element.addEventListener('focusin', enter);
    element.addEventListener('focusout', leave);
    return () => {
      element.removeEventListener('focusin', enter);
      element.removeEventListener('focusout', leave);
    };
  }, [panel]);
  useEffect(() => {
    if (pending || !within.current) return;
    if (isFocusNowhere()) panel.current?.focus({ preventScroll: true });
  }, [panel, pending]);
}

function heading({ question, tool, agent, agent_label }: ApprovalWire, text: (typeof strings)['en']): string {
  if (question) return tool === 'ExitPlanMode' ? text.planTitle : text.questionTitle;
  if (agent === null) return text.asks;
  return text.asksAgent(makeVisible(agent_label ?? agent));
}
