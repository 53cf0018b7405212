/** The gate: rules first, then a person where they say `ask`, and a line in the audit log of each. */
import type { Store } from '../../store/store.js';
import type { ApprovalCoordinator } from '../approvals.js';
import type { Effect } from '../effects.js';
import type { GatedToolCall, PermissionGate, Verdict } from '../gate.js';
import { createAuditTrail } from './audit.js';
import { cancelled, refuse } from './conclude.js';
import { furtherId } from './identity.js';
import type { Judge, PermissionLog } from './judge.js';
import { deniedByRules } from './messages.js';
import { RuleCache } from './rule-cache.js';

interface GateOptions {
  policy: Judge;
  coordinator: Pick<ApprovalCoordinator, 'ask'> & Partial<Pick<ApprovalCoordinator, 'usedUp'>>;
  store: Pick<Store, 'rules' | 'audit'>;
  log: PermissionLog;
}

export function createGate({ policy, coordinator, store, log }: GateOptions): PermissionGate {
  const book = new RuleCache(store.rules, policy, (rule) => coordinator.usedUp?.(rule));
  const trail = createAuditTrail(store.audit, log);

  /** `asked`: the same call, as the coordinator is to know it. */
  async function verdictOn(call: GatedToolCall, asked: GatedToolCall): Promise<Verdict> {
    if (call.signal.aborted) return cancelled(call);
    // A question is put to a person whatever allows it, so it must not use up a rule.
    const decision = await (call.question ? book.judge(call) : book.admit(call));
    if (decision.behaviour === 'deny') {
      return refuse('denied', deniedByRules(call, decision), decision.because);
    }
    if (decision.behaviour === 'allow' && !call.question) {
      return { allowed: true, input: call.input, because: decision.because };
    }
    return coordinator.ask(asked, decision);
  }

  async function audited(call: GatedToolCall, asked: GatedToolCall): Promise<Verdict> {
    const verdict = await verdictOn(call, asked);
    trail.record(call, verdict);
    return verdict;
  }

  return {
    check: (call) => audited(call, call),
    checkFurther: (call) => audited(call, asFurther(call)),
    judge: (call) => book.judge(call),
    readable: (location, session) => book.readable(location, session),
    hidden: (location, session, options) => book.hidden(location, session, options),
  };
}

/** The call runs already: what came up is asked about under a name of its own, and its input is what it is. */
function asFurther(call: GatedToolCall): GatedToolCall {
  const { describe } = call;
  const came = `While it ran, it came to ${call.effects.map(effectText).join(', ')}.`;
  return {
    ...call,
    toolUseId: furtherId(call),
    describe: { ...describe, detail: describe.detail === undefined ? came : `${came}\n${describe.detail}` },
    revise: async () => ({ problem: 'The call is running: its input can no longer be changed.' }),
  };
}

function effectText(effect: Effect): string {
  switch (effect.kind) {
    case 'read':
      return `read ${effect.path}${effect.tree ? ' and everything below' : ''}`;
    case 'edit':
      return `change ${effect.path}`;
    case 'fetch':
      return `fetch ${effect.url}`;
    case 'command':
      return `run ${effect.command}`;
  }
}
