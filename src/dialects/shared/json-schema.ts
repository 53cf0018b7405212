/**
 * JSON Schemas cut down to what an upstream takes. Each profile is a row of rules; one walk applies
 * them. Key order is kept and what needs no change is returned as it is, because upstream prompt
 * caches depend on the bytes.
 */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { SCHEMA_RULES, type SchemaProfile, type SchemaRules, SILENT_KEYWORDS } from './schema-rules.js';

export type { SchemaProfile } from './schema-rules.js';

interface NormalisedSchema {
  schema: JsonObject;
  /** Keywords that were taken out or weakened, each once, for the loss report. */
  removed: readonly string[];
}

const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SCHEMA_PLACES: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const ROOT_UNIONS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'] as const;

/** Deeper than any real schema; below it, the rest is sent as it came. */
const MAX_DEPTH = 64;
/** References inside references grow without bound; what is past this many is any object. */
const MAX_INLINED = 10_000;

/** The parameters of a function as `profile` takes them: always an object schema with `properties`. */
export function normaliseSchema(schema: JsonObject | undefined, profile: SchemaProfile): NormalisedSchema {
  if (profile === 'full') return { schema: asObjectSchema(schema), removed: [] };
  const root = asObjectSchema(schema === undefined ? schema : withoutRootRef(schema));
  const walk = new SchemaWalk(SCHEMA_RULES[profile], root);
  return { schema: walk.root(), removed: [...walk.removed] };
}

/** Any schema, not only one of a function's parameters. */
export function normaliseOutputSchema(schema: JsonObject, profile: SchemaProfile): NormalisedSchema {
  if (profile === 'full') return { schema, removed: [] };
  const walk = new SchemaWalk(SCHEMA_RULES[profile], schema);
  return { schema: walk.any(), removed: [...walk.removed] };
}

/** A missing schema, type or `properties` is a 400 almost everywhere. */
function asObjectSchema(schema: JsonObject | undefined): JsonObject {
  if (schema === undefined) return { type: 'object', properties: {} };
  const typed = schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
  return isObject(typed['properties']) ? typed : { ...typed, properties: {} };
}

/** Generators write `{"$ref": "#/definitions/Input", "definitions": …}`; the root must be the object itself. */
function withoutRootRef(schema: JsonObject): JsonObject {
  let root = schema;
  for (let hop = 0; hop < 8 && typeof root['$ref'] === 'string'; hop += 1) {
    const { $ref, ...rest } = root;
    root = { ...lookUp(schema, String($ref)), ...rest };
  }
  return root;
}

class SchemaWalk {
  readonly removed = new Set<string>();
  readonly #rules: SchemaRules;
  readonly #root: JsonObject;
  /** References being inlined, so that a schema that contains itself ends. */
  readonly #open = new Set<string>();
  #inlined = 0;

  constructor(rules: SchemaRules, root: JsonObject) {
    this.#rules = rules;
    this.#root = root;
  }

  root(): JsonObject {
    return this.#schema(this.#rules.flatRoot ? this.#flatten(this.#root) : this.#root, 0);
  }

  any(): JsonObject {
    return this.#schema(this.#root, 0);
  }

  #remove(keyword: string): void {
    if (!SILENT_KEYWORDS.has(keyword)) this.removed.add(keyword);
  }

  /** A place where a schema stands: an object, or `true`/`false`. */
  #place(value: unknown, depth: number): unknown {
    if (isObject(value)) return this.#schema(value, depth);
    if (typeof value !== 'boolean' || !this.#rules.noBooleans) return value;
    if (!value) this.#remove('false');
    return {};
  }

  #schema(given: JsonObject, depth: number): JsonObject {
    const { openApi } = this.#rules;
    if (depth > MAX_DEPTH) return openApi ? this.#anyObject({}) : given;
    const entered: string[] = [];
    const schema = openApi ? this.#resolve(given, entered) : given;
    let changed = schema !== given;
    const out: JsonObject = {};
    for (const key in schema) {
      const value = schema[key];
      const kept = this.#keyword(key, value, depth);
      if (kept !== value) changed = true;
      if (kept !== undefined) out[key] = kept;
    }
    if (openApi) this.#toOpenApi(out);
    if (this.#rules.items !== undefined && out['type'] === 'array' && out['items'] === undefined) {
      out['items'] = this.#rules.items;
      changed = true;
    }
    for (const ref of entered) this.#open.delete(ref);
    return changed || openApi ? out : schema;
  }

  /** The value that stays; undefined takes the keyword out. */
  #keyword(key: string, value: unknown, depth: number): unknown {
    if (this.#rules.drop.has(key)) {
      this.#remove(key);
      return undefined;
    }
    if (key === 'format' && this.#rules.formats !== undefined) {
      if (typeof value === 'string' && this.#rules.formats.has(value)) return value;
      this.#remove('format');
      return undefined;
    }
    if (key === 'additionalProperties' && typeof value === 'boolean') return value;
    if (SCHEMA_PLACES.has(key)) {
      return Array.isArray(value) ? this.#list(value, depth) : this.#place(value, depth + 1);
    }
    if (SCHEMA_LISTS.has(key) && Array.isArray(value)) return this.#list(value, depth);
    if (SCHEMA_MAPS.has(key) && isObject(value)) return this.#map(value, depth);
    return value;
  }

  #list(list: readonly unknown[], depth: number): unknown {
    const kept = list.map((each) => this.#place(each, depth + 1));
    return kept.every((each, index) => each === list[index]) ? list : kept;
  }

  #map(map: JsonObject, depth: number): JsonObject {
    let changed = false;
    const out: JsonObject = {};
    for (const name in map) {
      const kept = this.#place(map[name], depth + 1);
      if (kept !== map[name]) changed = true;
      out[name] = kept;
    }
    return changed ? out : map;
  }

  /** Unions at the root become one object that allows what any of them does. */
  #flatten(root: JsonObject): JsonObject {
    if (ROOT_UNIONS.every((key) => root[key] === undefined)) return root;
    const { anyOf, oneOf, allOf, not: _not, enum: _enum, ...rest } = root;
    for (const key of ROOT_UNIONS) if (root[key] !== undefined) this.#remove(`${key} at the root`);
    const properties: JsonObject = isObject(rest['properties']) ? { ...rest['properties'] } : {};
    const required = new Set(strings(rest['required']));
    for (const branch of objects(allOf)) {
      addMissing(properties, branch['properties']);
      for (const name of strings(branch['required'])) required.add(name);
    }
    for (const union of [anyOf, oneOf]) {
      const branches = objects(union);
      for (const branch of branches) addMissing(properties, branch['properties']);
      for (const name of strings(branches[0]?.['required'])) {
        if (branches.every((branch) => strings(branch['required']).includes(name))) required.add(name);
      }
    }
    const flat: JsonObject = { ...rest, properties };
    if (required.size > 0) flat['required'] = [...required];
    return flat;
  }

  /** What `ref` names, now being inlined; undefined where that would not end. */
  #enter(ref: string, entered: string[]): JsonObject | undefined {
    const target = lookUp(this.#root, ref);
    if (target === undefined || this.#open.has(ref) || this.#inlined >= MAX_INLINED) return undefined;
    this.#inlined += 1;
    this.#open.add(ref);
    entered.push(ref);
    return target;
  }

  /** In place of what cannot be written out. */
  #anyObject(rest: JsonObject): JsonObject {
    this.removed.add('$ref');
    return { type: 'object', ...rest };
  }

  /** What a reference names, in place of it, with `allOf` merged. */
  #resolve(schema: JsonObject, entered: string[]): JsonObject {
    let resolved = schema;
    while (typeof resolved['$ref'] === 'string') {
      const { $ref: ref, ...rest } = resolved;
      const target = this.#enter(String(ref), entered);
      resolved = target === undefined ? this.#anyObject(rest) : { ...target, ...rest };
    }
    return this.#mergeAll(resolved, entered);
  }

  #mergeAll(schema: JsonObject, entered: string[]): JsonObject {
    let merged = schema;
    for (let round = 0; round < MAX_DEPTH && Array.isArray(merged['allOf']); round += 1) {
      const { allOf, ...rest } = merged;
      merged = rest;
      for (const branch of objects(allOf)) this.#mergeBranch(merged, branch, entered);
    }
    return merged;
  }

  #mergeBranch(merged: JsonObject, given: JsonObject, entered: string[]): void {
    const ref = given['$ref'];
    const branch = typeof ref === 'string' ? (this.#enter(ref, entered) ?? this.#anyObject({})) : given;
    for (const key in branch) {
      if (key === 'properties') {
        const properties = isObject(merged['properties']) ? { ...merged['properties'] } : {};
        addMissing(properties, branch['properties']);
        merged['properties'] = properties;
      } else if (key === 'required') {
        merged['required'] = [...new Set([...strings(merged['required']), ...strings(branch['required'])])];
      } else if (key === 'allOf') {
        merged['allOf'] = [...objects(merged['allOf']), ...objects(branch['allOf'])];
      } else merged[key] ??= branch[key];
    }
  }

  /** One type with `nullable`, `enum` of strings only, `anyOf` as the one union. Changes `schema`. */
  #toOpenApi(schema: JsonObject): void {
    if ('const' in schema) {
      schema['enum'] = [schema['const']];
      delete schema['const'];
    }
    if (Array.isArray(schema['oneOf'])) {
      schema['anyOf'] = [...objects(schema['anyOf']), ...objects(schema['oneOf'])];
    }
    delete schema['oneOf'];
    delete schema['allOf'];
    if (Array.isArray(schema['type'])) {
      const types = strings(schema['type']).filter((type) => type !== 'null');
      if (types.length < schema['type'].length) schema['nullable'] = true;
      if (types.length > 1) {
        schema['anyOf'] = [...objects(schema['anyOf']), ...types.map((type) => ({ type }))];
        delete schema['type'];
      } else schema['type'] = types[0] ?? 'string';
    }
    this.#nullInUnion(schema);
    this.#stringEnum(schema);
    if (Array.isArray(schema['required']) && isObject(schema['properties'])) {
      const { properties } = schema;
      const required = strings(schema['required']).filter((name) => name in properties);
      if (required.length > 0) schema['required'] = required;
      else delete schema['required'];
    }
  }

  #nullInUnion(schema: JsonObject): void {
    if (!Array.isArray(schema['anyOf'])) return;
    const branches = objects(schema['anyOf']);
    const others = branches.filter((branch) => branch['type'] !== 'null');
    if (others.length < branches.length) schema['nullable'] = true;
    const [only] = others;
    if (others.length === 1 && only !== undefined) {
      delete schema['anyOf'];
      addMissing(schema, only);
    } else schema['anyOf'] = others;
  }

  #stringEnum(schema: JsonObject): void {
    const values = schema['enum'];
    if (!Array.isArray(values)) return;
    const kept = values.filter((value) => typeof value === 'string' && value !== '');
    if (kept.length < values.length) {
      if (values.includes(null)) schema['nullable'] = true;
      if (values.some((value) => value !== null)) this.#remove('enum');
    }
    if (kept.length === 0 || (schema['type'] !== undefined && schema['type'] !== 'string')) {
      delete schema['enum'];
      if (kept.length > 0) this.#remove('enum');
    } else {
      schema['enum'] = kept;
      schema['type'] = 'string';
    }
  }
}

/** `#/$defs/Name`, `#/properties/a`, `#`. */
function lookUp(root: JsonObject, ref: string): JsonObject | undefined {
  if (!ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(1).split('/')) {
    if (part === '') continue;
    if (!isObject(at)) return undefined;
    at = at[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return isObject(at) ? at : undefined;
}

function addMissing(to: JsonObject, from: unknown): void {
  if (!isObject(from)) return;
  for (const key in from) if (!(key in to)) to[key] = from[key];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
