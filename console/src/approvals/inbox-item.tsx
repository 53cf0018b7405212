import { useId } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { useIdentity } from '../data/identity.js';
import { gatewayTitle } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { formatDuration } from '../ui/format.js';
import { ChevronRightIcon, ClockIcon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { Time } from '../ui/time.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { ApprovalPanel } from './approval-panel.js';
import { TIME, useTimeLeft } from './countdown.js';
import { decidedText, STATE_TONE } from './decided-note.js';
import { inboxStrings } from './inbox-strings.js';
import { putAside } from './later.js';
import { isWholeInItsRow } from './plain-run.js';
import { RiskBadges } from './risk-badges.js';
import { strings } from './strings.js';

interface InboxItemProps {
  approval: ApprovalWire;
  open: boolean;
  onToggle: () => void;
  selected: boolean;
  /** Why it cannot be decided together with others. */
  problem: 'questionAlone' | 'carefulAlone' | 'openFirst' | undefined;
  onSelect: (selected: boolean) => void;
  /** Why a common decision did not reach it. */
  failure: string | undefined;
}

export function InboxItem(props: InboxItemProps) {
  const { approval, open, onToggle, selected, problem, onSelect, failure } = props;
  const language = useLanguage();
  const text = useText(inboxStrings);
  const words = useText(strings);
  const { name } = useIdentity();
  const id = useId();
  const title = makeVisible(approval.hints.title ?? gatewayTitle(approval.describe.title, language));
  const pending = approval.state === 'pending';
  const selectable = pending && problem === undefined;
  const why = problem && text[problem];
  const isWhole = pending && !open && isWholeInItsRow(approval);
  return (
    <li data-inbox-item={approval.id} className="border-t border-line first:border-t-0">
      <div className="flex min-w-0 items-center gap-1 pr-2 pl-3">
        <input
          type="checkbox"
          aria-label={text.select(title)}
          title={pending ? why : undefined}
          checked={selected && pending}
          disabled={!selectable}
          onChange={(event) => onSelect(event.target.checked)}
          className="h-4 w-4 shrink-0 accent-accent disabled:opacity-40"
        />
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? `${id}-panel` : undefined}
          onClick={onToggle}
          className="flex min-h-11 min-w-0 flex-1 cursor-pointer flex-wrap items-center gap-x-2 gap-y-1 rounded px-1.5 py-2 text-left text-sm hover:bg-raised focus-visible:-outline-offset-2"
        >
          <ChevronRightIcon
            size={14}
            className={classes('shrink-0 text-muted transition-transform', open && 'rotate-90')}
          />
          <Badge>{makeVisible(approval.tool)}</Badge>
          {isWhole ? (
            <span className="min-w-0 flex-1 wrap-anywhere max-sm:order-last max-sm:basis-full">
              <code className="block font-mono">
                <VisibleText text={approval.describe.command ?? ''} />
              </code>
              <span className="block text-xs text-muted">
                <VisibleText text={approval.describe.detail ?? ''} />
              </span>
            </span>
          ) : (
            <span className="min-w-0 flex-1 truncate max-sm:order-last max-sm:basis-full">{title}</span>
          )}
          {pending && <RiskBadges risks={approval.risks.filter((risk) => risk !== 'writes')} />}
          {approval.agent !== null && (
            <Badge className="max-w-40">
              {text.subAgent(makeVisible(approval.agent_label ?? approval.agent))}
            </Badge>
          )}
          <span className="text-xs text-muted">
            <Time at={approval.created_at} relative />
          </span>
          {pending && <Left approval={approval} />}
          <Badge tone={STATE_TONE[approval.state]}>
            {pending || approval.decision === null
              ? words.state[approval.state]
              : decidedText(approval, name, words)}
          </Badge>
        </button>
        {pending && <Later approval={approval} title={title} />}
      </div>
      {failure !== undefined && pending && (
        <p role="alert" className="px-3 pb-2 text-xs text-danger">
          {text.batchFailed(failure)}
        </p>
      )}
      {open && (
        <div id={`${id}-panel`} className="border-t border-dashed border-line px-3 py-3">
          <ApprovalPanel approval={approval} />
        </div>
      )}
    </li>
  );
}

function Left({ approval }: { approval: ApprovalWire }) {
  const left = useTimeLeft(approval);
  if (left === undefined) return null;
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 text-xs tabular-nums',
        left < TIME.urgentMs ? 'font-semibold text-danger' : 'text-muted',
      )}
    >
      <ClockIcon size={12} />
      {formatDuration(Math.ceil(left / 1000) * 1000)}
    </span>
  );
}

const MINUTE = 60_000;

function Later({ approval, title }: { approval: ApprovalWire; title: string }) {
  const text = useText(inboxStrings);
  return (
    <Menu
      label={text.laterMenu(title)}
      trigger={
        <Button size="small" variant="ghost">
          {text.later}
        </Button>
      }
      items={[
        { label: text.minutes, onSelect: () => putAside(approval.id, Date.now() + 15 * MINUTE) },
        { label: text.hour, onSelect: () => putAside(approval.id, Date.now() + 60 * MINUTE) },
        { label: text.tomorrow, onSelect: () => putAside(approval.id, tomorrow()) },
      ]}
    />
  );
}

function tomorrow(): number {
  const day = new Date();
  day.setDate(day.getDate() + 1);
  day.setHours(9, 0, 0, 0);
  return day.getTime();
}
