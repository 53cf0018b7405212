/** One decision at a time, and what became of it. */
import { useRef, useState } from 'react';
import type {
  AnswerWire,
  ApprovalWire,
  DecidedWire,
} from '../../../src/server/console-api/wire/approvals.js';
import { type DecisionResult, decide, extend } from '../data/decisions.js';
import { useText } from '../text/language.js';
import { toast } from '../ui/toast.js';
import { makeVisible } from '../ui/visible.js';
import { dropDraft } from './drafts.js';
import { strings } from './strings.js';

type Answer = Omit<AnswerWire, 'digest'>;

interface Problem {
  kind: 'refused' | 'changed';
  message: string;
  param: string | null;
}

export interface Deciding {
  /** The approval in its last known state. */
  approval: ApprovalWire;
  busy: boolean;
  /** What was last sent from here, until it was refused. */
  sent: Answer | undefined;
  problem: Problem | undefined;
  /** What the gateway said to this page's own decision. */
  done: DecidedWire | undefined;
  send: (answer: Answer) => Promise<DecisionResult | undefined>;
  extending: boolean;
  extendNow: () => Promise<void>;
  extendProblem: string | undefined;
}

export function useDecision(given: ApprovalWire): Deciding {
  const text = useText(strings);
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<Answer>();
  const [problem, setProblem] = useState<Problem>();
  const [done, setDone] = useState<DecidedWire>();
  const [newer, setNewerOf] = useState<{ approval: ApprovalWire; over: string }>();
  const setNewer = (next: ApprovalWire) => setNewerOf({ approval: next, over: given.digest });
  const [extending, setExtending] = useState(false);
  const [extendProblem, setExtendProblem] = useState<string>();
  // Two presses within one frame see the same state of the component.
  const underway = useRef(false);

  // An event after the answer is newer.
  const approval = newest(given, newer?.over === given.digest ? newer.approval : undefined, done);

  const send = async (answer: Answer): Promise<DecisionResult | undefined> => {
    if (underway.current || approval.state !== 'pending') return undefined;
    underway.current = true;
    setBusy(true);
    setSent(answer);
    setProblem(undefined);
    const result = await decide(approval, answer);
    underway.current = false;
    setBusy(false);
    // The card of a finished call closes, and its content is out of sight.
    if ('approval' in result && isTooLate(answer, result.approval))
      toast(`${text.tooLate} ${makeVisible(approval.describe.title)}`, 'danger');
    switch (result.kind) {
      case 'decided':
        setDone(result.decided);
        dropDraft(approval.id);
        break;
      case 'changed':
        setSent(undefined);
        setNewer(result.approval);
        setProblem({ kind: 'changed', message: result.message, param: null });
        break;
      case 'already':
      case 'expired':
        setNewer(result.approval);
        break;
      case 'refused':
        setSent(undefined);
        setProblem({ kind: 'refused', message: result.message, param: result.param });
        break;
    }
    return result;
  };

  const extendNow = async (): Promise<void> => {
    if (extending) return;
    setExtending(true);
    const result = await extend(approval);
    setExtending(false);
    setExtendProblem(result.kind === 'refused' ? result.message : undefined);
    if (result.kind === 'decided') setNewer(result.decided);
    else if (result.kind !== 'refused') setNewer(result.approval);
  };

  return { approval, busy, sent, problem, done, send, extending, extendNow, extendProblem };
}

/** Another person decided the opposite, or the approval had ended. */
export function isTooLate(sent: Answer | undefined, { state }: ApprovalWire): boolean {
  if (sent === undefined || state === 'pending') return false;
  return sent.decision === 'allow' ? state !== 'allowed' && state !== 'covered' : state !== 'denied';
}

/** Events and answers arrive in any order: a decided state is final, and the later expiry wins. */
function newest(given: ApprovalWire, ...others: readonly (ApprovalWire | undefined)[]): ApprovalWire {
  return others.reduce<ApprovalWire>((best, other) => {
    if (other === undefined || other.id !== best.id) return best;
    if (best.state !== 'pending') return best;
    if (other.state !== 'pending') return other;
    if (other.digest !== best.digest) return other;
    return (other.expires_at ?? '') > (best.expires_at ?? '') ? other : best;
  }, given);
}
