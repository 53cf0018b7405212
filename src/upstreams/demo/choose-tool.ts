/** Which of the offered tools the user means: by name, description and parameters, and what can be filled in. */
import type { ToolDefinition } from '../../core/conversation.js';
import { type Ask, type Filled, fillArguments } from './fill-arguments.js';
import { propertiesOf, schemaOf, variantsOf } from './schema.js';
import { type Features, featuresOf, isStopWord, splitIdentifier } from './words.js';

interface Choice {
  tool: ToolDefinition;
  /** The words of its name. */
  about: string;
  filled: Filled;
}

/** Below these no tool is called unless one must be; one of which only the description matches needs more. */
const THRESHOLD = { named: 1.8, described: 2.4 } as const;
const MAX_TOOLS = 512;
/** Filling costs more than comparing words, so it is only tried for the best of them. */
const TRIED = 10;

/** The best tool; with `must`, some tool even where none fits. Never one whose schema cannot be met. */
export function chooseTool(tools: readonly ToolDefinition[], ask: Ask, must: boolean): Choice | undefined {
  return tools
    .slice(0, MAX_TOOLS)
    .map((tool) => scored(tool, ask))
    .filter(({ least }) => must || least < Infinity)
    .sort((a, b) => b.score - a.score)
    .slice(0, TRIED)
    .map((each) => {
      const filled = fillArguments(each.tool.inputSchema, ask, each.about);
      const score = each.score + Math.min(1.5, 0.75 * filled.sure) - 4 * filled.missing;
      return { ...each, filled, score };
    })
    .sort((a, b) => b.score - a.score)
    .find(({ filled, score, least }) => filled.isValid && (must || score >= least));
}

function scored(
  tool: ToolDefinition,
  { features, text }: Ask,
): Omit<Choice, 'filled'> & { score: number; least: number } {
  // mcp__server__tool: the server's name says little.
  const words = splitIdentifier(tool.name.split('__').at(-1) ?? '').filter((word) => !isStopWord(word));
  const name = words.map(featuresOf);
  const description = /^(?:[^.。\n]+[.。\n]?){0,2}/.exec((tool.description ?? '').slice(0, 240))?.[0] ?? '';
  const [variant = schemaOf({})] = variantsOf(schemaOf(tool.inputSchema));
  const parameters = propertiesOf(variant)
    .slice(0, 12)
    .map((property) => property.name);
  // `Read` and `search` are also words of the language; `read_file` is only a name.
  const isSpelledOut = /[a-zA-Z\d][_-]|[a-z][A-Z]/.test(tool.name) && text.includes(tool.name);
  const named = nameScore(name, features) + (isSpelledOut ? 4 : 0);
  const described = Math.min(2.4, overlap(featuresOf(description), features));
  const mentioned = Math.min(1, 0.5 * overlap(featuresOf(parameters.join(' ')), features));
  const score = named + described + mentioned - (isOtherVerb(name, features) ? 3 : 0);
  const least = named > 0 ? THRESHOLD.named : described > 0 ? THRESHOLD.described : Infinity;
  return { tool, about: words.join(' '), score, least };
}

const overlap = (own: Features, asked: Features): number =>
  [...asked].reduce((sum, [word, strength]) => sum + strength * (own.get(word) ?? 0), 0);

/** Every service has these: without its noun such a verb says little (`create_user`). */
const COMMON_VERBS = new Set(['write', 'create', 'delete', 'list', 'edit', 'add', 'send']);

function nameScore(name: readonly Features[], asked: Features): number {
  const best = name.map((own) =>
    Math.max(0, ...[...own].map(([word, strength]) => strength * (asked.get(word) ?? 0))),
  );
  const sum = best.reduce((total, each) => total + each, 0);
  const isCommon = (own: Features): boolean => [...own.keys()].every((word) => COMMON_VERBS.has(word));
  const isVerbAlone = name.length > 1 && name.every((own, index) => best[index] === 0 || isCommon(own));
  return sum === 0 ? 0 : 3 * Math.sqrt(sum / name.length) * (isVerbAlone ? 0.5 : 1);
}

/** Verbs that exclude each other: "delete a.txt" is not for `read_file`. */
const VERBS = 'read, write create, edit, delete, list, run, search, fetch, send, translate'.split(', ');

function isOtherVerb(name: readonly Features[], asked: Features): boolean {
  const verbsIn = (features: Features, least: number): string[] =>
    VERBS.filter((verbs) => verbs.split(' ').some((verb) => (features.get(verb) ?? 0) >= least));
  const own = name.flatMap((features) => verbsIn(features, 1));
  const meant = verbsIn(asked, 0.6);
  return own.length > 0 && verbsIn(asked, 1).length > 0 && !own.some((verb) => meant.includes(verb));
}
