/**
 * The input of a tool: as JSON Schema for models, and from what a model wrote. Slips that can be read
 * in one way only are put right: a number, a boolean, a list or an object written as text, and null for
 * a field that may be left out. Anything else is refused with a sentence that names the fields.
 */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { isObject, isObjectOrList } from '../../core/is-object.js';
import { wellFormed } from './clean-text.js';
import type { Tool } from './tool.js';

const made = new WeakMap<object, JsonObject>();

/** Throws where a schema cannot be written as JSON Schema: a bug of the tool. */
export function inputSchemaOf(tool: Tool): JsonObject {
  if (tool.inputJSONSchema !== undefined) return tool.inputJSONSchema;
  if (tool.inputSchema === undefined) return { type: 'object', properties: {} };
  let schema = made.get(tool.inputSchema);
  if (schema === undefined) {
    schema = toJsonSchema(tool.inputSchema);
    made.set(tool.inputSchema, schema);
  }
  return schema;
}

/** What a caller may send: fields with a default are optional. */
export function toJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bounds that zod gives every integer say nothing to a model.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}

type ParsedInput<Input> = { ok: true; input: Input } | { ok: false; message: string };

type Path = readonly PropertyKey[];

/** A text may hold a list whose items want another look. */
const ROUNDS = 3;
const MAX_PROBLEMS = 8;
const MAX_SHOWN = 60;

export function parseInput(tool: Tool, raw: unknown): ParsedInput<unknown> {
  const check = checkOf(tool);
  let candidate: unknown = raw;
  for (let round = 0; ; round++) {
    const checked = check(candidate);
    if ('input' in checked) return { ok: true, input: checked.input };
    const mended = round < ROUNDS ? mend(candidate, checked.issues) : undefined;
    if (mended === undefined) return { ok: false, message: explain(tool, candidate, checked.issues) };
    candidate = mended;
  }
}

type Issue = z.core.$ZodIssue;
type Check = (input: unknown) => { input: unknown } | { issues: readonly Issue[] };

const checks = new WeakMap<object, Check>();

function checkOf({ inputSchema, inputJSONSchema }: Tool): Check {
  const schema = inputSchema ?? inputJSONSchema;
  if (schema === undefined) return checkWith(z.looseObject({}));
  let check = checks.get(schema);
  if (check === undefined) {
    check = inputSchema === undefined ? checkJsonSchema(inputJSONSchema ?? {}) : checkWith(inputSchema);
    checks.set(schema, check);
  }
  return check;
}

function checkWith(schema: z.ZodType): Check {
  return (input) => {
    const parsed = schema.safeParse(input);
    return parsed.success ? { input: parsed.data } : { issues: parsed.error.issues };
  };
}

/** A JSON Schema only checks: its tool gets the input as it was written. */
function checkJsonSchema(schema: JsonObject): Check {
  const whole = z.looseObject({});
  const fields = readJsonSchema(schema);
  return (input) => {
    const { error } = whole.safeParse(input).success ? fields.safeParse(input) : whole.safeParse(input);
    return error === undefined ? { input } : { issues: error.issues };
  };
}

/** Where zod cannot read it all: fields that must be there are there. */
function readJsonSchema(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(withoutAnnotations(schema));
  } catch {
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const names = required.filter((name) => typeof name === 'string');
    return z.looseObject(Object.fromEntries(names.map((name) => [name, z.unknown().refine(isGiven)])));
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/**
 * By the specification `format` and `default` do not make an input wrong, and checkers differ
 * about formats.
 */
function withoutAnnotations(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema, strip));
}

function strip(this: unknown, key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  // In `properties` the keys are names of fields, whatever they are called.
  if (NAMES_BELOW.has(key)) return value;
  const { format: _format, default: _default, ...rest } = value;
  return rest;
}

const NAMES_BELOW: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** A copy with what can be put right, or undefined where nothing can. */
function mend(input: unknown, issues: readonly Issue[]): unknown {
  if (issues.some(({ path }) => path.length === 0) && typeof input === 'string') {
    const value = fromJson(input);
    return isObjectOrList(value) ? value : undefined;
  }
  if (!isObjectOrList(input)) return undefined;
  let copy: JsonObject | undefined;
  for (const issue of issues) {
    if (issue.path.length === 0) continue;
    const value = valueAt(input, issue.path);
    const changes = expectedTypes(issue).flatMap((type) => changeFor(type, value) ?? []);
    const change = changes[0];
    // Two ways to read it are none.
    if (change === undefined || changes.length > 1) continue;
    copy ??= structuredClone(input);
    apply(copy, issue.path, change);
  }
  return copy;
}

/** More than one for a field that may be of several types. */
function expectedTypes(issue: Issue): string[] {
  if (issue.code === 'invalid_type') return [issue.expected];
  if (issue.code !== 'invalid_union') return [];
  const options = issue.errors.flat();
  return options.flatMap((option) =>
    option.code === 'invalid_type' && option.path.length === 0 ? [option.expected] : [],
  );
}

type Change = { remove: true } | { set: unknown };

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function changeFor(expected: string, value: unknown): Change | undefined {
  if (value === null) return { remove: true };
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  switch (expected) {
    case 'number':
    case 'int':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? { set: Number(text) } : undefined;
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? { set: text.toLowerCase() === 'true' } : undefined;
    case 'array': {
      const parsed = fromJson(text);
      return Array.isArray(parsed) ? { set: parsed } : undefined;
    }
    case 'object':
    case 'record': {
      const parsed = fromJson(text);
      return isObject(parsed) ? { set: parsed } : undefined;
    }
    default:
      return undefined;
  }
}

function apply(root: JsonObject, path: Path, change: Change): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (!isObjectOrList(parent) || key === undefined) return;
  if ('set' in change) Reflect.set(parent, key, change.set);
  // An item of a list cannot be left out without moving the others.
  else if (!Array.isArray(parent)) Reflect.deleteProperty(parent, key);
}

function explain(tool: Tool, input: unknown, issues: readonly Issue[]): string {
  const problems = [...new Set(issues.map((issue) => describeIssue(input, issue)))];
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more problems`);
  return `${tool.name} cannot take this input: ${shown.join('; ')}. ${fieldsOf(tool)}`.trimEnd();
}

function describeIssue(input: unknown, issue: Issue): string {
  const place = placeOf(issue.path);
  const value = valueAt(input, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `\`${placeName([...issue.path, key])}\``).join(', ');
    return `${names} ${issue.keys.length === 1 ? 'is not a field' : 'are not fields'} of it`;
  }
  if (value === undefined && issue.path.length > 0) return `${place} is missing`;
  if (issue.code === 'invalid_type')
    return `${place} must be ${an(issue.expected)}, got ${shownValue(value)}`;
  return `${place}: ${lowerFirst(issue.message)}`;
}

/** So that the next try is right. */
function fieldsOf(tool: Tool): string {
  const schema = inputSchemaOf(tool);
  const properties = schema['properties'];
  if (!isObjectOrList(properties)) return '';
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties);
  if (names.length === 0) return 'It takes no fields.';
  return `Its fields: ${names.map((name) => (required.includes(name) ? `${name} (required)` : name)).join(', ')}.`;
}

function placeOf(path: Path): string {
  return path.length === 0 ? 'the input' : `\`${placeName(path)}\``;
}

function placeName(path: Path): string {
  return path.map(String).join('.');
}

function an(type: string): string {
  if (type === 'int') return 'a whole number';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function shownValue(value: unknown): string {
  if (value === null) return 'null';
  const text = JSON.stringify(value) ?? String(value);
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  const type = Array.isArray(value) ? 'array' : typeof value;
  return `the ${type} ${wellFormed(cut)}`;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObjectOrList(value) ? Reflect.get(value, key) : undefined),
    root,
  );
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parsed, and with the tool's own account of it; false where the tool has none. */
export interface Classified {
  input: unknown;
  readOnly: boolean;
  concurrencySafe: boolean;
  needsPermissions: boolean;
}

export function classify(tool: Tool, raw: unknown): Classified | { problem: string } {
  const parsed = parseInput(tool, raw);
  if (!parsed.ok) return { problem: parsed.message };
  const { input } = parsed;
  return {
    input,
    readOnly: tool.isReadOnly(input) === true,
    concurrencySafe: tool.isConcurrencySafe(input) === true,
    needsPermissions: tool.needsPermissions(input) !== false,
  };
}

/** What the model sent, without what is a person's to say. */
export function withoutPersonFields({ personFields = [] }: Tool, raw: JsonObject): JsonObject {
  if (!personFields.some((name) => Object.hasOwn(raw, name))) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !personFields.includes(name)));
}
