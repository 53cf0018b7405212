/**
 * Which tools a query means: BM25 over their names, descriptions and parameters, for words of any language.
 * What one tool says of itself cannot push out the others: only the beginning of a description is read, a
 * word that is repeated counts little more than once, and one server gets a part of the places only.
 */
import type { ToolDefinition } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

const LIMITS = {
  queryChars: 400,
  descriptionChars: 1_000,
  /** Of a schema. */
  parameters: 64,
  depth: 4,
  /** Part of the places that the tools of one server get while others have what was asked for too. */
  ofOneServer: 0.6,
} as const;

/** How much a word counts, by where it stands. */
const WEIGHTS = { name: 3, parameter: 1, description: 1 } as const;

/** Usual values: how soon repetition stops to count, and how much a long text is marked down. */
const BM25 = { k1: 1.2, b: 0.75 } as const;

/** Scripts without spaces between words, and Korean, whose words carry their particles. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;
const WORD = /[\p{L}\p{N}]+/gu;
const CAMEL = /(\p{Ll}|\p{N})(\p{Lu})/gu;

/** Lower case, without accents; pairs of characters where a script has no spaces. */
export function termsOf(text: string): string[] {
  const plain = text
    .replace(CAMEL, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .normalize('NFC')
    .toLowerCase();
  const terms: string[] = [];
  const spaced = plain.replace(UNSPACED, (run) => {
    const signs = [...run];
    if (signs.length === 1) terms.push(run);
    for (let at = 0; at + 1 < signs.length; at += 1) terms.push(`${signs[at]}${signs[at + 1]}`);
    return ' ';
  });
  for (const [word] of spaced.matchAll(WORD)) terms.push(stem(word));
  return terms;
}

/** `issues` finds `issue`. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** The server of `mcp__server__tool`. */
export function serverOf(name: string): string | undefined {
  return /^mcp__(.+?)__/.exec(name)?.[1];
}

interface Indexed {
  tool: ToolDefinition;
  terms: ReadonlyMap<string, number>;
  length: number;
}

/** The best `most` of the tools, the best first; none that has nothing of the query. */
export function rankTools(
  query: string,
  tools: readonly ToolDefinition[],
  most: number,
): readonly ToolDefinition[] {
  const asked = query.slice(0, LIMITS.queryChars);
  const named = namedIn(asked, tools);
  const wanted = new Set(termsOf(asked));
  const scored = scores(wanted, tools)
    .filter(({ score, tool }) => score > 0 && !named.includes(tool))
    // A stable sort: equal ones keep the order of the list.
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
  return [...named, ...spread(scored, Math.max(0, most - named.length))].slice(0, most);
}

/** Tools whose whole name the query says. */
function namedIn(query: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const said = new Set(query.split(/[\s,;:"'`()]+/));
  return tools.filter(({ name }) => said.has(name));
}

function scores(wanted: ReadonlySet<string>, tools: readonly ToolDefinition[]) {
  const documents = tools.map(indexed);
  const total = documents.reduce((sum, { length }) => sum + length, 0);
  const mean = Math.max(1, total / Math.max(1, documents.length));
  const rarity = new Map<string, number>();
  for (const term of wanted) {
    const having = documents.filter(({ terms }) => terms.has(term)).length;
    rarity.set(term, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5)));
  }
  return documents.map(({ tool, terms, length }) => {
    let score = 0;
    for (const [term, weight] of rarity) {
      const count = terms.get(term) ?? 0;
      const damped = count + BM25.k1 * (1 - BM25.b + (BM25.b * length) / mean);
      score += (weight * count * (BM25.k1 + 1)) / damped;
    }
    return { tool, score };
  });
}

function indexed(tool: ToolDefinition): Indexed {
  const terms = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number) => {
    for (const term of termsOf(text)) {
      terms.set(term, (terms.get(term) ?? 0) + weight);
      length += weight;
    }
  };
  add(tool.name, WEIGHTS.name);
  add((tool.description ?? '').slice(0, LIMITS.descriptionChars), WEIGHTS.description);
  for (const name of parametersOf(tool.inputSchema)) add(name, WEIGHTS.parameter);
  return { tool, terms, length };
}

function parametersOf(schema: unknown): string[] {
  const names: string[] = [];
  const visit = (value: unknown, depth: number) => {
    if (!isObject(value) || depth > LIMITS.depth) return;
    const { properties, items } = value;
    if (isObject(properties)) {
      for (const [name, inner] of Object.entries(properties)) {
        if (names.length >= LIMITS.parameters) return;
        names.push(name.slice(0, 100));
        visit(inner, depth + 1);
      }
    }
    visit(items, depth + 1);
  };
  visit(schema, 0);
  return names;
}

/** The first `most`, with no more of one server than its part unless there are no others. */
function spread(ranked: readonly ToolDefinition[], most: number): ToolDefinition[] {
  const part = Math.max(1, Math.ceil(most * LIMITS.ofOneServer));
  const taken = new Map<string, number>();
  const over = new Set<ToolDefinition>();
  const within = ranked.filter((tool) => {
    const server = serverOf(tool.name);
    if (server === undefined) return true;
    const count = (taken.get(server) ?? 0) + 1;
    taken.set(server, count);
    if (count > part) over.add(tool);
    return count <= part;
  });
  const chosen = new Set([
    ...within.slice(0, most),
    ...[...over].slice(0, Math.max(0, most - within.length)),
  ]);
  return ranked.filter((tool) => chosen.has(tool));
}
