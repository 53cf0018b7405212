/** What a judgement works with, and how its parts are put together. */
import type { Config } from '../../config/schema.js';
import type { RuleBehaviour } from '../../store/rules.js';
import type { SessionMode } from '../../store/sessions.js';
import type { JudgedToolCall, Reason } from '../decision.js';
import type { OwnFiles } from '../protected-files.js';
import type { RuleEntry } from '../rules/rule.js';
import type { RuleIndex, Where } from '../rules/rule-index.js';

export interface RuleSet {
  deny: RuleIndex;
  ask: RuleIndex;
  allow: RuleIndex;
}

export interface Judging {
  call: JudgedToolCall;
  /** Of the configuration, the repository, and people, in this order. */
  sets: readonly RuleSet[];
  where: Where;
  mode: Config['permissions']['mode'];
  /** The session's own, where `mode` stands for it. */
  chosen?: SessionMode | undefined;
  home: string;
  realHome: string;
  own: OwnFiles;
  /** Where paths lead, for a command that names the same ones to several rules. */
  targets: Map<string, string> | undefined;
}

/** What is said about one part of a call: the tool, a file, a host, a command. */
export interface Finding {
  behaviour: RuleBehaviour;
  because: Reason;
  message: string;
}

const SEVERITY: Readonly<Record<RuleBehaviour, number>> = { allow: 0, ask: 1, deny: 2 };

/** The first of the strictest. */
export function strictest(findings: readonly Finding[]): Finding | undefined {
  let worst: Finding | undefined;
  for (const finding of findings) {
    if (worst === undefined || SEVERITY[finding.behaviour] > SEVERITY[worst.behaviour]) worst = finding;
  }
  return worst;
}

export function findRule(
  judging: Judging,
  behaviour: RuleBehaviour,
  match: (index: RuleIndex) => RuleEntry | undefined,
): RuleEntry | undefined {
  for (const set of judging.sets) {
    const entry = match(set[behaviour]);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

const SOURCES: Readonly<Record<RuleEntry['source'], string>> = {
  configuration: 'of the configuration',
  repository: "of the repository's own file",
  once: 'for one call',
  session: 'of this session',
  project: 'of this project',
  everywhere: 'for everywhere',
};
const VERBS: Readonly<Record<RuleBehaviour, string>> = { allow: 'allows', ask: 'asks about', deny: 'denies' };

export function byRule(behaviour: RuleBehaviour, entry: RuleEntry, part: string): Finding {
  return {
    behaviour,
    because: {
      kind: 'rule',
      rule: entry.text,
      source: entry.source,
      part,
      ...(entry.id === undefined ? {} : { id: entry.id }),
    },
    message: `The rule \`${entry.text}\` ${SOURCES[entry.source]} ${VERBS[behaviour]} ${part}.`,
  };
}

/** What no rule matches. `reads`: it only reads, and only where reading is free in mode `read-only`. */
export function byMode(judging: Judging, part: string, reads: boolean): Finding {
  const { mode, chosen } = judging;
  const behaviour = mode === 'read-only' ? (reads ? 'allow' : 'deny') : mode;
  const name = chosen ?? mode;
  return {
    behaviour,
    because: { kind: 'mode', mode: name, part },
    message:
      mode === 'read-only'
        ? `Mode ${name} ${reads ? 'allows' : 'denies'} ${part}, which ${reads ? 'only reads' : 'may do more than read in the workspace'}.${behaviour === 'deny' ? (ADVICE[name] ?? '') : ''}`
        : `No rule is about ${part}, and the mode is ${name}.`,
  };
}

/** What a model is to do instead; the mode is a person's to change. */
const ADVICE: Partial<Record<SessionMode | Config['permissions']['mode'], string>> = {
  plan: ' The session only plans: finish the plan and lay it before the user with ExitPlanMode.',
};

/** A rule allows part of it, and mode says what becomes of the rest. */
export function byShell(judging: Judging, part: string, problem: string, reads: boolean): Finding {
  const found = byMode(judging, part, reads);
  if (found.behaviour === 'allow') return found;
  return {
    ...found,
    because: { kind: 'shell', part, problem },
    message: `\`${part}\` ${problem}: no prefix rule covers that, only a rule for exactly this command or a person.`,
  };
}

export const harmless = (message: string): Finding => ({
  behaviour: 'allow',
  because: { kind: 'harmless' },
  message,
});
