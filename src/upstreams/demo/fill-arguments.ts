/**
 * The arguments of a call, filled from the user's words by the tool's schema. A value that does
 * not fit the schema gives way to the smallest one that does.
 */
import type { JsonObject } from '../../core/conversation.js';
import { findExpressions, type Span } from './arithmetic.js';
import {
  fits,
  itemsOf,
  listOf,
  MAX_DEPTH,
  nearestNumber,
  type Property,
  propertiesOf,
  resolve,
  type Schema,
  schemaOf,
  smallest,
  typeOf,
  variantsOf,
} from './schema.js';
import {
  type Features,
  featuresOf,
  hanChunks,
  hasHan,
  headline,
  isConceptWord,
  isStopWord,
  raise,
  splitIdentifier,
  topicOf,
  trimmed,
  withoutPoliteness,
} from './words.js';

type FactKind = 'code' | 'quoted' | 'url' | 'email' | 'glob' | 'path' | 'expression' | 'number' | 'name';

/** Something in the words that a parameter could want. */
interface Fact extends Span {
  kind: FactKind;
  value?: number;
}

/** What the user asked for, and what was found in it. */
export interface Ask {
  text: string;
  facts: readonly Fact[];
  features: Features;
}

/** In the order in which they claim their part of the text, with what each asks for though no word says so. */
const FACTS: readonly (readonly [kind: FactKind, pattern: RegExp, concepts: string])[] = [
  ['code', /`+([^`]+)`+/g, ''],
  ['quoted', /"([^"\n]+)"|“([^”\n]+)”|「([^」\n]+)」|(?<![\p{L}\p{N}])'([^'\n]+)'(?!\p{L})/gu, ''],
  ['url', /\bhttps?:\/\/[^\s"'<>（），。；、]*[^\s"'<>（），。；、.,;:!?)]/gi, 'web fetch'],
  ['email', /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, 'email'],
  ['glob', /(?:[\w.~@-]*\/)*\*[\w{}*]*[./][\w.{},*/-]*/g, 'list file'],
  ['path', /(?<!\w)(?:~|\.{1,2})?\/[\w.@+/-]*\w\/?|[A-Za-z_.@][\w.@-]*\/[\w.@/-]*/g, 'file'],
  ['path', /[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}(?!\w)|\b(?:README|Makefile|LICENSE)\b/g, 'file'],
];
/** Its numbers are also there one by one, for tools that take an expression apart. */
const NUMBER = /(?<![A-Za-z_\d.])\d+(?:\.\d+)?(?![A-Za-z_\d])/g;
const OPERATIONS = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' } as const;

export function askOf(text: string): Ask {
  const facts: Fact[] = [];
  const isFree = (fact: Fact): boolean =>
    !facts.some(({ start, end }) => start < fact.end && fact.start < end);
  const spans = (kind: FactKind, pattern: RegExp): Fact[] =>
    [...text.matchAll(pattern)].map((match) => {
      const own = match.slice(1).find((group) => group !== undefined) ?? match[0];
      return { kind, text: own, start: match.index, end: match.index + match[0].length, value: Number(own) };
    });
  for (const [kind, pattern] of FACTS) facts.push(...spans(kind, pattern).filter(isFree));
  // What is quoted, a path or an address is an argument and not a word of the request.
  const features = featuresOf(without(text, facts));
  for (const [kind, , concepts] of FACTS)
    if (facts.some((fact) => fact.kind === kind))
      for (const concept of concepts.split(' ')) raise(features, concept, 0.6);
  // "What is in package.json?" wants it read.
  if (facts.some(({ kind }) => kind === 'path')) raise(features, 'read', 0.5);
  const numbers = spans('number', NUMBER).filter(isFree);
  for (const each of findExpressions(text)) {
    const found: Fact = { kind: 'expression', ...each };
    if (!isFree(found)) continue;
    facts.push(found);
    raise(features, 'calculate', 0.8);
    for (const [sign, concept] of Object.entries(OPERATIONS))
      if (found.text.includes(sign, 1)) raise(features, concept, 0.8);
  }
  facts.push(...namesIn(text).filter(isFree));
  return { text, facts: [...facts.sort((a, b) => a.start - b.start), ...numbers], features };
}

/** What is written with a capital, else what follows a preposition; in Chinese what no table knows. */
function namesIn(words: string): Fact[] {
  const nameAt = (text: string, at: number): Fact => ({
    kind: 'name',
    text,
    start: at,
    end: at + text.length,
  });
  const names = hanChunks(words).map((chunk) => nameAt(chunk.text, chunk.start));
  for (const { 0: found, index } of words.matchAll(/\p{Lu}[\p{L}\p{M}-]*(?:\s+\p{Lu}[\p{L}\p{M}-]*)*/gu)) {
    // The first word of a sentence has its capital from there.
    const [first = ''] = found.split(/\s/, 1);
    const own = isStopWord(first) || isConceptWord(first) ? found.slice(first.length).trimStart() : found;
    if (own.length > 1) names.push(nameAt(own, index + found.length - own.length));
  }
  // "Paris, France" is one name; "Paris, London and Rome" are three.
  const pair = names.map((name) => name.text).join(', ');
  if (names.length === 2 && words.includes(pair)) return [nameAt(pair, words.indexOf(pair))];
  if (names.length > 0) return names;
  for (const { 0: found, index } of words.matchAll(
    /(?<=\b(?:in|at|near|for|of|to|from)\s+)(?:[\p{Ll}-]+\s*){1,3}/gu,
  )) {
    const all = found.trim().split(/\s+/);
    const ends = all.findIndex(isStopWord);
    if (ends !== 0) names.push(nameAt(all.slice(0, ends < 0 ? all.length : ends).join(' '), index));
  }
  return names;
}

const LINK_BEFORE =
  /(?:(?:^|\s+)(?:to|into|in|for|at|on|from|with|of|as|by|and)(?:\s+(?:the|file))*|[,，、]|到|成|为|给|在|和)\s*$/i;

function without(text: string, facts: Iterable<Fact>): string {
  let left = text;
  for (const { start, end } of [...facts].sort((a, b) => b.start - a.start))
    left = `${left.slice(0, start).replace(LINK_BEFORE, '')} ${left.slice(end)}`;
  return left;
}

const SAID = [
  /\b(?:saying|that\s+says|with\s+(?:the\s+)?(?:contents?|text|message|body|input)|containing)\b(?:\s+(?:of|that|is))?[:,]?\s+(.+)$/is,
  /(?:内容(?:为|是)?|写着|说)[：:，,\s]*(.+)$/s,
  /(?:把|将)\s*(.+?)\s*(?:翻译|译|发送|发给|保存|写入)/s,
  /^[^:：\n]{3,120}(?:：\s*|:\s+)(.+)$/s,
];
const COMMAND = [
  /^(?:run|execute)\s+(?:the\s+command\s+)?(?!(?:the|a|an|my|all|it|this|that)\b)(.+)$/is,
  /^(?:运行|执行)(?:一下)?(?:命令)?[:：]?\s*(.+)$/s,
];
const IDENTIFIER = [/(?<![\w.-])#?([A-Za-z]*-?\d[\w-]*)/];

interface Kind {
  /** What its name says, or the first words of its description. */
  name: RegExp;
  /** Where its value is looked for, after the patterns. */
  facts: readonly FactKind[];
  patterns?: readonly RegExp[];
  /** Only the user can give it: where they do not, the tool is not called. Several mean as many calls. */
  isNeeded?: boolean;
}

/** Takes what the others leave of the sentence. */
const TEXT: Kind = {
  name: /content|text|body|message|query|question|prompt|note|title|subject|input|内容|消息|问题/,
  facts: ['quoted', 'code'],
  patterns: SAID,
};
/** What parameters want; the first that matches. */
const KINDS: readonly Kind[] = [
  { name: /express|formula|equation|calculation|表达式|算式/, facts: ['expression'], isNeeded: true },
  { name: /command|cmd|命令/, facts: ['code'], patterns: COMMAND, isNeeded: true },
  { name: /\bur[li]\b|link|website|网址|链接/, facts: ['url'], isNeeded: true },
  { name: /mail|邮箱/, facts: ['email'], isNeeded: true },
  { name: /path|file|director|folder|目录|文件/, facts: ['path', 'quoted'], isNeeded: true },
  { name: /pattern|glob|regex|正则/, facts: ['glob', 'quoted', 'code'] },
  { name: /\bold\b|\bnew\b/, facts: ['quoted', 'code'], isNeeded: true },
  { name: /\bid\b|number|\bsku\b|编号|订单号/, facts: ['quoted'], patterns: IDENTIFIER },
  {
    name: /city|location|place|country|origin|destination|^from$|^to$|name|person|recipient|language|\blang\b|symbol|城市|地点|国家|姓名/,
    facts: ['email', 'name'],
    isNeeded: true,
  },
  TEXT,
];
const isNumeric = (type: string): boolean => type === 'number' || type === 'integer';
/** A number of this name is the value of the expression. */
const RESULT = /^(?:result|answer|total|sum|value)$/;

interface Parameter extends Property {
  kind: Kind;
  label: string;
}

function parameterOf(property: Property): Parameter {
  const label = splitIdentifier(property.name).join(' ');
  const { description } = resolve(property.schema);
  const described = typeof description === 'string' ? description.slice(0, 60).toLowerCase() : '';
  const kind =
    KINDS.find(({ name }) => name.test(label)) ??
    KINDS.find((each) => each.isNeeded && each.name.test(described));
  return { ...property, label, kind: kind ?? TEXT };
}

function groupIn(text: string, patterns: readonly RegExp[]): string | undefined {
  const [found] = patterns.flatMap((pattern) => pattern.exec(text)?.[1] ?? []);
  return found === undefined ? undefined : trimmed(found).replace(/^(["'`“‘「])(.+)["'`”’」]$/s, '$2');
}

export interface Filled {
  input: unknown;
  /** The input is what the schema takes. */
  isValid: boolean;
  /** How many values the user named. */
  sure: number;
  /** How many of those that only the user can give are not there. */
  missing: number;
  /** How many calls are meant. */
  calls: number;
}

/** `pick` is the one of several listed values ("Paris and Rome") that this call is for. */
export function fillArguments(root: unknown, ask: Ask, about: string, pick = 0): Filled {
  const [variant = schemaOf(root)] = variantsOf(schemaOf(root));
  const filler = new Filler(ask, about, pick);
  const filled = ['object', 'any'].includes(typeOf(variant)) ? filler.object(variant, 0) : undefined;
  const input = [filled, smallest(schemaOf(root))].find((each) => fits(each, schemaOf(root)));
  const { sure, missing, calls } = filler;
  return { input: input ?? filled, isValid: input !== undefined, sure, missing, calls };
}

class Filler {
  readonly #ask: Ask;
  readonly #about: string;
  readonly #pick: number;
  readonly #used = new Set<Fact>();
  sure = 0;
  missing = 0;
  calls = 1;

  constructor(ask: Ask, about: string, pick: number) {
    this.#ask = ask;
    this.#about = about;
    this.#pick = pick;
  }

  object(variant: Schema, depth: number): JsonObject {
    const parameters = propertiesOf(variant).map(parameterOf);
    const values = new Map<string, unknown>();
    // Texts last: they take what the others leave of the sentence.
    const isText = ({ kind }: Parameter): number => (kind === TEXT ? 1 : 0);
    for (const parameter of [...parameters].sort((a, b) => isText(a) - isText(b))) {
      const rivals = parameters.filter(({ kind, required }) => required && kind === parameter.kind);
      const named = this.#named(parameter, rivals.length === 1, depth);
      const isNamed = named !== undefined && fits(named, parameter.schema);
      if (isNamed && typeof named !== 'object') this.sure += 1;
      if (isNamed || parameter.required) values.set(parameter.name, isNamed ? named : this.#guess(parameter));
    }
    const names = parameters.map(({ name }) => name).filter((name) => values.has(name));
    return Object.fromEntries(names.map((name) => [name, values.get(name)]));
  }

  /** The value that the user named; an optional parameter has to be called by its name. */
  #named({ schema, required, kind, label }: Parameter, isOnly: boolean, depth: number): unknown {
    const [variant = schema] = variantsOf(schema);
    const labelled = this.#labelled(label);
    const choices = listOf(variant.node['enum']);
    if (choices.length > 0) return choices.find((choice) => choice === labelled || this.#isMentioned(choice));
    if (labelled === undefined && !required) return undefined;
    const type = typeOf(variant);
    if (isNumeric(type))
      return nearestNumber(
        labelled === undefined ? this.#number(label) : Number.parseFloat(labelled),
        variant,
      );
    if (type === 'object') return depth < MAX_DEPTH ? this.object(variant, depth + 1) : undefined;
    if (type === 'array') return this.#list(kind, typeOf(itemsOf(variant, 0)));
    return type === 'string' || type === 'any' ? (labelled ?? this.#text(kind, isOnly)) : undefined;
  }

  #facts(kind: FactKind): Fact[] {
    return this.#ask.facts.filter((fact) => fact.kind === kind && !this.#used.has(fact));
  }

  #number(label: string): number {
    const computed = this.#ask.facts.find(({ kind }) => kind === 'expression' && RESULT.test(label));
    const [number] = computed === undefined ? this.#facts('number') : [];
    if (number !== undefined) this.#used.add(number);
    return (computed ?? number)?.value ?? Number.NaN;
  }

  #text({ facts, patterns = [], isNeeded = false }: Kind, isOnly: boolean): string | undefined {
    const said = groupIn(withoutPoliteness(this.#ask.text), patterns);
    if (said !== undefined) return said;
    const found = facts.map((kind) => this.#facts(kind)).find((each) => each.length > 0) ?? [];
    const texts = [...new Set(found.map(({ text }) => text))];
    const isListed = isOnly && isNeeded;
    if (isListed) this.calls = Math.max(this.calls, texts.length);
    for (const fact of isListed ? found : found.slice(0, 1)) this.#used.add(fact);
    return texts[isListed ? this.#pick : 0];
  }

  #list({ facts }: Kind, type: string): unknown[] | undefined {
    const found = isNumeric(type) ? this.#facts('number') : facts.flatMap((kind) => this.#facts(kind));
    for (const fact of found) this.#used.add(fact);
    return found.length === 0 ? undefined : found.map(({ text, value }) => (isNumeric(type) ? value : text));
  }

  /** "title: Groceries", "age = 30", 姓名是张三. */
  #labelled(label: string): string | undefined {
    if (label.length < 2 || label.length > 40) return undefined;
    const name = `(?<![\\p{L}\\p{N}])${label.replaceAll(' ', '[\\s_-]?')}`;
    const value = '("[^"]+"|“[^”]+”|[^,，;；。\\n]+)';
    return groupIn(this.#ask.text, [new RegExp(`${name}\\s*(?:[:=：]|\\bis\\b|为|是)\\s*${value}`, 'iu')]);
  }

  #isMentioned(choice: unknown): boolean {
    if (typeof choice === 'number') return this.#facts('number').some(({ value }) => value === choice);
    if (typeof choice !== 'string') return false;
    if (hasHan(choice)) return this.#ask.text.includes(choice);
    const words = [...featuresOf(splitIdentifier(choice).join(' '))].filter(([, strength]) => strength === 1);
    return words.length > 0 && words.every(([word]) => (this.#ask.features.get(word) ?? 0) >= 0.8);
  }

  /** For a required parameter that the user did not name: one, or for a text the rest of the sentence. */
  #guess({ schema, kind, label }: Parameter): unknown {
    const [variant = schema] = variantsOf(schema);
    const isText = ['string', 'any'].includes(typeOf(variant));
    const isOpen = variant.node['default'] === undefined;
    if (isOpen && isText && kind.isNeeded) this.missing += 1;
    const guess = isText ? this.#rest(label) : nearestNumber(1, variant);
    return isOpen && !kind.isNeeded && guess !== '' && fits(guess, schema) ? guess : smallest(schema);
  }

  #rest(label: string): string {
    if (/glob/.test(this.#about) && /pattern/.test(label)) return '*';
    const rest = without(this.#ask.text, this.#used);
    return /title|subject|标题/.test(label) ? headline(rest) : topicOf(rest, splitIdentifier(this.#about));
  }
}
