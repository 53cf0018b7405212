/** JSON Schema as tools use it: checking a value, and making the smallest one that fits. */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

/** A schema with the document that its references point into. */
export interface Schema {
  node: JsonObject;
  document: Document;
}

/** A schema that refers to itself can describe more than there is time for, so the steps are counted. */
interface Document {
  root: JsonObject;
  steps: number;
}

export const MAX_DEPTH = 8;
const MAX_VARIANTS = 24;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const numberIn = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

export function schemaOf(node: unknown, document?: Document): Schema {
  const own = asObject(node);
  return { node: own, document: document ?? { root: own, steps: 20_000 } };
}

/** With references followed. */
export function resolve({ node: start, document }: Schema): JsonObject {
  document.steps -= 1;
  let node = document.steps < 0 ? {} : start;
  for (let hop = 0; hop < MAX_DEPTH && typeof node['$ref'] === 'string'; hop++) {
    const { $ref, ...rest } = node;
    let target: unknown = document.root;
    for (const key of String($ref).split('/').slice(1)) {
      const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
      target = new Map(Object.entries(Object(target))).get(name);
    }
    node = { ...asObject(target), ...rest };
  }
  return node;
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const properties = { ...asObject(a['properties']), ...asObject(b['properties']) };
  return { ...a, ...b, properties, required: [...listOf(a['required']), ...listOf(b['required'])] };
}

/** One schema for each way a value may be, `allOf` merged, `null` last. */
export function variantsOf(schema: Schema, depth = 0): Schema[] {
  const { document } = schema;
  const { allOf, anyOf, oneOf, ...rest } = resolve(schema);
  const inner = (part: unknown): JsonObject[] =>
    depth > MAX_DEPTH ? [] : variantsOf(schemaOf(part, document), depth + 1).map(({ node }) => node);
  const base = listOf(allOf).reduce<JsonObject>((node, part) => merge(node, inner(part)[0] ?? {}), rest);
  const choices = [...listOf(anyOf), ...listOf(oneOf)].slice(0, MAX_VARIANTS).flatMap(inner);
  const nodes = choices.length === 0 ? [base] : choices.map((choice) => merge(base, choice));
  const isNull = ({ node }: Schema): number => (node['type'] === 'null' ? 1 : 0);
  return nodes
    .flatMap((node) => [node['type']].flat().map((type) => ({ node: { ...node, type }, document })))
    .sort((a, b) => isNull(a) - isNull(b))
    .slice(0, MAX_VARIANTS);
}

/** Some clients write types in capitals, and some leave them out. */
export function typeOf({ node, document }: Schema): string {
  if (typeof node['type'] === 'string') return node['type'].toLowerCase();
  const has = (...keys: readonly string[]): boolean => keys.some((key) => node[key] !== undefined);
  if (propertiesOf({ node, document }).length > 0) return 'object';
  if (has('items', 'prefixItems', 'minItems')) return 'array';
  if (has('pattern', 'format', 'minLength', 'maxLength')) return 'string';
  return has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf') ? 'number' : 'any';
}

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

/** Required ones first; a required name without a schema takes anything. */
export function propertiesOf({ node, document }: Schema): Property[] {
  const properties = new Map(Object.entries(asObject(node['properties'])));
  const required = new Set(listOf(node['required']).filter((name) => typeof name === 'string'));
  return [...new Set([...required, ...properties.keys()])].map((name) => ({
    name,
    schema: schemaOf(properties.get(name), document),
    required: required.has(name),
  }));
}

export function itemsOf({ node, document }: Schema, index: number): Schema {
  const tuple = listOf(node['prefixItems'] ?? node['items']);
  return schemaOf(index < tuple.length ? tuple[index] : node['items'], document);
}

const FORMATS: ReadonlyMap<unknown, readonly [pattern: RegExp, sample: string]> = new Map([
  ['date', [/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/, '2025-01-01']],
  ['date-time', [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/, '2025-01-01T00:00:00Z']],
  ['time', [/^\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/, '12:00:00Z']],
  ['email', [/^\w+(?:[.+-]\w+)*@\w+(?:[.-]\w+)*\.[a-z]{2,}$/i, 'user@example.com']],
  ['uri', [/^https?:\/\/[^\s"<>\\^`{|}]+$/i, 'https://example.com']],
  ['uuid', [/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, '00000000-0000-4000-8000-000000000000']],
]);

function isOfType(value: unknown, type: unknown): boolean {
  const named = typeof type === 'string' ? type.toLowerCase() : typeof value;
  if (named === 'integer') return Number.isInteger(value);
  if (named === 'array') return Array.isArray(value);
  if (named === 'object') return isObject(value);
  return named === 'null' ? value === null : named === typeof value;
}

/** Whether the value is what the schema asks for, in the keywords that tools use. */
export function fits(value: unknown, schema: Schema, depth = 0): boolean {
  const { document } = schema;
  const node = resolve(schema);
  if (depth > 2 * MAX_DEPTH || document.steps < 0) return true;
  const inner = (part: unknown): boolean => fits(value, schemaOf(part, document), depth + 1);
  const { type, const: only, enum: values, anyOf, oneOf } = node;
  if (!listOf(node['allOf']).every(inner) || (Array.isArray(anyOf) && !anyOf.some(inner))) return false;
  if (Array.isArray(oneOf) && oneOf.filter(inner).length !== 1) return false;
  if (only !== undefined && !isSame(only, value)) return false;
  if (Array.isArray(values) && !values.some((each) => isSame(each, value))) return false;
  if (value === null && node['nullable'] === true) return true;
  if (type !== undefined && ![type].flat().some((each) => isOfType(value, each))) return false;
  if (typeof value === 'string') return fitsString(value, node);
  if (typeof value === 'number') return fitsNumber(value, node);
  if (Array.isArray(value)) return fitsArray(value, { node, document }, depth);
  return !isObject(value) || fitsObject(value, { node, document }, depth);
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (isShallow(a) && isShallow(b) && JSON.stringify(a) === JSON.stringify(b));

/** Deeper values, which only a hostile schema or result holds, would exhaust the stack. */
export function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < 32 && Object.values(value).every((item) => isShallow(item, depth + 1));
}

function fitsString(value: string, { minLength, maxLength, format, pattern }: JsonObject): boolean {
  // Some validators count UTF-16 units instead of characters, so both counts have to fit.
  if ([...value].length < numberIn(minLength, 0) || value.length > numberIn(maxLength, Infinity))
    return false;
  if (FORMATS.get(format)?.[0].test(value) === false) return false;
  return typeof pattern !== 'string' || matchesPattern(pattern, value);
}

/**
 * A client's pattern made to backtrack for hours would stop the gateway, so only plain ones are
 * run (few open-ended quantifiers, none after a group), on short texts. Any other matches nothing.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const bare = pattern.replace(/\\[^1-9k]/gu, 'a').replace(/\[\^?\]?[^\]]*\]/gu, 'a');
  const openEnded = bare.match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  const isPlain = openEnded <= 2 && !/\)[*+{?]|\\|\(\?[<=!]/.test(bare);
  if (!isPlain || pattern.length > 200 || text.length > 256) return false;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}

function fitsNumber(value: number, node: JsonObject): boolean {
  if (!Number.isFinite(value)) return false;
  if (value < numberIn(node['minimum'], -Infinity) || value > numberIn(node['maximum'], Infinity))
    return false;
  if (value <= numberIn(node['exclusiveMinimum'], -Infinity)) return false;
  if (value >= numberIn(node['exclusiveMaximum'], Infinity)) return false;
  const step = numberIn(node['multipleOf'], 0);
  return step <= 0 || Number.isInteger(value / step);
}

function fitsArray(value: readonly unknown[], schema: Schema, depth: number): boolean {
  const { minItems, maxItems, uniqueItems } = schema.node;
  if (value.length < numberIn(minItems, 0) || value.length > numberIn(maxItems, Infinity)) return false;
  const isUnique = new Set(value.map((item) => JSON.stringify(item))).size === value.length;
  if (uniqueItems === true && !isUnique) return false;
  return value.every((item, index) => fits(item, itemsOf(schema, index), depth + 1));
}

function fitsObject(value: JsonObject, schema: Schema, depth: number): boolean {
  const properties = propertiesOf(schema);
  const others = schema.node['additionalProperties'];
  if (properties.some(({ name, required }) => required && !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, item]) => {
    const own = properties.find((property) => property.name === name)?.schema;
    if (own === undefined && others === false) return false;
    return fits(item, own ?? schemaOf(others, schema.document), depth + 1);
  });
}

/** The smallest value that fits: what the schema itself proposes first. */
export function smallest(schema: Schema, depth = 0): unknown {
  const made = variantsOf(schema).flatMap((variant) => smallestOf(variant, depth));
  return made.find((value) => fits(value, schema)) ?? made[0];
}

function smallestOf(variant: Schema, depth: number): unknown[] {
  const { node } = variant;
  const proposed = [node['const'], node['default'], ...listOf(node['enum']), ...listOf(node['examples'])];
  const made = proposed.filter((each) => each !== undefined && isShallow(each));
  if (depth > MAX_DEPTH) return [...made, null];
  switch (typeOf(variant)) {
    case 'integer':
    case 'number':
      return [...made, nearestNumber(0, variant)];
    case 'boolean':
      return [...made, false, true];
    case 'null':
      return [null];
    case 'array': {
      const length = Math.min(100, numberIn(node['minItems'], 0));
      const items = Array.from({ length }, (_, index) => smallest(itemsOf(variant, index), depth + 1));
      const distinct = items.map((item, index) => (typeof item === 'number' ? item + index : `x${index}`));
      return [...made, items, distinct];
    }
    case 'object': {
      const required = propertiesOf(variant).filter((property) => property.required);
      const fields = required.map(({ name, schema }) => [name, smallest(schema, depth + 1)]);
      return [...made, Object.fromEntries(fields)];
    }
    default: {
      const sample = FORMATS.get(node['format'])?.[1] ?? '';
      return [...made, sample.padEnd(Math.min(1000, numberIn(node['minLength'], 0)), 'x')];
    }
  }
}

/** The number nearest to `value` that the schema takes. */
export function nearestNumber(value: number, variant: Schema): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = variant.node;
  const low = Math.max(numberIn(minimum, -Infinity), numberIn(exclusiveMinimum, -Infinity));
  const high = Math.min(numberIn(maximum, Infinity), numberIn(exclusiveMaximum, Infinity));
  const near = Math.min(Math.max(value, low), high);
  const step = numberIn(multipleOf, typeOf(variant) === 'integer' ? 1 : 0);
  const unit = step > 0 ? step : 1;
  return (
    [near, near + unit, near - unit, (low + high) / 2]
      .flatMap((each) =>
        step > 0 ? [Math.floor(each / step) * step, Math.ceil(each / step) * step] : [each],
      )
      .find((each) => fitsNumber(each, variant.node)) ?? value
  );
}
