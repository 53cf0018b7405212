/**
 * Finds where a text stops being JSON. `JSON.parse` says it in words that differ between versions
 * of Node, sometimes without a position, and quotes the text; this runs only after it has failed.
 */

interface JsonProblem {
  /** In characters from 0. */
  offset: number;
  /** From 1. */
  line: number;
  /** From 1, in characters. */
  column: number;
  expected: string;
}

const LITERALS = ['true', 'false', 'null'] as const;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[\t\n\r ]*/y;
/** The longest run inside a string that needs no closer look. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Undefined when `text` is JSON after all. */
export function locateJsonProblem(text: string): JsonProblem | undefined {
  const failure = new JsonWalk(text).run();
  if (failure === undefined) return undefined;
  const before = text.slice(0, failure.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    ...failure,
    line: before.split('\n').length,
    column: failure.offset - lineStart + 1,
  };
}

type Failure = Pick<JsonProblem, 'offset' | 'expected'>;

interface Container {
  closer: '}' | ']';
  /** Nothing has come in it yet. */
  fresh: boolean;
}

/** Iterative: the text may nest as deep as it is long. */
class JsonWalk {
  readonly #text: string;
  /** Those that are open, innermost last. */
  readonly #open: Container[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Failure | undefined {
    let failure = this.#value('a value');
    while (failure === undefined) {
      const container = this.#open.at(-1);
      if (container === undefined) break;
      failure = this.#next(container);
    }
    if (failure !== undefined) return failure;
    this.#skip(SPACE);
    return this.#at < this.#text.length ? this.#fail('the end of the body') : undefined;
  }

  /** Inside a container: its end, or the next value, after a comma unless it is the first. */
  #next(container: Container): Failure | undefined {
    const { closer, fresh } = container;
    this.#skip(SPACE);
    if (this.#take(closer)) {
      this.#open.pop();
      return undefined;
    }
    if (!fresh && !this.#take(',')) return this.#fail(`"," or "${closer}"`);
    container.fresh = false;
    const orEnd = fresh ? ` or "${closer}"` : '';
    return closer === '}'
      ? this.#member(`a property name in double quotes${orEnd}`)
      : this.#value(`a value${orEnd}`);
  }

  /** A container is only opened here; what is in it comes with the next rounds. */
  #value(expected: string): Failure | undefined {
    this.#skip(SPACE);
    if (this.#take('{')) return this.#enter('}');
    if (this.#take('[')) return this.#enter(']');
    if (this.#peek() === '"') return this.#string();
    for (const literal of LITERALS) {
      if (this.#text.startsWith(literal, this.#at)) {
        this.#at += literal.length;
        return undefined;
      }
    }
    return this.#skip(NUMBER) ? undefined : this.#fail(expected);
  }

  #enter(closer: Container['closer']): undefined {
    this.#open.push({ closer, fresh: true });
  }

  #member(expected: string): Failure | undefined {
    this.#skip(SPACE);
    if (this.#peek() !== '"') return this.#fail(expected);
    const failure = this.#string();
    if (failure !== undefined) return failure;
    this.#skip(SPACE);
    if (!this.#take(':')) return this.#fail('":"');
    return this.#value('a value');
  }

  #string(): Failure | undefined {
    this.#at += 1;
    for (;;) {
      this.#skip(PLAIN);
      if (this.#take('"')) return undefined;
      if (this.#at >= this.#text.length) return this.#fail('the end of the string');
      if (this.#peek() !== '\\') return this.#fail('no control character inside a string (escape it)');
      if (!this.#skip(ESCAPE)) return this.#fail('a valid escape after "\\"');
    }
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  /** True when it moved. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text) || pattern.lastIndex === this.#at) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #fail(expected: string): Failure {
    return { offset: this.#at, expected };
  }
}
