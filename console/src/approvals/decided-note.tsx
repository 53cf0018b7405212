/** The outcome of an approval: who, where, when, why. */
import type { ApprovalWire, DecidedWire } from '../../../src/server/console-api/wire/approvals.js';
import { JsonView } from '../cards/view/json-view.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { useIdentity } from '../data/identity.js';
import { useText } from '../text/language.js';
import { Badge, type Tone } from '../ui/badge.js';
import { Disclosure } from '../ui/disclosure.js';
import { WarnIcon } from '../ui/icons.js';
import { Time } from '../ui/time.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { AskAgain } from './ask-again.js';
import { type ApprovalText, strings } from './strings.js';

export const STATE_TONE: Readonly<Record<ApprovalWire['state'], Tone>> = {
  pending: 'warn',
  allowed: 'ok',
  covered: 'ok',
  denied: 'danger',
  expired: 'warn',
  cancelled: 'plain',
};

/** As the gateway signs what a rule decided. */
const BY_RULE = 'rule';

export function decidedText(approval: ApprovalWire, me: string, text: ApprovalText): string {
  const { decision, state } = approval;
  const who =
    decision === null
      ? ''
      : `${decision.by === me ? text.you : makeVisible(decision.by)}${text.via(makeVisible(decision.via))}`;
  switch (state) {
    case 'allowed':
      return text.allowedBy(who);
    case 'denied':
      return decision === null || decision.by === BY_RULE ? text.deniedByRule : text.deniedBy(who);
    case 'covered':
      return text.coveredBy;
    case 'expired':
      return text.expiredText;
    case 'cancelled':
      return text.cancelledText;
    case 'pending':
      return text.state.pending;
  }
}

interface DecidedNoteProps {
  approval: ApprovalWire;
  done?: DecidedWire | undefined;
  /** The answer that this page sent had no effect. */
  tooLate?: boolean;
}

export function DecidedNote({ approval, done, tooLate = false }: DecidedNoteProps) {
  const text = useText(strings);
  const { name } = useIdentity();
  const { decision, state } = approval;
  return (
    <div className="flex min-w-0 flex-col gap-1.5 text-sm">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={STATE_TONE[state]}>{text.state[state]}</Badge>
        <span className="min-w-0 wrap-anywhere">{decidedText(approval, name, text)}</span>
        {decision !== null && (
          <span className="text-xs text-muted">
            <Time at={decision.at} />
          </span>
        )}
      </p>
      {tooLate && <p className="font-medium text-warn">{text.tooLate}</p>}
      {decision?.reason !== undefined && <Line name={text.withReason} value={decision.reason} />}
      {decision?.rule !== undefined && <Line name={text.withRule} value={decision.rule} />}
      {decision?.updatedInput !== undefined && (
        <Disclosure summary={<span className="text-xs text-muted">{text.changedInput}</span>}>
          <ScrollArea label={text.changedInput} className="p-2">
            <JsonView value={decision.updatedInput} label={text.changedInput} />
          </ScrollArea>
        </Disclosure>
      )}
      {done?.satisfies === false && (
        <p className="flex items-start gap-2 rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
          <WarnIcon size={16} className="mt-0.5 shrink-0 text-warn" />
          <span className="min-w-0 wrap-anywhere">
            {text.ruleFails}
            {done.satisfies_problem === undefined ? '.' : `: ${makeVisible(done.satisfies_problem)}`}
          </span>
        </p>
      )}
      {done !== undefined && done.released.length > 0 && (
        <p className="text-xs text-muted">{text.released(done.released.length)}</p>
      )}
      {done !== undefined && done.refused.length > 0 && (
        <p className="text-xs text-muted">{text.refused(done.refused.length)}</p>
      )}
      {state === 'expired' && (
        <AskAgain call={approval.id} session={approval.session} title={approval.describe.title} />
      )}
    </div>
  );
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <p className="text-xs wrap-anywhere">
      <span className="text-muted">{name}: </span>
      <VisibleText text={value} />
    </p>
  );
}
