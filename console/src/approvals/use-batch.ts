/** Decides several questions together, of one session or of many: each by the digest of what was shown. */
import { useState } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { decide } from '../data/decisions.js';
import { useText } from '../text/language.js';
import { toast } from '../ui/toast.js';
import { inboxStrings } from './inbox-strings.js';
import { isWholeInItsRow } from './plain-run.js';

type Problem = 'questionAlone' | 'carefulAlone' | 'openFirst';

export interface SharedDecision {
  chosen: readonly ApprovalWire[];
  /** Those that wait and cannot be decided with others as things are. */
  leftOut: number;
  busy: boolean;
  /** Why a common decision did not reach one, by its id. */
  failures: ReadonlyMap<string, string>;
  isSelected(id: string): boolean;
  /** Why it cannot be decided together with others; undefined where it can. */
  problemOf(approval: ApprovalWire): Problem | undefined;
  select(id: string, on: boolean): void;
  selectAll(): void;
  clear(): void;
  decideAll(decision: 'allow' | 'deny'): Promise<void>;
}

/** `looked`: those that were opened at any time. */
export function useBatch(pending: readonly ApprovalWire[], looked: ReadonlySet<string>): SharedDecision {
  const text = useText(inboxStrings);
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, string>>(new Map());
  const [busy, setBusy] = useState(false);
  const problemOf = (approval: ApprovalWire): Problem | undefined => {
    if (approval.question) return 'questionAlone';
    if (approval.hints.default_to_no) return 'carefulAlone';
    return looked.has(approval.id) || isWholeInItsRow(approval) ? undefined : 'openFirst';
  };
  const possible = pending.filter((approval) => problemOf(approval) === undefined);
  const chosen = possible.filter(({ id }) => selection.has(id));
  return {
    chosen,
    leftOut: pending.length - possible.length,
    busy,
    failures,
    problemOf,
    isSelected: (id) => selection.has(id),
    select: (id, on) => {
      const next = new Set(selection);
      if (on) next.add(id);
      else next.delete(id);
      setSelection(next);
    },
    selectAll: () => setSelection(new Set(possible.map(({ id }) => id))),
    clear: () => setSelection(new Set()),
    decideAll: async (decision) => {
      if (busy) return;
      setBusy(true);
      const outcomes = await Promise.all(chosen.map((approval) => decideOne(approval, decision)));
      const missed = outcomes.flatMap(([id, message]): [string, string][] =>
        message === undefined ? [] : [[id, message]],
      );
      setFailures(new Map(missed));
      setSelection(new Set());
      setBusy(false);
      const done = text.batchDone[decision](outcomes.length - missed.length);
      if (missed.length === 0) toast(done, 'ok');
      else toast(`${done} ${text.batchMissed(missed.length)}`, 'danger');
    },
  };
}

/** The item shows its own state; only a failure returns a message. */
async function decideOne(
  approval: ApprovalWire,
  decision: 'allow' | 'deny',
): Promise<[id: string, message: string | undefined]> {
  const result = await decide(approval, { decision });
  return [approval.id, result.kind === 'decided' ? undefined : result.message];
}
