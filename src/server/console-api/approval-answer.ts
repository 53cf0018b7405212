/**
 * What a person answered, as it comes in: `decision` or the shorter `approved`, a rule, and
 * `updatedPermissions` as the Agent SDK has them.
 */
import { homedir } from 'node:os';
import * as z from 'zod';
import type { AnsweredRule, Approval, PersonAnswer } from '../../permissions/approvals.js';
import { readAsked } from '../../permissions/coordinator/shown.js';
import { permissionUpdate, readUpdates } from '../../permissions/rules/permission-updates.js';

const SCOPES = ['once', 'session', 'project', 'everywhere'] as const;
const MOST_UPDATES = 50;

const text = z.string({ error: 'expected a string' });

const ruleSchema = z.looseObject(
  {
    rule: text,
    scope: z.enum(SCOPES, { error: `expected one of ${SCOPES.join(', ')}` }),
    behaviour: z.enum(['allow', 'ask', 'deny'], { error: 'expected one of allow, ask, deny' }).nullish(),
  },
  { error: 'expected an object with rule and scope' },
);

/** One of the approval's own suggestions, handed back; without a scope it is for the session. */
const suggestion = z.looseObject({ rule: text, scope: z.enum(SCOPES).nullish() });

const update = z
  .unknown()
  .refine((given) => suggestion.safeParse(given).success || permissionUpdate.safeParse(given).success, {
    error:
      'expected a suggestion of the approval (rule, scope), or a permission update of the Agent SDK (type addRules, addDirectories …)',
  });

export const answerSchema = z
  .looseObject(
    {
      decision: z.enum(['allow', 'deny'], { error: 'expected "allow" or "deny"' }).optional(),
      approved: z.boolean({ error: 'expected true or false' }).optional(),
      digest: z.string({ error: 'expected the digest of the approval as it was shown' }),
      reason: text.max(10_000, { error: 'expected at most 10000 characters' }).nullish(),
      updatedInput: z.unknown().optional(),
      rule: ruleSchema.nullish(),
      updatedPermissions: z
        .array(update, { error: 'expected a list' })
        .max(MOST_UPDATES, { error: `expected at most ${MOST_UPDATES} updates` })
        .nullish(),
    },
    { error: 'expected a JSON object' },
  )
  .superRefine(({ decision, approved, updatedPermissions }, context) => {
    const given = decisionOf({ decision, approved });
    if (given === 'deny' && updatedPermissions?.length) {
      const message = 'expected none with a refusal: they allow. Send `rule` to deny such calls from now on';
      context.addIssue({ code: 'custom', path: ['updatedPermissions'], message });
    }
    if (given === undefined || (decision !== undefined && approved !== undefined && given !== decision)) {
      const message =
        given === undefined ? 'expected "allow" or "deny"' : 'expected the same as `approved` says';
      context.addIssue({ code: 'custom', path: ['decision'], message });
    }
  });

type AnswerBody = z.output<typeof answerSchema>;

interface ReadAnswer {
  answer: Omit<PersonAnswer, 'by' | 'via' | 'rule' | 'rules'> & { rules: AnsweredRule[] };
  /** Why some of `updatedPermissions` became no rule. */
  leftOut: string[];
}

export function readAnswer(body: AnswerBody, approval: Approval): ReadAnswer {
  const { digest, reason, updatedInput, rule } = body;
  const updates = updatesOf(body.updatedPermissions ?? [], approval);
  const own: AnsweredRule[] = rule
    ? [{ rule: rule.rule, scope: rule.scope, ...(rule.behaviour ? { behaviour: rule.behaviour } : {}) }]
    : [];
  return {
    answer: {
      decision: decisionOf(body) ?? 'deny',
      digest,
      ...(reason ? { reason } : {}),
      ...(updatedInput === undefined ? {} : { updatedInput }),
      rules: [...own, ...updates.rules],
    },
    leftOut: updates.leftOut,
  };
}

function decisionOf({
  decision,
  approved,
}: Pick<AnswerBody, 'decision' | 'approved'>): 'allow' | 'deny' | undefined {
  if (approved === undefined) return decision;
  return approved ? 'allow' : 'deny';
}

function updatesOf(
  given: readonly unknown[],
  approval: Approval,
): { rules: AnsweredRule[]; leftOut: string[] } {
  const { place } = readAsked(approval.describe);
  const rules: AnsweredRule[] = [];
  const leftOut: string[] = [];
  for (const each of given) {
    const own = suggestion.safeParse(each).data;
    if (own !== undefined) {
      rules.push({ rule: own.rule, scope: own.scope ?? 'session', behaviour: 'allow' });
      continue;
    }
    const read = readUpdates([each], { root: place.root, cwd: place.cwd, home: homedir() });
    rules.push(...read.rules);
    leftOut.push(...read.leftOut);
  }
  return { rules, leftOut };
}
