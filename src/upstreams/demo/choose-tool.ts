/** Which of the offered tools an ask means: by name, description, schema, and what can be filled in. */
import type { ToolDefinition } from '../../core/conversation.js';
import { type Ask, factsOf } from './ask.js';
import { type Filled, fillArguments } from './fill-arguments.js';
import { isObject, propertiesOf, type Schema, schemaOf, variantsOf } from './schema.js';
import { beginsWithProgram } from './topics.js';
import { type Features, featuresOf, isStopWord, splitIdentifier } from './words.js';

/** A tool, read once for a whole request. */
export interface Profile {
  tool: ToolDefinition;
  /** For the reader of parameters: name and description. */
  about: string;
  /** The features of each telling word of the name. */
  nameWords: readonly Features[];
  description: Features;
  parameters: Features;
}

export interface Choice {
  profile: Profile;
  filled: Filled;
  score: number;
  match: Match;
  /** A word of the tool's name is said outright. */
  isSaid: boolean;
}

/** Where a word of the request stands in the tool; a word of its parameters alone means little. */
type Match = 'name' | 'description' | 'none';

const WEIGHTS = {
  name: 3,
  furtherNameWord: 0.5,
  /** The user wrote the tool's very name. */
  spelledOut: 4,
  description: 1,
  descriptionMax: 2.4,
  parameter: 0.5,
  parameterMax: 1,
  coverage: 1.5,
  /** "Delete a.txt" is not for `read_file`. */
  otherVerb: -2,
  sure: 0.75,
  sureMax: 1.5,
  /** What is missing cannot be made up: a path, an address; a number can be guessed. */
  missing: -4,
  missingNumber: -1.5,
} as const;

/** Below this no tool is called unless one must be. */
const THRESHOLD = 1.8;
/** The same for a tool of which only the description matches. */
const DESCRIBED_THRESHOLD = 2.4;
/** Filling costs more than comparing words, so it is only tried for these. */
const TRIED = 10;
const DESCRIPTION_READ = 240;

export function schemaOfTool(tool: ToolDefinition): Schema {
  return schemaOf(tool.inputSchema);
}

export function profileOf(tool: ToolDefinition): Profile {
  // mcp__server__tool: the server's name says little.
  const own = tool.name.split('__').at(-1) ?? tool.name;
  const words = splitIdentifier(own).filter((word) => !isStopWord(word));
  const description = (tool.description ?? '').slice(0, DESCRIPTION_READ);
  return {
    tool,
    about: `${splitIdentifier(own).join(' ')}. ${description}`,
    nameWords: (words.length > 0 ? words : splitIdentifier(own)).map(featuresOf),
    description: featuresOf(firstSentences(description)),
    parameters: featuresOf(parameterText(tool)),
  };
}

function firstSentences(text: string): string {
  return /^(?:[^.。\n]+[.。\n]?){1,2}/.exec(text)?.[0] ?? text;
}

function parameterText(tool: ToolDefinition): string {
  const [variant] = variantsOf(schemaOfTool(tool));
  if (variant === undefined) return '';
  return propertiesOf(variant)
    .slice(0, 12)
    .map(({ name, schema }) => {
      const { description, enum: values } = isObject(schema.node) ? schema.node : {};
      const listed = Array.isArray(values)
        ? values.filter((value) => typeof value === 'string').slice(0, 8)
        : [];
      return [
        ...splitIdentifier(name),
        typeof description === 'string' ? description.slice(0, 80) : '',
        ...listed,
      ].join(' ');
    })
    .join('. ');
}

/** The best tool for the ask; with `must`, some tool even where none fits. */
export function chooseTool(profiles: readonly Profile[], ask: Ask, must: boolean): Choice | undefined {
  const about = askFeatures(ask);
  const ranked = profiles
    .map((profile) => ({ profile, ...wordScore(profile, about, ask.text) }))
    .filter(({ match }) => must || match !== 'none')
    .sort((a, b) => b.score - a.score)
    .slice(0, TRIED);
  let best: Choice | undefined;
  for (const { profile, score, match, isSaid } of ranked) {
    const filled = fillArguments(schemaOfTool(profile.tool), ask, {
      about: profile.about,
      pick: 0,
      computes: false,
    });
    const total = score + fillScore(filled);
    if (best === undefined || total > best.score) best = { profile, filled, score: total, match, isSaid };
  }
  if (best === undefined || must) return best;
  return best.score >= (best.match === 'name' ? THRESHOLD : DESCRIBED_THRESHOLD) ? best : undefined;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
};

const FILE_VERBS: readonly string[] = [
  'write',
  'edit',
  'delete',
  'create',
  'run',
  'list',
  'search',
  'send',
  'update',
  'fetch',
];

/** An expression asks to be calculated, an address to be fetched, though no word says so. */
function askFeatures(ask: Ask): Features {
  const features = featuresOf(withoutQuotations(ask));
  const raise = (feature: string, strength: number): void => {
    features.set(feature, Math.max(features.get(feature) ?? 0, strength));
  };
  if (beginsWithProgram(ask.text)) raise('run', 1);
  // "What is in package.json?" wants it read.
  const hasOtherVerb = FILE_VERBS.some((verb) => features.get(verb) === 1);
  for (const { kind, code = '' } of ask.facts) {
    if (kind === 'expression') {
      raise('calculate', 0.8);
      for (const sign of code) if (OPERATORS[sign] !== undefined) raise(OPERATORS[sign], 0.8);
    }
    if (kind === 'url' || kind === 'host') for (const each of ['url', 'web', 'fetch']) raise(each, 0.6);
    if (kind === 'path') raise('file', 0.7);
    if (kind === 'path' && !hasOtherVerb) raise('read', 0.5);
    if (kind === 'glob') for (const each of ['list', 'file']) raise(each, 0.5);
    if (kind === 'email') raise('email', 0.5);
    if (kind === 'currency') raise('currency', 0.5);
  }
  return features;
}

/** What is quoted, a path or an address is an argument and not a word of the request. */
function withoutQuotations(ask: Ask): string {
  let out = '';
  let from = 0;
  for (const { start, end } of factsOf(ask, 'quoted', 'code', 'url', 'email', 'path', 'glob').sort(
    (a, b) => a.start - b.start,
  )) {
    const at = start - ask.start;
    if (at < from) continue;
    out += `${ask.text.slice(from, at)} `;
    from = end - ask.start;
  }
  return out + ask.text.slice(from);
}

function wordScore(
  profile: Profile,
  about: Features,
  text: string,
): Pick<Choice, 'score' | 'match' | 'isSaid'> {
  const matched = new Set<string>();
  const name = nameScore(profile, about, matched);
  let description = 0;
  let parameters = 0;
  for (const [feature, strength] of about) {
    if (matched.has(feature)) continue;
    const described = profile.description.get(feature) ?? 0;
    const parameter = profile.parameters.get(feature) ?? 0;
    if (described > 0) matched.add(feature);
    description += WEIGHTS.description * strength * described;
    if (described === 0) parameters += WEIGHTS.parameter * strength * parameter;
  }
  const strong = [...about].filter(([, strength]) => strength >= 0.6).map(([feature]) => feature);
  const covered = strong.filter((feature) => matched.has(feature)).length;
  const coverage = strong.length === 0 ? 0 : (WEIGHTS.coverage * covered) / strong.length;
  const score =
    (isOtherVerb(profile, about) ? WEIGHTS.otherVerb : 0) +
    name +
    Math.min(WEIGHTS.descriptionMax, description) +
    Math.min(WEIGHTS.parameterMax, parameters) +
    coverage;
  if (isSpelledOut(profile.tool.name, text))
    return { score: score + WEIGHTS.spelledOut, match: 'name', isSaid: true };
  const isSaid = profile.nameWords.some((features) =>
    [...features].some(([key, own]) => own * (about.get(key) ?? 0) >= 0.6),
  );
  return { score, isSaid, match: name > 0 ? 'name' : description > 0 ? 'description' : 'none' };
}

/** Verbs that exclude each other, by what they do. */
const VERB_GROUPS: Readonly<Record<string, string>> = {
  read: 'read',
  write: 'write',
  create: 'write',
  edit: 'edit',
  update: 'edit',
  delete: 'delete',
  list: 'list',
  run: 'run',
  search: 'search',
  fetch: 'fetch',
  send: 'send',
  translate: 'translate',
};

/** The user names a verb, the tool names one, and they are not the same. */
function isOtherVerb({ nameWords }: Profile, about: Features): boolean {
  const verbsIn = (features: Features, least: number): string[] =>
    [...features].flatMap(([feature, strength]) => (strength >= least ? (VERB_GROUPS[feature] ?? []) : []));
  if (verbsIn(about, 1).length === 0) return false;
  const own = nameWords.flatMap((features) => verbsIn(features, 1));
  const asked = verbsIn(about, 0);
  return own.length > 0 && !own.some((verb) => asked.includes(verb));
}

/** Verbs of which every service has some: without its noun such a verb says little (`create_user`). */
const COMMON_VERBS: ReadonlySet<string> = new Set([
  'write',
  'create',
  'update',
  'delete',
  'list',
  'edit',
  'add',
  'note',
  'send',
]);
const VERB_ALONE = 0.5;

function nameScore({ nameWords }: Profile, about: Features, matched: Set<string>): number {
  let sum = 0;
  let words = 0;
  let nouns = 0;
  for (const features of nameWords) {
    let best = 0;
    for (const [feature, strength] of features) {
      const own = (about.get(feature) ?? 0) * strength;
      if (own > 0) matched.add(feature);
      best = Math.max(best, own);
    }
    sum += best;
    if (best > 0) words += 1;
    if (best > 0 && ![...features.keys()].every((feature) => COMMON_VERBS.has(feature))) nouns += 1;
  }
  if (sum === 0) return 0;
  const score = WEIGHTS.name * Math.sqrt(sum / nameWords.length) + WEIGHTS.furtherNameWord * (words - 1);
  return nameWords.length > 1 && nouns === 0 ? score * VERB_ALONE : score;
}

function isSpelledOut(name: string, text: string): boolean {
  // `Read` and `search` are also words of the language.
  if (!/[a-zA-Z\d][_-]|[a-z][A-Z]/.test(name)) return false;
  return new RegExp(`(?<![\\w-])${name.replace(/[^\w-]/g, '.')}(?![\\w-])`).test(text);
}

const GUESSABLE: ReadonlySet<string> = new Set(['number', 'identifier', 'text', 'query', 'content', 'title']);

function fillScore({ sure, missing }: Filled): number {
  let score = Math.min(WEIGHTS.sureMax, sure * WEIGHTS.sure);
  for (const kind of missing) score += GUESSABLE.has(kind) ? WEIGHTS.missingNumber : WEIGHTS.missing;
  return score;
}
