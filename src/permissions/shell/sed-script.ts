/** Whether a sed script only changes what it prints. Read by a small grammar: what is not known is not safe. */
import { abbreviates } from './file-programs.js';

/** Commands without operands that touch nothing but the text at hand. */
const SIMPLE = new Set('p P d D n N g G h H x = l z F'.split(' '));

export function sedOnlyPrints(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    const separators = /[\s;{}]*/y;
    separators.lastIndex = at;
    separators.exec(script);
    at = separators.lastIndex;
    if (at >= script.length) return true;
    const command = afterAddress(script, at);
    if (command === undefined) return false;
    const next = afterCommand(script, command);
    if (next === undefined || !/^(?:$|[\s;}])/.test(script.slice(next, next + 1))) return false;
    at = next;
  }
  return true;
}

function afterAddress(script: string, from: number): number | undefined {
  let at = oneAddress(script, from);
  if (at === undefined) return undefined;
  if (at > from && script.charAt(at) === ',') {
    const second = oneAddress(script, at + 1);
    if (second === undefined || second === at + 1) return undefined;
    at = second;
  }
  const rest = /[\s!]*/y;
  rest.lastIndex = at;
  rest.exec(script);
  return rest.lastIndex;
}

/** The index after it; `from` where there is none, undefined where it does not end. */
function oneAddress(script: string, from: number): number | undefined {
  const plain = /\$|[+~]?\d+(?:~\d+)?/y;
  plain.lastIndex = from;
  if (plain.exec(script) !== null) return plain.lastIndex;
  const escaped = script.charAt(from) === '\\';
  const start = escaped ? from + 1 : from;
  const delimiter = script.charAt(start);
  if (!escaped && delimiter !== '/') return from;
  if (delimiter === '' || delimiter === '\n') return undefined;
  const end = afterDelimiter(script, start + 1, delimiter);
  if (end === undefined) return undefined;
  const flags = /[IM]*/y;
  flags.lastIndex = end;
  flags.exec(script);
  return flags.lastIndex;
}

function afterCommand(script: string, at: number): number | undefined {
  const command = script.charAt(at);
  if (SIMPLE.has(command)) return at + 1;
  if (command === 'q' || command === 'Q') {
    const code = /\s*\d*/y;
    code.lastIndex = at + 1;
    code.exec(script);
    return code.lastIndex;
  }
  if (command !== 's' && command !== 'y') return undefined;
  const delimiter = script.charAt(at + 1);
  if (delimiter === '' || delimiter === '\n' || delimiter === '\\') return undefined;
  const middle = afterDelimiter(script, at + 2, delimiter);
  const end = middle === undefined ? undefined : afterDelimiter(script, middle, delimiter);
  if (end === undefined || command === 'y') return end;
  const flags = /[gpiIMm\d]*/y;
  flags.lastIndex = end;
  flags.exec(script);
  return flags.lastIndex;
}

/**
 * After the next `delimiter` that is not escaped. In a bracket expression it would not count for
 * sed; here it does, so that such a script is refused and not misread.
 */
function afterDelimiter(script: string, from: number, delimiter: string): number | undefined {
  for (let at = from; at < script.length; at += 1) {
    const char = script.charAt(at);
    if (char === '\\') at += 1;
    else if (char === delimiter) return at + 1;
    else if (char === '[' || char === '\n') return undefined;
  }
  return undefined;
}

/** The scripts of a sed command: values of `-e`, or else the first operand. */
export function sedScripts(words: readonly string[]): string[] {
  const scripts: string[] = [];
  let operand: string | undefined;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-') || word === '-') operand ??= word;
    if (!word.startsWith('-') || word === '-' || word === '--') continue;
    const flag = sedFlag(word);
    if (flag === undefined) continue;
    const value = flag.value === '' ? (words[at + 1] ?? '') : flag.value;
    if (flag.value === '') at += 1;
    if (flag.script) scripts.push(value);
  }
  if (scripts.length > 0) return scripts;
  return operand === undefined ? [] : [operand];
}

/** A flag with a value, which is in the next word where it is empty. */
function sedFlag(word: string): { script: boolean; value: string } | undefined {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    const value = equals === -1 ? '' : word.slice(equals + 1);
    if (abbreviates(word, ['expression'])) return { script: true, value };
    return abbreviates(word, ['file', 'line-length']) ? { script: false, value } : undefined;
  }
  const at = word.search(/[efl]/);
  return at === -1 ? undefined : { script: word.charAt(at) === 'e', value: word.slice(at + 1) };
}
