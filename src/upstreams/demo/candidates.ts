/** The values that a sentence offers to a parameter of some kind, the most likely first. */
import { type Ask, type Candidate, factsOf } from './ask.js';
import type { Fact } from './facts.js';
import type { Name } from './names.js';
import type { Direction, Parameter } from './parameters.js';
import { remainder } from './remainder.js';
import { commandIn, headline, replacedIn, saidIn, titledIn, trimmed, unquoted } from './topics.js';
import { KNOWN_FOLDERS, ZH_PLACES } from './vocabulary.js';
import { hasHan, isConceptWord, isStopWord, setOf } from './words.js';

const PLACES = setOf(ZH_PLACES);
const FOLDERS = setOf(KNOWN_FOLDERS);

/** Prepositions by how surely they name a place; the first group that occurs is taken. */
const PLACE_ROLES: readonly ReadonlySet<string>[] = [
  setOf('in near at around within 在'),
  setOf('for of to from about between 从 到 去 往 对'),
  setOf('proper'),
  setOf('chunk'),
];
const PERSON_ROLES: readonly ReadonlySet<string>[] = [
  setOf('to with named called 给 向'),
  setOf('for from by of about 从 对'),
  setOf('proper'),
  setOf('chunk'),
];
const FROM_ROLES = setOf('from 从 由');
const TO_ROLES = setOf('to into 到 至 去 往');

/** Kinds of files by what people call them. */
const FILE_KINDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:typescript|ts)\s*(?:files?|文件)/i, '**/*.ts'],
  [/\b(?:javascript|js)\s*(?:files?|文件)/i, '**/*.js'],
  [/\b(?:python|py)\s*(?:files?|文件)/i, '**/*.py'],
  [/\b(?:markdown|md)\s*(?:files?|文件)/i, '**/*.md'],
  [/\bjson\s*(?:files?|文件)/i, '**/*.json'],
  [/\bya?ml\s*(?:files?|文件)/i, '**/*.{yml,yaml}'],
  [/\bcss\s*(?:files?|文件)/i, '**/*.css'],
  [/\bhtml\s*(?:files?|文件)/i, '**/*.html'],
  [/\bgo\s*(?:files|文件)/i, '**/*.go'],
  [/\brust\s*(?:files?|文件)/i, '**/*.rs'],
];

const ofFact = ({ text, start, end, value }: Fact): Candidate => ({
  text,
  start,
  end,
  sure: true,
  ...(value === undefined ? {} : { value }),
});
const ofName = ({ text, start, end }: Name): Candidate => ({ text, start, end, sure: true });

/** Words that are not a span of their own, such as the rest of the sentence. */
const loose = (text: string | undefined, sure: boolean): Candidate[] =>
  text === undefined || text === '' ? [] : [{ text, start: -1, end: -1, sure }];

export function candidatesFor(parameter: Parameter, ask: Ask, used: readonly Candidate[]): Candidate[] {
  const { kind, direction } = parameter;
  const named = loose(labelled(parameter, ask), true);
  const quoted = factsOf(ask, 'quoted', 'code').map((fact) => ({ ...ofFact(fact), weak: true }));
  const rest = (): Candidate[] => loose(remainder(ask, used), false);
  switch (kind) {
    case 'expression':
      return [...factsOf(ask, 'expression').map(ofFact), ...named];
    case 'command':
      return [...factsOf(ask, 'code').map(ofFact), ...loose(commandIn(ask.text), true), ...named];
    case 'url':
      return [
        ...factsOf(ask, 'url').map(ofFact),
        ...factsOf(ask, 'host').map((fact) => ({ ...ofFact(fact), text: `https://${fact.text}` })),
      ];
    case 'email':
      return [...factsOf(ask, 'email').map(ofFact), ...named];
    case 'glob':
      return globs(ask);
    case 'pattern':
      return [
        ...quoted,
        ...factsOf(ask, 'glob').map(ofFact),
        ...byRole(ask.names, [setOf('for containing of 关于')]).map(ofName),
        ...loose(saidIn(ask.text), true),
        ...rest(),
      ];
    case 'folder':
      return [...inDirection(factsOf(ask, 'path').map(ofFact), ask, direction), ...folderNames(ask)];
    case 'path':
      return [
        ...inDirection(factsOf(ask, 'path').map(ofFact), ask, direction),
        ...named,
        ...(/director|folder|目录/i.test(parameter.description) ? folderNames(ask) : []),
        ...quoted,
      ];
    case 'date':
    case 'time':
    case 'datetime':
      return dates(parameter, ask);
    case 'language':
    case 'currency':
      return inDirection(coded(parameter, factsOf(ask, kind)), ask, direction);
    case 'place':
      return [...named, ...places(ask, direction), ...quoted];
    case 'person':
      return [
        ...named,
        ...byRole(ask.names, parameter.required ? PERSON_ROLES : PERSON_ROLES.slice(0, 2)).map(ofName),
        ...factsOf(ask, 'email').map(ofFact),
        ...quoted,
      ];
    case 'identifier':
      return [
        ...named,
        ...factsOf(ask, 'identifier', 'number').map(ofFact),
        ...symbols(ask),
        ...quoted,
        ...byRole(ask.names, PLACE_ROLES).map((name) => ({ ...ofName(name), sure: false })),
      ];
    case 'owner':
    case 'repository':
      return [...named, ...repositories(ask, kind)];
    case 'title':
      return [
        ...named,
        ...loose(titledIn(ask.text), true),
        ...quoted,
        ...byRole(ask.names, [setOf('named called titled')]).map(ofName),
        ...loose(headline(remainder(ask, used)), false),
      ];
    case 'old':
      return [...loose(replacedIn(ask.text)?.from, true), ...quoted];
    case 'new':
      return [...loose(replacedIn(ask.text)?.to, true), ...quoted];
    case 'number':
      return factsOf(ask, 'number').map(ofFact);
    case 'query':
      return [
        ...named,
        ...quoted,
        ...(parameter.words.has('topic')
          ? byRole(ask.names, [setOf('about regarding on 关于')]).map(ofName)
          : []),
        ...rest(),
      ];
    case 'code':
    case 'content':
      return [
        ...loose(ask.message.circumstances.material, true),
        ...named,
        ...loose(saidIn(ask.text), true),
        ...quoted,
        ...rest(),
      ];
    case 'text':
      return [
        ...named,
        ...quoted,
        ...byRole(ask.names, PLACE_ROLES).map(ofName),
        ...factsOf(ask, 'identifier').map(ofFact),
        ...qualifiers(ask),
        ...rest(),
      ];
  }
}

/** "title: Groceries", "age = 30", 姓名是张三. */
function labelled(parameter: Parameter, ask: Ask): string | undefined {
  const label = parameter.name
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .trim();
  if (label.length < 2 || label.length > 40) return undefined;
  const start = ask.text
    .toLowerCase()
    .search(
      new RegExp(
        `(?<![\\p{L}\\p{N}])${label.toLowerCase().replaceAll(' ', '[\\s_-]?')}(?![\\p{L}\\p{N}])`,
        'u',
      ),
    );
  if (start < 0) return undefined;
  const behind = ask.text.slice(start + label.length);
  const value = /^\s*(?:[:=：]|\bis\b|为|是)\s*("[^"]+"|'[^']+'|“[^”]+”|「[^」]+」|[^,，;；。\n]+)/u.exec(
    behind,
  )?.[1];
  if (value === undefined) return undefined;
  return trimmed(unquoted(value.replace(/\s+(?:and|with)\s+.*$/i, '')));
}

function globs(ask: Ask): Candidate[] {
  const found = factsOf(ask, 'glob').map(ofFact);
  if (found.length > 0) return found;
  const paths = factsOf(ask, 'path').map(ofFact);
  const extension = paths.find(({ text }) => /^\.\w+$/.test(text));
  if (extension !== undefined) return [{ ...extension, text: `**/*${extension.text}` }];
  const kind = FILE_KINDS.find(([pattern]) => pattern.test(ask.text))?.[1];
  const [folder] = [...paths, ...folderNames(ask)];
  if (folder === undefined) return loose(kind ?? '*', kind !== undefined);
  if (/\.\w+$/.test(folder.text)) return [{ ...folder, text: `**/${folder.text}`, sure: false }];
  return [{ ...folder, text: `${folder.text.replace(/\/$/, '')}/${kind ?? '*'}` }];
}

function folderNames(ask: Ask): Candidate[] {
  const names = ask.names.filter(({ text }) => FOLDERS.has(text.split(' ')[0] ?? ''));
  return names.map(({ text, start, end }) => ({ text: text.split(' ')[0] ?? text, start, end, sure: true }));
}

function dates({ kind, schema, description }: Parameter, ask: Ask): Candidate[] {
  const wantsIso = typeof schema.node['format'] === 'string' || /ISO|YYYY|HH:MM/i.test(description);
  const [date] = factsOf(ask, 'date');
  const [time] = factsOf(ask, 'time');
  if (kind === 'datetime') {
    const first = date ?? time;
    if (first === undefined) return [];
    if (!wantsIso)
      return [
        { ...ofFact(first), text: [date?.text, time?.text].filter((part) => part !== undefined).join(' ') },
      ];
    const day = date?.code ?? ask.message.circumstances.now.toISOString().slice(0, 10);
    return [{ ...ofFact(first), text: `${day}T${time?.code ?? '00:00:00'}Z` }];
  }
  return factsOf(ask, kind === 'time' ? 'time' : 'date').map((fact) => ({
    ...ofFact(fact),
    text: wantsIso ? (fact.code ?? fact.text) : fact.text.replace(/^on\s+/i, ''),
  }));
}

/** A code where the schema speaks of codes, the user's own word otherwise. */
function coded({ kind, description, schema, name }: Parameter, facts: readonly Fact[]): Candidate[] {
  const wantsCode =
    kind === 'currency' ||
    /code|iso/i.test(`${description} ${name}`) ||
    /^.{2}$/.test(String(schema.node['default'] ?? ''));
  return facts.map((fact) => ({ ...ofFact(fact), text: wantsCode ? (fact.code ?? fact.text) : fact.text }));
}

/** With a direction: what stands behind "from" or "to" first, else the first or the last of them. */
function inDirection(candidates: readonly Candidate[], ask: Ask, direction: Direction): Candidate[] {
  if (direction === undefined) return [...candidates];
  const words =
    direction === 'from'
      ? /(?:\bfrom|从|由|把|将)\s*["'“]?$/i
      : /(?:\b(?:to|into|as|in)|到|成|为|至)\s*["'“]?$/i;
  const marked = candidates.filter(({ start }) =>
    words.test(ask.text.slice(0, Math.max(0, start - ask.start))),
  );
  const others = candidates.filter((each) => !marked.includes(each));
  return direction === 'from' ? [...marked, ...others] : [...marked, ...others.toReversed()];
}

function places(ask: Ask, direction: Direction): Candidate[] {
  if (direction !== undefined) {
    const roles = direction === 'from' ? FROM_ROLES : TO_ROLES;
    const marked = ask.names.filter(({ role }) => roles.has(role));
    if (marked.length > 0) return marked.map(ofName);
  }
  return byRole(ask.names, PLACE_ROLES).map(ofName);
}

/** The names of the first group of roles that occurs; of Chinese names known places, else those joined to the first. */
function byRole(names: readonly Name[], groups: readonly ReadonlySet<string>[]): Name[] {
  for (const roles of groups) {
    const found = names.filter(({ role }) => roles.has(role));
    if (found.length === 0) continue;
    if (!found.some(({ text }) => hasHan(text))) return found;
    const known = found.filter(({ text }) => PLACES.has(text) || !hasHan(text));
    return known.length > 0 ? known : joined(found);
  }
  return [];
}

/** 张三和李四 are two names of one list; a further chunk of the sentence is something else. */
function joined(names: readonly Name[]): Name[] {
  const list: Name[] = [];
  for (const name of names) {
    const last = list.at(-1);
    if (last !== undefined && name.start - last.end > 2) break;
    list.push(name);
  }
  return list;
}

/** "the kitchen light": the word that tells one light from another. */
function qualifiers(ask: Ask): Candidate[] {
  const found: Candidate[] = [];
  for (const match of ask.text.matchAll(/\b(?:the|my|our|a|an)\s+([a-z]+)\s+([a-z]+)/gi)) {
    const [, word = '', noun = ''] = match;
    if (!isConceptWord(noun) || isConceptWord(word) || isStopWord(word)) continue;
    const start = ask.start + match.index + match[0].indexOf(word, 2);
    found.push({ text: word, start, end: start + word.length, sure: true });
  }
  return found;
}

/** `owner/name`, alone or at the end of an address. */
function repositories(ask: Ask, kind: 'owner' | 'repository'): Candidate[] {
  const found: Candidate[] = [];
  for (const match of ask.text.matchAll(
    /(?:\bgithub\.com\/|(?<![\w/.:-]))([A-Za-z][\w-]*)\/([A-Za-z][\w.-]*\w)(?![\w/])/g,
  )) {
    const [, owner = '', name = ''] = match;
    const end = ask.start + match.index + match[0].length;
    const start = kind === 'owner' ? end - name.length - 1 - owner.length : end - name.length;
    const text = kind === 'owner' ? owner : name;
    found.push({ text, start, end: start + text.length, sure: true });
  }
  return found;
}

/** Short words in capitals, such as the symbol of a share. */
function symbols(ask: Ask): Candidate[] {
  const found: Candidate[] = [];
  for (const match of ask.text.matchAll(/(?<![\p{L}\p{N}_-])[A-Z]{2,6}(?![\p{L}\p{N}_-])/gu)) {
    const start = ask.start + match.index;
    found.push({ text: match[0], start, end: start + match[0].length, sure: true });
  }
  return found;
}
