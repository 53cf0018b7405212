/** An approval as a person at the terminal is asked it, and what their answer means. */
import * as z from 'zod';
import type { Approval } from '../../permissions/approvals.js';
import { readAsked } from '../../permissions/coordinator/shown.js';
import type { AskHints } from '../../permissions/decision.js';
import type { Description } from '../../permissions/gate.js';
import { describeLines, indent, type Paint, plain, plainLine } from './render.js';

export interface Card {
  approval: Approval;
  /** Why it is asked; empty where that is not known. */
  why: string;
  describe: Description;
  suggestions: readonly Suggestion[];
  hints: AskHints;
}

interface Suggestion {
  rule: string;
  covers: string;
  source?: string | undefined;
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

const suggestions = z.array(
  z.object({ rule: z.string(), covers: z.string(), source: z.string().optional() }),
);

/** What the store keeps of it is JSON; what cannot be read is shown as the bare call. */
export function readCard(approval: Approval): Card {
  const described = description.safeParse(approval.describe);
  const suggested = suggestions.safeParse(approval.suggestions);
  const { hints } = readAsked(approval.describe);
  return {
    approval,
    why: described.data?.asked?.why ?? '',
    describe: described.success
      ? ({ ...stripUndefined(described.data), kind: 'other' } as const)
      : { title: approval.tool, kind: 'other', paths: [], detail: JSON.stringify(approval.input, null, 2) },
    suggestions: suggested.success && !hints.suppressAlways ? suggested.data : [],
    hints,
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
  const reason = describe.command === undefined ? why : withoutCommand(why);
  return [
    `\n${paint('yellow', '?')} ${paint('bold', headline(describe))}${who}\n`,
    indent(lines),
    reason === '' ? '' : indent([paint('dim', plainLine(reason, 400))]),
    indent(hintLines(card.hints, paint)),
    indent(choiceLines(card, paint), '  '),
  ].join('');
}

/** Of a command only what is done with it: the command stands below. */
function headline({ title, command }: Description): string {
  const [first = ''] = (command ?? '').trim().split(/\s/);
  const at = first === '' ? -1 : title.indexOf(first);
  return plainLine(at <= 0 ? title : title.slice(0, at));
}

/** It stands above. */
function withoutCommand(why: string): string {
  return why.replace(/the command `.*`(?=,| asks about|\.)/s, 'this command');
}

/** What the engine says besides; a server's name comes from its configuration. */
function hintLines(
  { reason, blockedPath, description: more, mcpServer, defaultToNo }: AskHints,
  paint: Paint,
): string[] {
  const server = mcpServer === undefined ? undefined : `${mcpServer.name} (${mcpServer.source ?? 'unknown'})`;
  return [
    ...(reason === undefined ? [] : [`It says: ${reason}`]),
    ...(blockedPath === undefined ? [] : [`About: ${blockedPath}`]),
    ...(more === undefined ? [] : [more]),
    ...(server === undefined ? [] : [`A tool of the MCP server ${server}`]),
    ...(defaultToNo ? ['It asks for care: only a whole "yes" allows it.'] : []),
  ].map((line) => paint('yellow', plainLine(line, 400)));
}

function choiceLines({ suggestions: offered, hints }: Card, paint: Paint): string[] {
  const always = offered.flatMap(({ rule, source }, index) =>
    Object.entries(SCOPES).map(
      ([letter, { words }]) =>
        `${paint('cyan', keyOf(letter, index, offered.length))}  yes, and ${words}: ${plain(rule)}${source === 'engine' ? paint('dim', '  (as the engine suggests)') : ''}`,
    ),
  );
  const no = `${paint('cyan', 'n')}  no; a reason may stand behind it`;
  const yes = [
    hints.defaultToNo ? `${paint('cyan', 'yes')}  this once` : `${paint('cyan', 'y')}  yes, this once`,
    ...always,
    `${paint('cyan', 'e')}  change what it would do first`,
  ];
  return hints.defaultToNo ? [no, ...yes] : [...yes, no];
}

function keyOf(letter: string, index: number, count: number): string {
  return count === 1 ? letter : `${letter}${index + 1}`;
}

export function readChoice(line: string, { suggestions: offered, hints }: Card): Choice {
  const text = line.trim();
  if (hints.defaultToNo && /^(?:y|[spa]\d*)$/i.test(text)) {
    return { kind: 'unclear', problem: 'This is not allowed by one key. Type yes, or n.' };
  }
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
    const problem = hints.suppressAlways
      ? 'No rule can be made of this question: it would allow more than what is asked.'
      : 'There is no such rule in the list.';
    return { kind: 'unclear', problem };
  }
  return { kind: 'unclear', problem: 'Type one of the letters, then Enter.' };
}
