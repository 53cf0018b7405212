/** JSON Schema as tools use it: following references, checking a value, making the smallest one. */
import type { JsonObject } from '../../core/conversation.js';
import { matchesPattern, sampleOf } from './pattern.js';

/** A schema with the document its references point into. */
export interface Schema {
  node: JsonObject;
  document: Document;
}

/**
 * A schema that refers to itself can describe more than there is time for, so each document may be
 * followed for a number of steps; after that everything fits.
 */
interface Document {
  root: JsonObject;
  steps: number;
}

const MAX_STEPS = 20_000;
const MAX_DEPTH = 8;
const MAX_VARIANTS = 24;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function schemaOf(node: unknown, document?: Document): Schema {
  const own = isObject(node) ? node : {};
  return { node: own, document: document ?? { root: own, steps: MAX_STEPS } };
}

/** References followed and `allOf` merged; alternatives stay. */
export function resolve(schema: Schema, depth = 0): Schema {
  let { node } = schema;
  const { document } = schema;
  document.steps -= 1;
  if (document.steps < 0) return { node: {}, document };
  for (let hop = 0; hop < MAX_DEPTH && typeof node['$ref'] === 'string'; hop++) {
    const { $ref, ...rest } = node;
    const target = lookUp(document.root, $ref);
    node = { ...target, ...rest };
    if (target === undefined) break;
  }
  const parts = listOf(node['allOf']);
  if (parts.length === 0 || depth >= MAX_DEPTH) return { node, document };
  const { allOf: _, ...rest } = node;
  let merged: JsonObject = rest;
  for (const part of parts) merged = merge(merged, resolve(schemaOf(part, document), depth + 1).node);
  return { node: merged, document };
}

function lookUp(root: JsonObject, ref: string): JsonObject | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const key of ref
    .slice(1)
    .split('/')
    .filter((part) => part !== '')) {
    if (!isObject(node) && !Array.isArray(node)) return undefined;
    node = Reflect.get(node, key.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return isObject(node) ? node : undefined;
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const properties = isObject(a['properties']) || isObject(b['properties']);
  return {
    ...a,
    ...b,
    ...(properties ? { properties: { ...asObject(a['properties']), ...asObject(b['properties']) } } : {}),
    ...(a['required'] !== undefined || b['required'] !== undefined
      ? { required: [...new Set([...listOf(a['required']), ...listOf(b['required'])])] }
      : {}),
  };
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** One schema for each way a value may be, `null` last. */
export function variantsOf(schema: Schema, depth = 0): Schema[] {
  const { node, document } = resolve(schema);
  const choices = [...listOf(node['anyOf']), ...listOf(node['oneOf'])].slice(0, MAX_VARIANTS);
  if (choices.length > 0 && depth < MAX_DEPTH) {
    const { anyOf: _any, oneOf: _one, ...rest } = node;
    const variants = choices.flatMap((choice) =>
      variantsOf({ node: merge(rest, resolve(schemaOf(choice, document)).node), document }, depth + 1),
    );
    return nullLast(variants);
  }
  const types = listOf(node['type']).filter((type) => typeof type === 'string');
  if (types.length === 0) return [{ node, document }];
  return nullLast(types.map((type) => ({ node: { ...node, type }, document })));
}

function nullLast(variants: readonly Schema[]): Schema[] {
  return [
    ...variants.filter(({ node }) => node['type'] !== 'null'),
    ...variants.filter(({ node }) => node['type'] === 'null'),
  ].slice(0, MAX_VARIANTS);
}

export type SchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' | 'any';

const TYPES: readonly SchemaType[] = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

export function typeOf({ node }: Schema): SchemaType {
  const named = TYPES.find((type) => type === String(node['type']).toLowerCase());
  if (named !== undefined) return named;
  if (isObject(node['properties']) || node['required'] !== undefined) return 'object';
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return 'array';
  if (typeof node['pattern'] === 'string' || typeof node['minLength'] === 'number') return 'string';
  if (typeof node['minimum'] === 'number' || typeof node['maximum'] === 'number') return 'number';
  return 'any';
}

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

/** Required ones first; a required name without a schema takes anything. */
export function propertiesOf(schema: Schema): Property[] {
  const { node, document } = schema;
  const required = new Set(listOf(node['required']).filter((name) => typeof name === 'string'));
  const properties = asObject(node['properties']);
  const names = new Set([...Object.keys(properties), ...required]);
  const all = [...names].map((name) => ({
    name,
    schema: schemaOf(Object.hasOwn(properties, name) ? properties[name] : {}, document),
    required: required.has(name),
  }));
  return [...all.filter((property) => property.required), ...all.filter((property) => !property.required)];
}

export function itemsOf({ node, document }: Schema, index: number): Schema {
  const tuple = listOf(node['prefixItems'] ?? node['items']);
  return schemaOf(
    index < tuple.length ? tuple[index] : Array.isArray(node['items']) ? {} : node['items'],
    document,
  );
}

const FORMATS: ReadonlyMap<string, { pattern: RegExp; sample: string }> = new Map(
  Object.entries({
    date: { pattern: /^\d{4}-\d\d-\d\d$/, sample: '2025-01-01' },
    'date-time': {
      pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
      sample: '2025-01-01T00:00:00Z',
    },
    time: { pattern: /^\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/, sample: '12:00:00' },
    email: { pattern: /^[^\s@]{1,64}@[^\s@]{1,190}$/, sample: 'user@example.com' },
    uri: { pattern: /^[a-z][a-z0-9+.-]*:\S+$/i, sample: 'https://example.com' },
    url: { pattern: /^[a-z][a-z0-9+.-]*:\S+$/i, sample: 'https://example.com' },
    uuid: {
      pattern: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
      sample: '00000000-0000-4000-8000-000000000000',
    },
    ipv4: { pattern: /^\d{1,3}(?:\.\d{1,3}){3}$/, sample: '127.0.0.1' },
  }),
);

export function formatOf({ node }: Schema): string | undefined {
  return typeof node['format'] === 'string' ? node['format'] : undefined;
}

/** Whether the value is what the schema asks for, in the keywords that tools use. */
export function fits(value: unknown, schema: Schema, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  return variantsOf(schema).some((variant) => fitsVariant(value, variant, depth));
}

function fitsVariant(value: unknown, schema: Schema, depth: number): boolean {
  const { node } = schema;
  if (node['const'] !== undefined && !isSame(node['const'], value)) return false;
  if (Array.isArray(node['enum']) && !node['enum'].some((each) => isSame(each, value))) return false;
  if (value === null)
    return typeOf(schema) === 'null' || typeOf(schema) === 'any' || node['nullable'] === true;
  switch (typeOf(schema)) {
    case 'string':
      return typeof value === 'string' && fitsString(value, schema);
    case 'integer':
      return Number.isInteger(value) && fitsNumber(Number(value), node);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && fitsNumber(value, node);
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value) && fitsArray(value, schema, depth);
    case 'object':
      return isObject(value) && fitsObject(value, schema, depth);
    case 'null':
      return false;
    case 'any':
      return true;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a === b || (isShallow(a) && isShallow(b) && JSON.stringify(a) === JSON.stringify(b));
}

function fitsString(value: string, schema: Schema): boolean {
  const { node } = schema;
  const length = [...value].length;
  if (
    length < numberIn(node, 'minLength', 0) ||
    length > numberIn(node, 'maxLength', Number.POSITIVE_INFINITY)
  )
    return false;
  const format = FORMATS.get(formatOf(schema) ?? '');
  if (format !== undefined && !format.pattern.test(value)) return false;
  return typeof node['pattern'] !== 'string' || matchesPattern(node['pattern'], value) !== false;
}

function numberIn(node: JsonObject, key: string, otherwise: number): number {
  const value = node[key];
  return typeof value === 'number' ? value : otherwise;
}

function fitsNumber(value: number, node: JsonObject): boolean {
  const { low, high } = boundsOf(node);
  if (value < low || value > high) return false;
  if (value === node['exclusiveMinimum'] || value === node['exclusiveMaximum']) return false;
  if (
    (node['exclusiveMinimum'] === true && value === low) ||
    (node['exclusiveMaximum'] === true && value === high)
  )
    return false;
  const step = numberIn(node, 'multipleOf', 0);
  return step <= 0 || Math.abs(value / step - Math.round(value / step)) < 1e-9;
}

function boundsOf(node: JsonObject): { low: number; high: number } {
  return {
    low: Math.max(
      numberIn(node, 'minimum', Number.NEGATIVE_INFINITY),
      numberIn(node, 'exclusiveMinimum', Number.NEGATIVE_INFINITY),
    ),
    high: Math.min(
      numberIn(node, 'maximum', Number.POSITIVE_INFINITY),
      numberIn(node, 'exclusiveMaximum', Number.POSITIVE_INFINITY),
    ),
  };
}

function fitsArray(value: readonly unknown[], schema: Schema, depth: number): boolean {
  const { node } = schema;
  if (
    value.length < numberIn(node, 'minItems', 0) ||
    value.length > numberIn(node, 'maxItems', Number.POSITIVE_INFINITY)
  )
    return false;
  if (node['uniqueItems'] === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    return false;
  return value.every((item, index) => fits(item, itemsOf(schema, index), depth + 1));
}

function fitsObject(value: JsonObject, schema: Schema, depth: number): boolean {
  const properties = propertiesOf(schema);
  if (properties.some(({ name, required }) => required && !Object.hasOwn(value, name))) return false;
  const known = new Map(properties.map((property) => [property.name, property.schema]));
  return Object.entries(value).every(([name, item]) => {
    const own = known.get(name);
    if (own !== undefined) return fits(item, own, depth + 1);
    const others = schema.node['additionalProperties'];
    return (
      others !== false && (!isObject(others) || fits(item, schemaOf(others, schema.document), depth + 1))
    );
  });
}

/** Deeper values, which only a hostile schema or result holds, would exhaust the stack. */
export function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < 32 && Object.values(value).every((item) => isShallow(item, depth + 1));
}

/** The smallest value that fits: what the schema itself proposes first. */
export function smallest(schema: Schema, depth = 0): unknown {
  const [variant] = variantsOf(schema);
  if (variant === undefined || depth > MAX_DEPTH) return null;
  const { node } = variant;
  for (const proposed of [
    node['const'],
    node['default'],
    ...listOf(node['enum']),
    ...listOf(node['examples']),
  ]) {
    if (proposed !== undefined && isShallow(proposed) && fits(proposed, variant, depth)) return proposed;
  }
  switch (typeOf(variant)) {
    case 'string':
      return smallestString(variant);
    case 'integer':
    case 'number':
      return nearestNumber(0, variant);
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Math.min(100, numberIn(node, 'minItems', 0)) }, (_, index) =>
        distinct(smallest(itemsOf(variant, index), depth + 1), node['uniqueItems'] === true ? index : 0),
      );
    case 'object':
      return Object.fromEntries(
        propertiesOf(variant)
          .filter(({ required }) => required)
          .map(({ name, schema: own }) => [name, smallest(own, depth + 1)]),
      );
    case 'null':
      return null;
    case 'any':
      return '';
  }
}

function distinct(value: unknown, index: number): unknown {
  if (index === 0) return value;
  if (typeof value === 'number') return value + index;
  return typeof value === 'string' ? `${value}${index}` : value;
}

function smallestString(schema: Schema): string {
  const { node } = schema;
  const format = FORMATS.get(formatOf(schema) ?? '');
  if (format !== undefined) return format.sample;
  if (typeof node['pattern'] === 'string') return sampleOf(node['pattern']) ?? '';
  return 'x'.repeat(Math.min(1000, numberIn(node, 'minLength', 0)));
}

/** The number nearest to `value` that the schema takes. */
export function nearestNumber(value: number, schema: Schema): number {
  const { node } = schema;
  const isInteger = typeOf(schema) === 'integer';
  const step = numberIn(node, 'multipleOf', isInteger ? 1 : 0);
  const { low, high } = boundsOf(node);
  const nudge = step > 0 ? step : 0.5;
  const opens = (key: string, limit: number): boolean => node[key] === limit || node[key] === true;
  let near = Math.min(Math.max(value, low), high);
  if (near === low && opens('exclusiveMinimum', low)) near += nudge;
  if (near === high && opens('exclusiveMaximum', high)) near -= nudge;
  if (step <= 0) return near;
  const down = Math.floor(near / step) * step;
  return fitsNumber(down, node) ? down : down + step;
}
