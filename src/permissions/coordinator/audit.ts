/**
 * The audit line of every verdict, automatic ones too: who, what, why, by which rule. Nothing waits
 * for it. A person's decision has a line of its own besides, written by the store with the decision.
 */
import type { AuditLog, NewAuditEntry } from '../../store/audit.js';
import type { GatedToolCall, Verdict, VerdictReason } from '../gate.js';
import { FACTS_CHARS, factsOf } from '../rules/tool-call-facts.js';
import type { PermissionLog } from './judge.js';

const MOST_CHARS = 500;
/** Of a text that is to be one line: blanks in it may be many. */
const LOOKED_AT = 16 * MOST_CHARS;

interface AuditTrail {
  /** In the order of the calls; never throws, never delays. */
  record(call: GatedToolCall, verdict: Verdict): void;
}

export function createAuditTrail(audit: AuditLog, log: PermissionLog): AuditTrail {
  return {
    record(call, verdict) {
      audit.append(auditEntry(call, verdict)).catch((error: unknown) => {
        log.warn(
          { err: error, session: call.session, tool: call.tool },
          'a verdict is missing in the audit log',
        );
      });
    },
  };
}

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
