/** `npm run docs:translation`: docs/translation.md from the rows of the case files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Variation } from './case-schema.js';
import { checksOf, checksOfVariation } from './checks.js';
import { PAIRS, type Pair, pairName, select, type WireName } from './dialects.js';
import { type LoadedCase, loadCases } from './load.js';

export const DOCUMENT = fileURLToPath(new URL('../../docs/translation.md', import.meta.url));

/** In the order of the document. */
const GROUPS = ['Conversation', 'History', 'Tools', 'Thinking', 'Media', 'Parameters', 'Answers'] as const;

const TITLE_OF: Readonly<Record<WireName, string>> = {
  messages: 'Messages',
  chat: 'Chat',
  responses: 'Responses',
};

/** On the same wire everything is carried, as bytes. */
const COLUMNS = PAIRS.filter(({ client, upstream }) => client !== upstream);

interface Cell {
  word: string;
  note: string;
}

interface Row {
  group: string;
  feature: string;
  cells: Map<string, Cell>;
}

/** Throws where two variations say different things of one feature on one pair. */
export function rowsOf(cases: readonly LoadedCase[]): Row[] {
  const rows = new Map<string, Row>();
  // What is about a parameter first, then what is about an accident.
  const isNumbered = ({ number }: LoadedCase): number => Number(number !== undefined);
  for (const given of cases.toSorted((one, other) => isNumbered(one) - isNumbered(other))) {
    for (const variation of given.variations) {
      if (variation.row === undefined) continue;
      const { group, feature } = variation.row;
      if (!GROUPS.some((known) => known === group)) throw new Error(`${given.name}: no group ${group}`);
      const key = `${group}\n${feature}`;
      const row = rows.get(key) ?? { group, feature, cells: new Map() };
      rows.set(key, row);
      for (const { pair } of checksOfVariation(given, variation)) addCell(row, variation, pair, given.name);
    }
  }
  return [...rows.values()];
}

function addCell(row: Row, variation: Variation, pair: Pair, name: string): void {
  const how = select(variation.row?.how, pair);
  if (how === undefined) return;
  const [word = '', note = ''] = how.split(/: (.*)/s);
  const cell = { word, note: note === '' && word === 'lost' ? reasonOf(variation, pair, name) : note };
  const known = row.cells.get(pairName(pair));
  if (known !== undefined && (known.word !== cell.word || known.note !== cell.note)) {
    throw new Error(
      `${name}: ${row.feature} on ${pairName(pair)} is ${how} here and ${known.word} elsewhere`,
    );
  }
  row.cells.set(pairName(pair), cell);
}

/** What the gateway itself says, as the checks hold it to. */
function reasonOf(variation: Variation, pair: Pair, name: string): string {
  const losses = select(variation.losses, pair) ?? [];
  if (losses.length === 0)
    throw new Error(`${name}: ${variation.title} is lost on ${pairName(pair)} and nobody says why`);
  return [...new Set(losses.map((loss) => loss.replace(/^[\w.]+: /, '')))].join('; ');
}

export function documentOf(cases: readonly LoadedCase[]): string {
  const rows = rowsOf(cases);
  const checks = cases.flatMap(checksOf).length;
  return [
    '# What each pair carries',
    '',
    '<!-- Generated from test/conformance/cases by `npm run docs:translation`. -->',
    '',
    'A client may speak another wire than the upstream that answers it: Anthropic Messages (`/v1/messages`),',
    'OpenAI Chat Completions (`/v1/chat/completions`) or OpenAI Responses (`/v1/responses`). These tables say',
    'what of a request and its answer comes through on each pair of client and upstream.',
    '',
    '- **carried**: the upstream, or the client, gets the same in the words of its own wire.',
    '- **mapped**: it gets the nearest that its wire has; the note says what.',
    '- **lost**: it cannot be carried. The answer says so in `x-toolgate-losses`, and so do the log and the trace;',
    '  the note gives the reason in the words of that header.',
    '- –: that pair has no such thing.',
    '',
    'On the same wire nothing is translated: the bytes are forwarded, and only the model and the credential are',
    'replaced. The tables hold for an upstream that follows the documentation of its wire; what single providers',
    'take or refuse beyond it is in their profiles (`profile` and `quirks` in `toolgate.yaml`) and learned from',
    'their errors.',
    '',
    `Every cell is held by the conformance suite (${cases.length} cases, ${checks} checks): \`npm run test:conformance\`.`,
    '',
    ...GROUPS.flatMap((group) => section(group, rows)),
  ].join('\n');
}

function section(group: string, rows: readonly Row[]): string[] {
  const notes: string[] = [];
  const lines = rows
    .filter((row) => row.group === group)
    .map(({ feature, cells }) => {
      const texts = COLUMNS.map((pair) => cellText(cells.get(pairName(pair)), notes));
      return `| ${feature} | ${texts.join(' | ')} |`;
    });
  const titles = COLUMNS.map(({ client, upstream }) => `${TITLE_OF[client]} → ${TITLE_OF[upstream]}`);
  return [
    `## ${group}`,
    '',
    `| | ${titles.join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---|').join('')}`,
    ...lines,
    '',
    ...notes.map((note, index) => `${index + 1}. ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ];
}

function cellText(cell: Cell | undefined, notes: string[]): string {
  if (cell === undefined) return '–';
  if (cell.note === '') return cell.word;
  if (!notes.includes(cell.note)) notes.push(cell.note);
  return `${cell.word} (${notes.indexOf(cell.note) + 1})`;
}

/** `--check` writes nothing and ends with 1 where the document is not up to date. */
export async function main(args: readonly string[]): Promise<number> {
  const document = documentOf(loadCases());
  if (args.includes('--check')) return readFileSync(DOCUMENT, 'utf8') === document ? 0 : 1;
  writeFileSync(DOCUMENT, document);
  return 0;
}
