/**
 * What a command line is made of: every simple command in it, wherever it hides, the files that it
 * redirects to, and whether the whole is plain enough for prefix rules.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Tree, TreeCursor } from 'web-tree-sitter';
import { type Joiner, MAX_COMMAND, type PlainCommand, readPlain } from './lexer.js';
import { decodeWord, type Word } from './words.js';

export interface SimpleCommand {
  joiner: Joiner | '&';
  words: readonly Word[];
  /** Its text as written. */
  text: string;
}

interface Redirect {
  target: Word;
  writes: boolean;
}

export interface ShellAnalysis {
  command: string;
  /** The commands as literal words, where prefix rules may look at them. */
  plain: readonly PlainCommand[] | undefined;
  /** Why they may not. */
  problem?: { part: string; problem: string };
  /** Every simple command, those in substitutions, loops and functions included. */
  commands: readonly SimpleCommand[];
  redirects: readonly Redirect[];
  /** Further words that commands may get through a variable: assigned values, items of loops. */
  loose: readonly Word[];
  /** The assigned values among them, which other programs may take for a command (`PAGER=…`). */
  assigned: readonly Word[];
  /** Words continue after a backslash and a new line: the text without those. */
  joined?: string;
  /** The text could not be read to its end, or a program's name is only known when it runs. */
  unclear: boolean;
  /** Too much to analyse: a person must look at it before it runs. */
  tooMuch: boolean;
  /** Characters that were looked at, those inside of others more than once. */
  effort: number;
}

/** Words of all commands in a line, each of which may be a path to be looked up. */
const MAX_WORDS = 2_000;
const MAX_DEPTH = 200;
/** Of brackets. Each level is read again with everything inside of it. */
const MAX_NESTING = 100;
/** Characters of words that are read for one command, all levels together. */
export const MAX_EFFORT = 4 * MAX_COMMAND;

export function analyse(parser: ShellParser, command: string): ShellAnalysis {
  if (command.length > MAX_COMMAND) {
    return unreadable(command, `is longer than ${MAX_COMMAND} characters`);
  }
  if (nesting(command) > MAX_NESTING) return unreadable(command, `is nested more than ${MAX_NESTING} deep`);
  const reading = readPlain(command);
  if (reading.plain && reading.commands.reduce((sum, { words }) => sum + words.length, 0) > MAX_WORDS) {
    return unreadable(command, `has more than ${MAX_WORDS} words`);
  }
  const tree = parser.parse(command);
  if (tree === undefined) return unreadable(command, 'cannot be parsed');
  try {
    const root = tree.rootNode;
    if (reading.plain && sameShape(root.toString(), reading.commands)) {
      return {
        command,
        plain: reading.commands,
        commands: reading.commands.map(({ joiner, words }) => ({
          joiner,
          words: words.map((text) => ({ text, literal: true, glob: false })),
          text: words.join(' '),
        })),
        redirects: [],
        loose: [],
        assigned: [],
        unclear: false,
        tooMuch: false,
        effort: command.length,
      };
    }
    const walk = new Walk(command);
    const cursor = tree.walk();
    walk.visit(cursor);
    cursor.delete();
    const joined = SPLIT_WORD.test(command) ? command.replaceAll('\\\n', '') : undefined;
    if (joined !== undefined) readAgain(parser, joined, walk);
    if (walk.tooDeep || walk.effort > MAX_EFFORT) return unreadable(command, 'is nested too deep');
    const tooMuch = walk.words > MAX_WORDS;
    return {
      command,
      plain: undefined,
      problem: reading.plain
        ? { part: command.slice(0, 40), problem: 'can be read in two ways' }
        : { part: reading.part, problem: reading.problem },
      commands: walk.commands,
      redirects: walk.redirects,
      loose: walk.loose,
      assigned: walk.assigned,
      ...(joined === undefined ? {} : { joined }),
      tooMuch,
      effort: walk.effort,
      unclear:
        tooMuch ||
        joined !== undefined ||
        root.hasError ||
        nestsInExpansion(command) ||
        walk.commands.some(({ words }) => words[0]?.literal === false),
    };
  } finally {
    tree.delete();
  }
}

/**
 * The shell removes a backslash and the new line after it before it reads words; the grammar
 * takes them for a space. Between words that is the same.
 */
const SPLIT_WORD = /\S\\\n\S/;

/** As the shell reads it, besides as it is written: in a comment or in quotes the lines stay apart. */
function readAgain(parser: ShellParser, joined: string, walk: Walk): void {
  const tree = parser.parse(joined);
  if (tree === undefined) return;
  const again = new Walk(joined);
  const cursor = tree.walk();
  again.visit(cursor);
  cursor.delete();
  tree.delete();
  walk.take(again);
}

/** At most how deep brackets stand in brackets, those in quotes included. */
function nesting(command: string): number {
  let deepest = 0;
  let depth = 0;
  for (const [bracket] of command.matchAll(/[(){}]/g)) {
    depth = bracket === '(' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Nothing is known of it but its text. */
export function unreadable(command: string, problem: string): ShellAnalysis {
  return {
    command,
    plain: undefined,
    problem: { part: `${command.slice(0, 40)}…`, problem },
    commands: [],
    redirects: [],
    loose: [],
    assigned: [],
    unclear: true,
    tooMuch: true,
    effort: command.length,
  };
}

/** The grammar does not see every substitution that is inside of an expansion. */
function nestsInExpansion(command: string): boolean {
  return command.includes('${') && (command.includes('`') || command.includes('$('));
}

const PLAIN_LEAVES = new Set(['word', 'number', 'raw_string', 'string', 'string_content', 'concatenation']);
const PLAIN_FRAMES = new Set(['program', 'list', 'pipeline', 'command', 'command_name']);

/**
 * Whether the grammar sees the same commands, each with the same number of words, and nothing else.
 * One text for the whole tree is much cheaper than walking it.
 */
function sameShape(expression: string, commands: readonly PlainCommand[]): boolean {
  const stack: string[] = [];
  const counts: number[] = [];
  for (const [, open, close] of expression.matchAll(/\(([A-Za-z_]+)|(\))/g)) {
    if (close !== undefined) {
      stack.pop();
      continue;
    }
    if (open === undefined) return false;
    if (open === 'command') counts.push(0);
    else if (PLAIN_LEAVES.has(open)) {
      const parent = stack.at(-1);
      if (parent === 'command' || parent === 'command_name')
        counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    } else if (!PLAIN_FRAMES.has(open)) return false;
    stack.push(open);
  }
  return (
    !/\b(?:ERROR|MISSING|UNEXPECTED)\b/.test(expression) &&
    counts.length === commands.length &&
    counts.every((count, index) => count === commands[index]?.words.length)
  );
}

const WORDS = new Set([
  'word',
  'number',
  'string',
  'raw_string',
  'ansi_c_string',
  'translated_string',
  'concatenation',
  'simple_expansion',
  'expansion',
  'command_substitution',
  'process_substitution',
  'arithmetic_expansion',
  'extglob_pattern',
  'regex',
]);
const COMMANDS = new Set(['command', 'declaration_command', 'unset_command', 'test_command']);
const JOINERS: Readonly<Record<string, Joiner | '&'>> = {
  '&&': '&&',
  '||': '||',
  '|': '|',
  '|&': '|',
  '&': '&',
};
/** Only these can have commands inside of a word. */
const NESTS = /\$\(|`|[<>]\(|\$\{/;

class Walk {
  readonly commands: SimpleCommand[] = [];
  readonly redirects: Redirect[] = [];
  readonly loose: Word[] = [];
  readonly assigned: Word[] = [];
  words = 0;
  effort = 0;
  tooDeep = false;
  readonly #source: string;
  #depth = 0;
  #joiner: Joiner | '&' = '';

  constructor(source: string) {
    this.#source = source;
  }

  take(other: Walk): void {
    this.commands.push(...other.commands);
    this.redirects.push(...other.redirects);
    this.loose.push(...other.loose);
    this.assigned.push(...other.assigned);
    this.words += other.words;
    this.effort += other.effort;
    this.tooDeep ||= other.tooDeep;
  }

  visit(cursor: TreeCursor): void {
    const type = cursor.nodeType;
    if (COMMANDS.has(type)) this.#command(cursor, type);
    else if (type === 'file_redirect') this.#redirect(cursor);
    else if (type === 'variable_assignment') this.#assignment(cursor);
    else if (WORDS.has(type)) {
      const raw = this.#text(cursor);
      this.words += 1;
      this.loose.push(...decodeWord(raw));
      if (NESTS.test(raw)) this.#children(cursor);
    } else {
      if (!cursor.nodeIsNamed) this.#joiner = JOINERS[type] ?? ';';
      this.#children(cursor);
    }
  }

  #children(cursor: TreeCursor): void {
    if (this.#depth >= MAX_DEPTH || this.effort > MAX_EFFORT) {
      this.tooDeep = true;
      return;
    }
    if (!cursor.gotoFirstChild()) return;
    this.#depth += 1;
    do this.visit(cursor);
    while (cursor.gotoNextSibling());
    this.#depth -= 1;
    cursor.gotoParent();
  }

  #command(cursor: TreeCursor, type: string): void {
    const joiner = this.#joiner;
    const words: Word[] = [];
    const command: SimpleCommand = { joiner, words, text: this.#text(cursor) };
    this.commands.push(command);
    if (cursor.gotoFirstChild()) {
      do {
        const child = cursor.nodeType;
        // `export`, `unset`, `[` are tokens of the grammar's own and the program's name here.
        if (!cursor.nodeIsNamed && words.length === 0 && type !== 'command') {
          words.push({ text: child, literal: true, glob: false });
        } else if (child === 'command_name' || WORDS.has(child)) {
          const raw = this.#text(cursor);
          this.words += 1;
          words.push(...decodeWord(raw));
          if (NESTS.test(raw)) this.#children(cursor);
        } else {
          this.visit(cursor);
        }
      } while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
    this.#joiner = ';';
  }

  #redirect(cursor: TreeCursor): void {
    let writes = true;
    if (cursor.gotoFirstChild()) {
      do {
        const child = cursor.nodeType;
        if (!cursor.nodeIsNamed) writes = child !== '<' && child !== '<&';
        else if (child !== 'file_descriptor') {
          const raw = this.#text(cursor);
          this.redirects.push(...decodeWord(raw).map((target) => ({ target, writes })));
          if (NESTS.test(raw)) this.#children(cursor);
        }
      } while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
  }

  #assignment(cursor: TreeCursor): void {
    const raw = this.#text(cursor);
    const values = decodeWord(raw.slice(raw.indexOf('=') + 1));
    this.loose.push(...values);
    this.assigned.push(...values);
    if (NESTS.test(raw)) this.#children(cursor);
  }

  #text(cursor: TreeCursor): string {
    const text = this.#source.slice(cursor.startIndex, cursor.endIndex);
    this.effort += text.length;
    return text;
  }
}

/**
 * The grammar of bash, loaded when the first command is judged: a gateway that runs none never
 * pays for it. One parser serves every session; it keeps nothing between two commands.
 */
export interface ShellParser {
  /** The caller deletes the tree. Undefined where the grammar gave up. */
  parse(command: string): Tree | undefined;
}

let loaded: ShellParser | undefined;
let loading: Promise<ShellParser> | undefined;

/** The parser if it is there already, so that only the first command of a process waits. */
export function shellParser(): ShellParser | Promise<ShellParser> {
  if (loaded !== undefined) return loaded;
  loading ??= load().then(
    (parser) => {
      loaded = parser;
      return parser;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

async function load(): Promise<ShellParser> {
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  const grammar = createRequire(import.meta.url).resolve(
    '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
  );
  const language = await Language.load(await readFile(grammar));
  const parser = new Parser();
  parser.setLanguage(language);
  return { parse: (command) => parser.parse(command) ?? undefined };
}
