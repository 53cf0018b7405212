/**
 * The arguments of a call, filled from the words of an ask by the tool's schema. What comes out
 * fits the schema: a value that does not is replaced by the smallest one that does.
 */
import type { JsonObject } from '../../core/conversation.js';
import { type Ask, askOf, type Candidate, factsOf, widened } from './ask.js';
import { candidatesFor } from './candidates.js';
import { mentionedFlag, mentionedValue } from './enums.js';
import { AMOUNT_WORDS, isLabelled, RESULT_WORDS } from './number-hints.js';
import { type Parameter, type ParameterKind, parameterOf } from './parameters.js';
import { remainder } from './remainder.js';
import {
  fits,
  itemsOf,
  nearestNumber,
  propertiesOf,
  type Schema,
  smallest,
  typeOf,
  variantsOf,
} from './schema.js';
import { listedValues, subjectOf } from './subject.js';
import { saidIn } from './topics.js';
import { stem } from './words.js';

export interface FillOptions {
  /** What the schema belongs to: a tool's name and description. */
  about: string;
  /** Which of several things the ask lists ("Paris and Rome"). */
  pick: number;
  /** A number called `result` is the value of the expression, not one of its parts. */
  computes: boolean;
}

export interface Filled {
  input: JsonObject;
  /** How many values the user named; a text counts less, for almost anything can be one. */
  sure: number;
  /** Required parameters that the user said nothing of and that cannot be guessed. */
  missing: ParameterKind[];
  /** Required texts that took the rest of the sentence. */
  guessed: ParameterKind[];
}

const TEXTUAL: ReadonlySet<ParameterKind> = new Set(['title', 'query', 'content', 'code', 'text', 'pattern']);
const STRICT: ReadonlySet<ParameterKind> = new Set([
  'expression',
  'command',
  'url',
  'email',
  'path',
  'identifier',
  'old',
  'new',
  'number',
]);
const TEXT_COUNTS = 0.3;
const MAX_DEPTH = 5;
const MAX_TEXT = 4_000;
const LIST_SEPARATOR = /\s*(?:[,，、;；]|\band\b|和|以及)\s*/i;
const MAX_LISTED = 80;

export function fillArguments(schema: Schema, ask: Ask, options: FillOptions): Filled {
  const [name = ''] = options.about.split('.', 1);
  return new Filler({ ...ask, toolWords: new Set(name.split(' ').map(stem)) }, options).run(schema);
}

class Filler {
  readonly #ask: Ask;
  readonly #options: FillOptions;
  readonly #used: Candidate[] = [];
  readonly #missing: ParameterKind[] = [];
  readonly #guessed: ParameterKind[] = [];
  readonly #borrowedNames = new Set<string>();
  #sure = 0;
  #subject: Parameter | undefined;

  constructor(ask: Ask, options: FillOptions) {
    this.#ask = ask;
    this.#options = options;
  }

  run(schema: Schema): Filled {
    const [variant = schema] = variantsOf(schema);
    const input = this.#object(variant, 0);
    return { input, sure: this.#sure, missing: this.#missing, guessed: this.#guessed };
  }

  #object(schema: Schema, depth: number): JsonObject {
    const parameters = propertiesOf(schema).map((property) => parameterOf(property, this.#options.about));
    if (depth === 0) this.#subject = subjectOf(parameters, this.#ask);
    const values = new Map<string, unknown>();
    // What names itself is taken first, so that a text parameter gets the rest of the sentence.
    const order = [
      ...parameters.filter(({ kind }) => !TEXTUAL.has(kind)),
      ...parameters.filter(({ kind }) => TEXTUAL.has(kind)),
    ];
    for (const parameter of order) {
      const value = this.#value(parameter, depth);
      if (value !== undefined) values.set(parameter.name, value);
    }
    return Object.fromEntries(
      parameters.filter(({ name }) => values.has(name)).map(({ name }) => [name, values.get(name)]),
    );
  }

  #value(parameter: Parameter, depth: number): unknown {
    const sureBefore = this.#sure;
    for (const variant of variantsOf(parameter.schema)) {
      const value = this.#fromWords({ ...parameter, schema: variant }, depth);
      if (value !== undefined && fits(value, variant)) {
        this.#noteMissing(
          parameter,
          variant,
          this.#sure > sureBefore || this.#borrowedNames.has(parameter.name),
        );
        return value;
      }
    }
    if (!parameter.required) return undefined;
    const [variant = parameter.schema] = variantsOf(parameter.schema);
    this.#noteMissing(parameter, variant, false);
    return this.#guess(parameter, variant);
  }

  #noteMissing(parameter: Parameter, variant: Schema, isSure: boolean): void {
    if (
      isSure ||
      !parameter.required ||
      variant.node['default'] !== undefined ||
      variant.node['enum'] !== undefined
    )
      return;
    const type = typeOf(variant);
    if (STRICT.has(parameter.kind) || type === 'number' || type === 'integer')
      this.#missing.push(parameter.kind);
  }

  #fromWords(parameter: Parameter, depth: number): unknown {
    const { node } = parameter.schema;
    if (node['const'] !== undefined) return parameter.required ? smallest(parameter.schema) : undefined;
    if (Array.isArray(node['enum'])) return this.#taken(mentionedValue(node['enum'], this.#ask));
    switch (typeOf(parameter.schema)) {
      case 'string':
      case 'any':
        return this.#string(parameter);
      case 'number':
      case 'integer':
        return this.#number(parameter);
      case 'boolean':
        return this.#taken(mentionedFlag(parameter.words, this.#ask));
      case 'array':
        return this.#array(parameter, depth);
      case 'object':
        return this.#nested(parameter, depth);
      case 'null':
        return undefined;
    }
  }

  #taken<T>(value: T): T {
    if (value !== undefined) this.#sure += 1;
    return value;
  }

  #string(parameter: Parameter): string | undefined {
    const option = mentionedValue(listedOptions(parameter.description), this.#ask);
    if (typeof option === 'string' && fits(option, parameter.schema)) return this.#taken(option);
    const own = this.#candidates(parameter, this.#ask);
    const candidates =
      own.some(({ sure }) => sure) || TEXTUAL.has(parameter.kind)
        ? own
        : [...this.#borrowed(parameter), ...own];
    const isSubject = parameter.name === this.#subject?.name;
    const listed = isSubject ? listedValues(parameter, this.#ask).filter((each) => this.#isFree(each)) : [];
    const picked = listed[Math.min(this.#options.pick, listed.length - 1)];
    for (const candidate of picked === undefined ? candidates : [picked, ...candidates]) {
      const text = this.#adjusted(candidate.text, parameter);
      if (!fits(text, parameter.schema)) continue;
      // The other values of the list belong to the other calls.
      this.#used.push(...listed, candidate);
      this.#note(candidate, parameter);
      return text;
    }
    return undefined;
  }

  #note({ sure, isBorrowed }: Candidate, { kind, required, name }: Parameter): void {
    if (isBorrowed === true) this.#borrowedNames.add(name);
    else if (sure) this.#sure += TEXTUAL.has(kind) ? TEXT_COUNTS : 1;
    else if (required) this.#guessed.push(kind);
  }

  #candidates(parameter: Parameter, ask: Ask): Candidate[] {
    const free = candidatesFor(parameter, ask, this.#used).filter((candidate) => this.#isFree(candidate));
    if (parameter.required) return free;
    // An optional text is only filled where the user gives it its name.
    return free.filter(({ sure, start }) => sure && (!TEXTUAL.has(parameter.kind) || start < 0));
  }

  /** From the rest of the message, for what this part of it leaves out. */
  #borrowed(parameter: Parameter): Candidate[] {
    if (!parameter.required) return [];
    return candidatesFor(parameter, widened(this.#ask), [])
      .filter(({ sure }) => sure)
      .map((candidate) => ({ ...candidate, isBorrowed: true }));
  }

  #isFree({ start, end }: Candidate): boolean {
    if (start < 0) return true;
    return !this.#used.some((each) => each.start >= 0 && each.start < end && start < each.end);
  }

  #adjusted(text: string, { kind, description }: Parameter): string {
    const { cwd } = this.#ask.message.circumstances;
    const isPath = kind === 'path' || kind === 'folder';
    if (
      isPath &&
      cwd !== undefined &&
      /absolute|绝对/i.test(description) &&
      !/^(?:[/~]|[A-Za-z]:)/.test(text)
    ) {
      return `${cwd.replace(/\/$/, '')}/${text.replace(/^\.\//, '')}`;
    }
    return text.slice(0, MAX_TEXT);
  }

  #number(parameter: Parameter): number | undefined {
    const { computes } = this.#options;
    const [expression] = factsOf(this.#ask, 'expression');
    if (
      computes &&
      expression?.value !== undefined &&
      [...parameter.words].some((word) => RESULT_WORDS.has(word))
    ) {
      return this.#taken(nearestNumber(expression.value, parameter.schema));
    }
    const numbers = [
      ...factsOf(this.#ask, 'number'),
      ...factsOf(this.#ask, 'identifier').filter(({ text }) => /^\d+$/.test(text)),
    ].filter((fact) => this.#isFree({ ...fact, sure: true }));
    const named = numbers.find(({ start, end }) => isLabelled(parameter.words, this.#ask, start, end));
    const chosen = named ?? (parameter.required ? numbers[0] : undefined);
    if (chosen === undefined) return undefined;
    this.#used.push({ text: chosen.text, start: chosen.start, end: chosen.end, sure: true });
    return this.#taken(nearestNumber(chosen.value ?? Number(chosen.text), parameter.schema));
  }

  #array(parameter: Parameter, depth: number): unknown[] | undefined {
    const { node } = parameter.schema;
    const max = typeof node['maxItems'] === 'number' ? node['maxItems'] : 50;
    const [item = itemsOf(parameter.schema, 0)] = variantsOf(itemsOf(parameter.schema, 0));
    const one: Parameter = {
      ...parameterOf({ ...parameter, schema: item }, this.#options.about),
      description: parameter.description,
    };
    const values = this.#items(one, item, depth).filter((value) => fits(value, item));
    return values.length === 0 ? undefined : values.slice(0, max);
  }

  #items(one: Parameter, item: Schema, depth: number): unknown[] {
    switch (typeOf(item)) {
      case 'number':
      case 'integer':
        return factsOf(this.#ask, 'number').map((fact) => this.#taken(nearestNumber(fact.value ?? 0, item)));
      case 'object': {
        if (depth >= MAX_DEPTH) return [];
        const listed = this.#listedObjects(item);
        if (listed.length > 1) return listed;
        const value = this.#nested(one, depth);
        return value === undefined ? [] : [value];
      }
      case 'string':
      case 'any':
        return this.#texts(one, item);
      default:
        return [];
    }
  }

  /** "buy milk, call mom" are two things to do: one object for each. */
  #listedObjects(item: Schema): JsonObject[] {
    const texts = propertiesOf(item).filter(
      (property) => property.required && TEXTUAL.has(parameterOf(property, this.#options.about).kind),
    );
    if (texts.length === 0) return [];
    const rest = saidIn(this.#ask.text) ?? remainder(this.#ask, this.#used);
    const from = this.#ask.text.indexOf(rest);
    const parts = rest.split(LIST_SEPARATOR).filter((part) => part !== '');
    if (from < 0 || parts.length < 2 || parts.some((part) => part.length > MAX_LISTED)) return [];
    let at = this.#ask.start + from;
    return parts.slice(0, 20).map((part) => {
      const start = this.#ask.message.text.indexOf(part, at);
      at = start + part.length;
      return new Filler(askOf(this.#ask.message, start, at), this.#options).run(item).input;
    });
  }

  #texts(one: Parameter, item: Schema): string[] {
    const values = Array.isArray(item.node['enum'])
      ? item.node['enum'].filter((value) => mentionedValue([value], this.#ask) !== undefined)
      : [];
    if (values.length > 0) return this.#taken(values.map(String));
    const candidates = this.#candidates(one, this.#ask);
    const named = candidates.filter(({ sure, start }) => sure && start >= 0);
    const spans = named.some(({ weak }) => weak !== true) ? named.filter(({ weak }) => weak !== true) : named;
    if (spans.length > 0) {
      this.#used.push(...spans);
      return this.#taken([...new Set(spans.map(({ text }) => this.#adjusted(text, one)))]);
    }
    const [best] = candidates;
    if (best === undefined || (!one.required && !best.sure)) return [];
    if (best.sure) this.#sure += 1;
    return best.text.split(LIST_SEPARATOR).filter((part) => part !== '');
  }

  #nested(parameter: Parameter, depth: number): JsonObject | undefined {
    if (depth >= MAX_DEPTH) return undefined;
    const sureBefore = this.#sure;
    const value = this.#object(parameter.schema, depth + 1);
    return parameter.required || this.#sure > sureBefore ? value : undefined;
  }

  #guess(parameter: Parameter, variant: Schema): unknown {
    const type = typeOf(variant);
    const proposed = smallest(variant);
    if (variant.node['default'] !== undefined || Array.isArray(variant.node['enum'])) return proposed;
    if (type === 'string' || type === 'any') {
      const rest = remainder(this.#ask, this.#used);
      return rest !== '' && fits(rest, variant) ? rest : proposed;
    }
    if (type === 'number' || type === 'integer') {
      const hint = [...parameter.words].some((word) => AMOUNT_WORDS.has(word)) ? 10 : 1;
      return nearestNumber(hint, variant);
    }
    return proposed;
  }
}

/** "add, subtract, multiply, or divide": an enum in the description's words. */
function listedOptions(description: string): string[] {
  const list =
    /(?:^|[:(]\s*|one of:?\s+)["'`]?(\w+)["'`]?((?:,\s*["'`]?\w+["'`]?)+),?\s+or\s+["'`]?(\w+)["'`]?/i.exec(
      description.slice(0, 200),
    );
  if (list === null) return [];
  return [list[1] ?? '', ...(list[2]?.match(/\w+/g) ?? []), list[3] ?? ''];
}
