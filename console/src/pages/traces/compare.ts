/**
 * What is on one side of a translation and not on the other. Between two dialects nothing has the
 * same place, so a value counts as carried where it turns up anywhere on the other side, also inside
 * of JSON text; within one dialect places are compared.
 */
import { childPath } from '../shared/json-rows.js';

export interface Difference {
  left: ReadonlySet<string>;
  right: ReadonlySet<string>;
}

interface Leaf {
  path: string;
  key: string;
  value: unknown;
}

/** Larger bodies are not compared: it would be seen in the page. */
const MOST_LEAVES = 20_000;
/** A text inside of a longer one is looked for in no more than this. */
const SEARCHED_CHARACTERS = 400_000;
const SEARCHED_LEAVES = 200;
/** Shorter ones are in some text by chance. */
const TELLING_LENGTH = 8;

/** How a dialect frames its content, which is never the same and says nothing. */
const FRAMING = new Set(['type', 'role', 'object', 'id']);

export function compareBodies(left: unknown, right: unknown, sameDialect: boolean): Difference {
  const [ours, theirs] = [leavesOf(left), leavesOf(right)];
  if (ours === undefined || theirs === undefined) return { left: new Set(), right: new Set() };
  if (sameDialect) return { left: byPlace(ours, theirs), right: byPlace(theirs, ours) };
  return { left: byValue(ours, theirs), right: byValue(theirs, ours) };
}

function leavesOf(value: unknown): Leaf[] | undefined {
  const leaves: Leaf[] = [];
  const visit = (each: unknown, path: string, key: string): boolean => {
    if (typeof each !== 'object' || each === null) {
      leaves.push({ path, key, value: each });
      return leaves.length <= MOST_LEAVES;
    }
    return Object.entries(each).every(([name, child]) =>
      visit(child, childPath(path, name), Array.isArray(each) ? key : name),
    );
  };
  return visit(value, '', '') ? leaves : undefined;
}

function byPlace(here: readonly Leaf[], there: readonly Leaf[]): Set<string> {
  const known = new Map(there.map(({ path, value }) => [path, value]));
  return new Set(
    here.filter(({ path, value }) => !known.has(path) || known.get(path) !== value).map(({ path }) => path),
  );
}

function byValue(here: readonly Leaf[], there: readonly Leaf[]): Set<string> {
  const texts = new Set<string>();
  const plain = new Set<string>();
  const numbers = new Set<unknown>();
  const long: string[] = [];
  let characters = 0;
  for (const { key, value } of there.flatMap(withInner)) {
    if (typeof value === 'string') {
      texts.add(value);
      characters += value.length;
      if (value.length > TELLING_LENGTH) long.push(value);
    } else {
      plain.add(`${plainKey(key)}=${String(value)}`);
      if (typeof value === 'number' && value > 1) numbers.add(value);
    }
  }
  const searchable = characters <= SEARCHED_CHARACTERS;
  let searched = 0;
  const carried = ({ key, value }: Leaf): boolean => {
    if (typeof value !== 'string')
      return plain.has(`${plainKey(key)}=${String(value)}`) || numbers.has(value);
    if (texts.has(value) || value === '') return true;
    if (!searchable || value.length < TELLING_LENGTH || searched >= SEARCHED_LEAVES) return false;
    searched += 1;
    return long.some((text) => text.includes(value));
  };
  const missing = here.filter((leaf) => {
    if (FRAMING.has(leaf.key)) return false;
    const inner = withInner(leaf).filter((each) => each !== leaf);
    return !carried(leaf) && (inner.length === 0 || !inner.every(carried));
  });
  return new Set(missing.map(({ path }) => path));
}

/** The leaf, and where its text is JSON (arguments of a call), what is in it. */
function withInner(leaf: Leaf): Leaf[] {
  if (typeof leaf.value !== 'string' || !/^\s*[{[]/.test(leaf.value)) return [leaf];
  try {
    return [leaf, ...(leavesOf(JSON.parse(leaf.value)) ?? [])];
  } catch {
    return [leaf];
  }
}

/** `maxTokens`, `max_tokens` and `max-tokens` are one. */
function plainKey(key: string): string {
  return key.replaceAll(/[_-]/g, '').toLowerCase();
}

/**
 * Where in a body the path of a loss is. Paths are of the gateway's own model (`messages.3.content.0`,
 * `tools.web_search`, `parallelToolCalls`), so names are compared loosely and a list is also entered by
 * the name of its item. The deepest place that is found; undefined where not even the first step is.
 */
export function locateLoss(body: unknown, lossPath: string): string | undefined {
  let at = body;
  let path = '';
  for (const step of lossPath.split('.')) {
    const next = stepInto(at, step);
    if (next === undefined) break;
    path = childPath(path, next.key);
    at = next.value;
  }
  return path === '' ? undefined : path;
}

function stepInto(value: unknown, step: string): { key: string; value: unknown } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value);
  const found =
    entries.find(([key]) => key === step) ??
    (Array.isArray(value)
      ? entries.find(([, each]) => nameOf(each) === step)
      : entries.find(([key]) => plainKey(key) === plainKey(step)));
  return found === undefined ? undefined : { key: found[0], value: found[1] };
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('name' in value && typeof value.name === 'string') return value.name;
  if ('function' in value) return nameOf(value.function);
  if ('type' in value && typeof value.type === 'string') return value.type;
  return undefined;
}
