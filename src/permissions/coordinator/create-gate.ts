/** The gate: rules first, then a person where they say `ask`, and a line in the audit log of each. */
import type { NewAuditEntry } from '../../store/audit.js';
import type { Store } from '../../store/store.js';
import type { ApprovalCoordinator } from '../approvals.js';
import type { Effect } from '../decision.js';
import type { GatedToolCall, PermissionGate, Verdict, VerdictReason } from '../gate.js';
import { cancelled, deniedByRules, refuse } from './conclude.js';
import { furtherId } from './identity.js';
import { type Judge, type PermissionLog, RuleCache } from './rule-cache.js';
import { FACTS_CHARS, factsOf } from './shown.js';
import { ToolPins } from './tool-pins.js';

interface GateOptions {
  policy: Judge;
  coordinator: Pick<ApprovalCoordinator, 'ask' | 'isAnswered' | 'usedUp'>;
  store: Pick<Store, 'rules' | 'audit' | 'mcp' | 'sessions'>;
  log: PermissionLog;
  /** Where those who watch sessions hear of it; by default the store alone knows. */
  leavePlan?: PermissionGate['leavePlan'] | undefined;
}

export function createGate({ policy, coordinator, store, log, leavePlan }: GateOptions): PermissionGate {
  const ruleCache = new RuleCache(store.rules, policy, {
    pins: new ToolPins(store.mcp),
    modes: store.sessions,
    onUsedUp: (rule) => coordinator.usedUp(rule),
  });

  /** `asked`: the same call, as the coordinator is to know it. */
  async function verdictOn(call: GatedToolCall, asked: GatedToolCall): Promise<Verdict> {
    if (call.signal.aborted) return cancelled(call);
    // What a person said of this call holds, also where a rule that was made later would allow it as it is.
    const byPerson = call.question === true || (call.ahead !== true && (await coordinator.isAnswered(asked)));
    // A rule must not be used up by what a person decides.
    const decision = await (byPerson ? ruleCache.judge(call) : ruleCache.admit(call));
    if (decision.behaviour === 'deny') {
      return refuse('denied', deniedByRules(call, decision), decision.because);
    }
    if (decision.behaviour === 'allow' && !byPerson) {
      return { allowed: true, input: call.input, because: decision.because };
    }
    return coordinator.ask(asked, decision);
  }

  async function audited(call: GatedToolCall, asked: GatedToolCall): Promise<Verdict> {
    const verdict = await verdictOn(call, asked);
    // It is checked again when its turn comes.
    if (call.ahead) return verdict;
    const { session, tool } = call;
    // Nothing waits for it.
    store.audit.append(auditEntry(call, verdict)).catch((error: unknown) => {
      log.warn({ err: error, session, tool }, 'a verdict is missing in the audit log');
    });
    return verdict;
  }

  return {
    check: (call) => audited(call, call),
    checkFurther: (call) => audited(call, asFurther(call)),
    judge: (call) => ruleCache.judge(call),
    readable: (location, session) => ruleCache.readable(location, session),
    hidden: (location, session, options) => ruleCache.hidden(location, session, options),
    modeOf: (session) => store.sessions.modeOf(session),
    leavePlan: leavePlan ?? ((session) => store.sessions.leavePlan(session)),
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

const MOST_CHARS = 500;
/** Of a text that is to be one line: blanks in it may be many. */
const LOOKED_AT = 16 * MOST_CHARS;

/**
 * The audit line of every verdict, automatic ones too: who, what, why, by which rule. A person's
 * decision has a line of its own besides, written by the store with the decision.
 */
export function auditEntry(call: GatedToolCall, verdict: Verdict): NewAuditEntry {
  const { principal, session, tool, toolUseId, agent } = call;
  const { by, why, rule } = account(verdict.because);
  const because = verdict.allowed ? why : (why ?? verdict.message);
  const facts = factsOf(call, FACTS_CHARS.audit);
  return {
    event: `tool.${verdict.allowed ? 'allowed' : verdict.outcome}`,
    ...{ by, principal, session, tool, toolUseId },
    what: oneLine(whatOf(call, verdict, agent)),
    ...(because === undefined ? {} : { why: oneLine(because) }),
    ...(rule === undefined ? {} : { rule }),
    ...(facts === undefined ? {} : { call: facts }),
  };
}

function whatOf(call: GatedToolCall, verdict: Verdict, agent: string | undefined): string {
  const asked = subject(call.describe);
  const ran = verdict.allowed && verdict.describe !== undefined ? subject(verdict.describe) : asked;
  const changed = verdict.allowed && verdict.describe !== undefined ? ` (changed; it was: ${asked})` : '';
  return `${agent === undefined ? '' : `[${agent}] `}${ran}${changed}`;
}

/** Titles may leave out the end of a long command; this is the record of what ran. */
function subject({ title, command, url }: GatedToolCall['describe']): string {
  const more = command ?? url;
  return more === undefined || title.includes(more) ? title : `${title}: ${more}`;
}

interface Account {
  by: string;
  why?: string | undefined;
  rule?: string | undefined;
}

function account(because: VerdictReason): Account {
  switch (because.kind) {
    case 'rule':
      return { by: 'rule', why: `${because.source} rule, about ${because.part}`, rule: because.rule };
    case 'mode':
      return {
        by: 'mode',
        why: `mode ${because.mode}${because.part === undefined ? '' : `, about ${because.part}`}`,
      };
    case 'workspace':
      return { by: 'mode', why: `inside the workspace, ${because.part}` };
    case 'protected':
      return { by: 'protection', why: `${because.what}: ${because.part}` };
    case 'shell':
      return { by: 'mode', why: `${because.problem}: ${because.part}` };
    case 'harmless':
      return { by: 'mode', why: 'harmless by nature' };
    case 'changed':
      return { by: 'pin', why: `${because.tool} has changed since it was approved`, rule: because.rule };
    case 'person':
      return { by: because.by, why: because.reason ?? `by ${because.via}`, rule: because.rule };
    case 'expiry':
      return { by: 'expiry' };
    case 'abort':
      return { by: 'gateway' };
    case 'unattended':
      return { by: 'unattended' };
    case 'used':
      return { by: 'gateway', why: 'The approval had been used.' };
    case 'closing':
      return { by: 'gateway', why: 'The gateway stops; the question stays open.' };
  }
}

function oneLine(text: string): string {
  const line = text.slice(0, LOOKED_AT).replace(/\s+/g, ' ').trim();
  return line.length <= MOST_CHARS ? line : `${line.slice(0, MOST_CHARS - 1)}…`;
}
