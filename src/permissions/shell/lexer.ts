/**
 * The plain part of the shell's language: literal words joined by `&& || ; |` and new lines. Only
 * what is read here whole can match a prefix rule; everything else is named, so that a person can
 * learn why. The grammar's own reading of the command must agree (see analyse.ts).
 */
import { UNSEEN } from '../../core/unseen.js';

export type Joiner = '' | '&&' | '||' | ';' | '|';

export interface PlainCommand {
  /** What stands before it. */
  joiner: Joiner;
  words: readonly string[];
}

type PlainReading =
  | { plain: true; commands: readonly PlainCommand[] }
  | { plain: false; part: string; problem: string };

/** Words that are syntax where a command begins, in bash or in zsh. */
const RESERVED = new Set(
  '! { } [[ ]] (( )) if then elif else fi for foreach while until do done case esac select in function time coproc repeat end nocorrect noglob'.split(
    ' ',
  ),
);

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;

const NEXT: Readonly<Record<string, string>> = {
  '<': 'redirects input',
  '>': 'redirects output',
  '(': 'runs a subshell or defines a function',
  ')': 'runs a subshell or defines a function',
  '`': 'substitutes the output of a command',
  '*': 'expands a file pattern',
  '?': 'expands a file pattern',
  '[': 'expands a file pattern',
};

/** Longer than any command that a person would read; parsing it would hold up everyone else. */
export const MAX_COMMAND = 65_536;

/** How much of a command is shown where it is the problem. */
const SHOWN = 40;

export function readPlain(command: string): PlainReading {
  if (command.length > MAX_COMMAND) {
    return problem(`${command.slice(0, SHOWN)}…`, `is longer than ${MAX_COMMAND} characters`);
  }
  const unseen = UNSEEN.exec(command);
  if (unseen !== null) {
    return problem(`U+${hex(unseen[0])}`, 'contains a control character or one that is not seen');
  }
  return new Reader(command).read();
}

class Reader {
  readonly #text: string;
  #at = 0;
  readonly #commands: PlainCommand[] = [];
  #words: string[] = [];
  #joiner: Joiner = '';

  constructor(text: string) {
    this.#text = text;
  }

  read(): PlainReading {
    const text = this.#text;
    while (this.#at < text.length) {
      const char = text.charAt(this.#at);
      if (char === ' ' || char === '\t') {
        this.#at += 1;
        continue;
      }
      const failed = isOperator(char) ? this.#operator(char) : this.#word();
      if (failed !== undefined) return failed;
    }
    if (this.#words.length > 0) this.#end();
    else if (this.#joiner !== '' && this.#joiner !== ';') return problem(this.#joiner, 'ends in the middle');
    if (this.#commands.length === 0) return problem('', 'has no command in it');
    return { plain: true, commands: this.#commands };
  }

  #operator(char: string): PlainReading | undefined {
    const next = this.#text.charAt(this.#at + 1);
    if (char === '&' && next !== '&') {
      return this.#fail(next === '>' ? 'redirects output' : 'runs in the background');
    }
    if (char === '|' && next === '&') return this.#fail('redirects output');
    if (char === ';' && (next === ';' || next === '&')) return this.#fail('is not a plain list of commands');
    const double = (char === '&' || char === '|') && next === char;
    const joiner = double ? (char === '&' ? '&&' : '||') : char === '|' ? '|' : ';';

    if (this.#words.length === 0) {
      // A new line may follow any operator, and stand anywhere between commands.
      if (char !== '\n') return this.#fail('is not a plain list of commands');
      this.#at += 1;
      return undefined;
    }
    this.#end();
    this.#joiner = joiner;
    this.#at += joiner.length;
    return undefined;
  }

  #end(): void {
    this.#commands.push({ joiner: this.#joiner, words: this.#words });
    this.#words = [];
    this.#joiner = ';';
  }

  #word(): PlainReading | undefined {
    const text = this.#text;
    const start = this.#at;
    let value = '';
    let bare = '';
    for (; this.#at < text.length; ) {
      const char = text.charAt(this.#at);
      if (char === ' ' || char === '\t' || isOperator(char)) break;
      if (char === "'") {
        const close = text.indexOf("'", this.#at + 1);
        if (close === -1) return this.#fail('has a quote that is not closed');
        value += text.slice(this.#at + 1, close);
        bare += '\0';
        this.#at = close + 1;
        continue;
      }
      if (char === '"') {
        const quoted = this.#quoted();
        if (typeof quoted !== 'string') return quoted;
        value += quoted;
        bare += '\0';
        continue;
      }
      if (char === '\\') {
        const next = text.charAt(this.#at + 1);
        if (next === '' || next === '\n') return this.#fail('continues on another line');
        value += next;
        bare += '\0';
        this.#at += 2;
        continue;
      }
      const failed = this.#special(char, bare);
      if (failed !== undefined) return failed;
      value += char;
      bare += char;
      this.#at += 1;
    }
    return this.#finish(value, bare, text.slice(start, this.#at));
  }

  #special(char: string, bare: string): PlainReading | undefined {
    const why = NEXT[char];
    if (why !== undefined) return this.#fail(why);
    if (char === '$') return this.#fail(expansion(this.#text, this.#at));
    if (char === '#' && bare === '') return this.#fail('has a comment');
    if (char === '~' && (bare === '' || bare.endsWith(':') || bare.endsWith('=')))
      return this.#fail('expands ~');
    if (char === '=' && bare === '') return this.#fail('expands =');
    return undefined;
  }

  #finish(value: string, bare: string, raw: string): PlainReading | undefined {
    if (bare.includes('{') && /,|\.\./.test(bare)) return problem(shown(raw), 'expands braces');
    if (this.#words.length === 0) {
      if (value === '') return problem(shown(raw), 'has an empty command name');
      if (RESERVED.has(bare)) return problem(bare, 'is more than a list of commands');
      if (ASSIGNMENT.test(bare.replaceAll('\0', 'x'))) return problem(shown(raw), 'sets a variable');
    }
    this.#words.push(value);
    return undefined;
  }

  /** From the opening quote to the index after the closing one. */
  #quoted(): string | PlainReading {
    const text = this.#text;
    let value = '';
    for (let at = this.#at + 1; at < text.length; at += 1) {
      const char = text.charAt(at);
      if (char === '"') {
        this.#at = at + 1;
        return value;
      }
      if (char === '`') return problem(shown(text.slice(at)), 'substitutes the output of a command');
      // A dollar sign before the closing quote or a space is only that: the end of a pattern.
      if (char === '$' && !/^["\s]/.test(text.charAt(at + 1))) {
        return problem(shown(text.slice(at)), expansion(text, at));
      }
      if (char !== '\\') {
        value += char;
        continue;
      }
      const next = text.charAt(at + 1);
      if (next === '\n' || next === '') return problem('\\', 'continues on another line');
      value += '$`"\\'.includes(next) ? next : char + next;
      at += 1;
    }
    return this.#fail('has a quote that is not closed');
  }

  #fail(why: string): PlainReading {
    return problem(shown(this.#text.slice(this.#at)), why);
  }
}

const isOperator = (char: string): boolean => char === '&' || char === '|' || char === ';' || char === '\n';

function expansion(text: string, at: number): string {
  const next = text.charAt(at + 1);
  if (next === '(') {
    return text.charAt(at + 2) === '(' ? 'calculates' : 'substitutes the output of a command';
  }
  if (next === "'" || next === '"') return 'has a quotation with escapes';
  return 'expands a variable';
}

function problem(part: string, why: string): PlainReading {
  return { plain: false, part, problem: why };
}

function shown(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function hex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
