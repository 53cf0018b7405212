/** Why a call was let through or refused, as one sentence for its card. */
import type { RuleSource } from '../../../permissions/decision.js';
import type { VerdictReason } from '../../../permissions/gate.js';

const REACH: Readonly<Record<RuleSource, string>> = {
  configuration: 'of the configuration',
  repository: 'of the repository',
  once: 'for one call',
  session: 'for this session',
  project: 'for this project',
  everywhere: 'for everything',
};

export function explain(because: VerdictReason | undefined, allowed: boolean): string | null {
  if (because === undefined) return null;
  switch (because.kind) {
    case 'rule':
      return `rule ${because.rule} ${REACH[because.source]}`;
    case 'mode':
      return `no rule matches, and the mode is ${because.mode}`;
    case 'workspace':
      return 'reading inside the workspace needs no approval';
    case 'protected':
      return `${because.what}: ${because.part}`;
    case 'shell':
      return `${because.problem}: ${because.part}`;
    case 'harmless':
      return 'it reads and changes nothing outside of the conversation';
    case 'person':
      return personally(because, allowed);
    case 'expiry':
      return 'nobody answered in time';
    case 'abort':
      return 'stopped before it was decided';
    case 'unattended':
      return 'nobody was connected who could answer';
    case 'used':
      return 'its approval had been used already';
    case 'closing':
      return 'the gateway stopped; the question stays open';
  }
}

function personally(
  { by, via, reason, rule }: Extract<VerdictReason, { kind: 'person' }>,
  allowed: boolean,
): string {
  const said = reason === undefined || reason === '' ? '' : `: ${reason}`;
  const made = rule === undefined ? '' : `, with the rule ${rule}`;
  return `${allowed ? 'allowed' : 'denied'} by ${by} (${via})${made}${said}`;
}
