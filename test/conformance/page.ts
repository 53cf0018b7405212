/** The score of one gateway as a page of Markdown. */
import { EVERYWHERE } from './everywhere.js';
import {
  areaTallies,
  type CaseScore,
  EVERY_ANSWER,
  everywhereTally,
  percent,
  type Score,
  totalOf,
} from './score.js';

/** What stands above the score. */
export interface PageSubject {
  title: string;
  /** Paragraphs: what was measured, and how. */
  about: readonly string[];
}

export function pageOf({ title, about }: PageSubject, score: Score): string {
  const total = totalOf(score);
  return [
    `# ${title}`,
    '',
    ...about.flatMap((paragraph) => [paragraph, '']),
    `${total.passed} of ${total.checks} checks passed (${percent(total)}).`,
    '',
    '| area | passed | checks | |',
    '|---|---|---|---|',
    ...[{ area: EVERY_ANSWER, tally: everywhereTally(score) }, ...areaTallies(score)].map(
      ({ area, tally }) => `| ${area} | ${tally.passed} | ${tally.checks} | ${percent(tally)} |`,
    ),
    '',
    `## ${EVERY_ANSWER}`,
    '',
    'What concerns every answer is one check each, and counts in no other.',
    '',
    ...score.everywhere.map(({ rule, broken, seen, problem }) =>
      broken === 0
        ? `- ${EVERYWHERE[rule]}: yes (${seen} answers)`
        : `- ${EVERYWHERE[rule]}: not in ${broken} of ${seen}, such as ${code(problem ?? '')}`,
    ),
    '',
    ...score.cases.filter(({ failures }) => failures.length > 0).flatMap(failedCase),
  ].join('\n');
}

/** As many as show what is wrong. */
const MOST_FAILURES = 6;

function failedCase({ name, title, rule, area, checks, passed, failures }: CaseScore): string[] {
  const left = failures.length - MOST_FAILURES;
  return [
    `## ${title}`,
    '',
    `${area}, \`${name}\`, ${passed} of ${checks} passed. ${rule}`,
    '',
    ...failures
      .slice(0, MOST_FAILURES)
      .flatMap(({ title: failed, problems }) => [
        `- ${plain(failed)}`,
        ...problems.map((problem) => `  - ${code(problem)}`),
      ]),
    ...(left > 0 ? [`- and ${left} more`] : []),
    '',
  ];
}

const LONGEST = 300;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** Text of a stranger's answer: on one line, and no markup. */
function code(text: string): string {
  const line = cut(text.replace(/\s+/g, ' ').trim());
  const longest = Math.max(0, ...Array.from(line.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence} ${line} ${fence}`;
}

const plain = (text: string): string => text.replace(/[\\`*_<>[\]|]/g, '\\$&');
