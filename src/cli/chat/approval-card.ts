/** An approval as a person at the terminal is asked it, and what their answer means. */
import * as z from 'zod';
import type { Approval } from '../../permissions/approvals.js';
import type { Description } from '../../permissions/gate.js';
import { plain, plainLine } from './plain.js';
import { describeLines, indent, type Paint } from './render.js';

export interface Card {
  approval: Approval;
  /** Why it is asked; empty where that is not known. */
  why: string;
  describe: Description;
  suggestions: readonly Suggestion[];
}

export interface Suggestion {
  rule: string;
  covers: string;
}

export type Choice =
  | { kind: 'allow' }
  | { kind: 'always'; rule: string; scope: 'session' | 'project' | 'everywhere' }
  | { kind: 'edit' }
  | { kind: 'deny'; reason?: string }
  | { kind: 'unclear'; problem: string };

const SCOPES = {
  s: { scope: 'session', words: 'for this session' },
  p: { scope: 'project', words: 'always in this folder' },
  a: { scope: 'everywhere', words: 'always, everywhere' },
} as const;

const description = z.looseObject({
  title: z.string(),
  kind: z.string(),
  paths: z.array(z.string()),
  command: z.string().optional(),
  diff: z.string().optional(),
  url: z.string().optional(),
  detail: z.string().optional(),
  agent: z.string().optional(),
  asked: z.looseObject({ why: z.string() }).optional(),
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: z.string().optional(),
        options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
        multiSelect: z.boolean().optional(),
      }),
    )
    .optional(),
});

const suggestions = z.array(z.object({ rule: z.string(), covers: z.string() }));

/** What the store keeps of it is JSON; what cannot be read is shown as the bare call. */
export function readCard(approval: Approval): Card {
  const described = description.safeParse(approval.describe);
  const suggested = suggestions.safeParse(approval.suggestions);
  return {
    approval,
    why: described.data?.asked?.why ?? '',
    describe: described.success
      ? ({ ...stripUndefined(described.data), kind: 'other' } as const)
      : { title: approval.tool, kind: 'other', paths: [], detail: JSON.stringify(approval.input, null, 2) },
    suggestions: suggested.success ? suggested.data : [],
  };
}

type Described = z.output<typeof description>;

function stripUndefined({
  title,
  paths,
  command,
  diff,
  url,
  detail,
  agent,
  questions,
}: Described): Omit<Description, 'kind'> {
  return {
    title,
    paths,
    ...(command === undefined ? {} : { command }),
    ...(diff === undefined ? {} : { diff }),
    ...(url === undefined ? {} : { url }),
    ...(detail === undefined ? {} : { detail }),
    ...(agent === undefined ? {} : { agent }),
    ...(questions === undefined
      ? {}
      : {
          questions: questions.map(({ question, header, options, multiSelect }) => ({
            question,
            ...(header === undefined ? {} : { header }),
            options: options.map((option) => ({
              label: option.label,
              ...(option.description === undefined ? {} : { description: option.description }),
            })),
            ...(multiSelect === undefined ? {} : { multiSelect }),
          })),
        }),
  };
}

export function cardText(card: Card, paint: Paint): string {
  const { approval, describe, why } = card;
  const who =
    approval.agent === undefined
      ? ''
      : ` ${paint('dim', `(sub-agent: ${plainLine(describe.agent ?? approval.agent, 60)})`)}`;
  const lines = describeLines(describe, paint);
  return [
    `\n${paint('yellow', '?')} ${paint('bold', plainLine(describe.title))}${who}\n`,
    indent(lines),
    why === '' ? '' : indent([paint('dim', plainLine(why, 400))]),
    indent(choiceLines(card, paint), '  '),
  ].join('');
}

function choiceLines({ suggestions: offered }: Card, paint: Paint): string[] {
  const always = offered.flatMap(({ rule }, index) =>
    Object.entries(SCOPES).map(
      ([letter, { words }]) =>
        `${paint('cyan', keyOf(letter, index, offered.length))}  yes, and ${words}: ${plain(rule)}`,
    ),
  );
  return [
    `${paint('cyan', 'y')}  yes, this once`,
    ...always,
    `${paint('cyan', 'e')}  change what it would do first`,
    `${paint('cyan', 'n')}  no; a reason may stand behind it`,
  ];
}

function keyOf(letter: string, index: number, count: number): string {
  return count === 1 ? letter : `${letter}${index + 1}`;
}

export function readChoice(line: string, { suggestions: offered }: Card): Choice {
  const text = line.trim();
  if (/^(y|yes)$/i.test(text)) return { kind: 'allow' };
  if (/^(e|edit)$/i.test(text)) return { kind: 'edit' };
  const denial = /^(?:n|no)(?:[\s,:]+(?<reason>.+))?$/is.exec(text);
  if (denial !== null) {
    const reason = denial.groups?.['reason']?.trim();
    return reason === undefined ? { kind: 'deny' } : { kind: 'deny', reason };
  }
  const always = /^(?<letter>[spa])(?<number>\d*)$/i.exec(text);
  const letter = always?.groups?.['letter']?.toLowerCase();
  if (letter === 's' || letter === 'p' || letter === 'a') {
    const chosen = offered[Number(always?.groups?.['number'] || '1') - 1];
    if (chosen !== undefined) return { kind: 'always', rule: chosen.rule, scope: SCOPES[letter].scope };
    return { kind: 'unclear', problem: 'There is no such rule in the list.' };
  }
  return { kind: 'unclear', problem: 'Type one of the letters, then Enter.' };
}
