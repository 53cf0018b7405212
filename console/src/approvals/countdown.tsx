import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { useGatewayClock } from '../cards/view/gateway-clock.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { formatDuration } from '../ui/format.js';
import { ClockIcon } from '../ui/icons.js';
import { strings } from './strings.js';
import type { Deciding } from './use-decision.js';

export const TIME = {
  /** Below this it is highlighted. */
  urgentMs: 2 * 60_000,
  /** With less left, a person who has begun to answer gets the full time again. */
  shortMs: 5 * 60_000,
};

/** Milliseconds, by the gateway's clock; undefined without a clock. */
export function useTimeLeft({ expires_at, state }: ApprovalWire): number | undefined {
  const now = useGatewayClock(expires_at !== null && state === 'pending');
  return expires_at === null ? undefined : Math.max(0, Date.parse(expires_at) - now);
}

export function Countdown({ deciding, canExtend }: { deciding: Deciding; canExtend: boolean }) {
  const text = useText(strings);
  const left = useTimeLeft(deciding.approval);
  if (left === undefined) return <p className="text-xs text-muted">{text.noClock}</p>;
  const urgent = left < TIME.urgentMs;
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
      <span
        data-urgent={urgent}
        className={classes(
          'inline-flex items-center gap-1 tabular-nums',
          urgent ? 'rounded bg-danger-soft px-1.5 py-0.5 font-semibold text-danger' : 'text-muted',
        )}
      >
        <ClockIcon size={14} />
        {left === 0 ? text.timeUp : text.timeLeft(formatDuration(Math.ceil(left / 1000) * 1000))}
      </span>
      {canExtend && (
        <Button size="small" busy={deciding.extending} onClick={() => void deciding.extendNow()}>
          {text.extend}
        </Button>
      )}
      {deciding.extendProblem !== undefined && (
        <span className="text-danger" role="alert">
          {text.extendFailed}: {deciding.extendProblem}
        </span>
      )}
    </div>
  );
}
