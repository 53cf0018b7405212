/** Schemas for strict mode, where an upstream promises arguments that match. */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

const MAX_DEPTH = 64;
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);

/**
 * `schema` as strict mode wants it: every object closed and every property required. Closing an
 * object that said nothing is safe; making an optional property required is not, so that is undefined.
 */
export function strictSchema(schema: JsonObject, depth = 0): JsonObject | undefined {
  if (depth > MAX_DEPTH) return undefined;
  let out: JsonObject = schema;
  const set = (key: string, value: unknown): void => {
    if (out[key] === value) return;
    if (out === schema) out = { ...schema };
    out[key] = value;
  };
  if (schema['type'] === 'object' || schema['properties'] !== undefined) {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
    if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) {
      return undefined;
    }
    if (Object.keys(properties).some((name) => !required.has(name))) return undefined;
    set('additionalProperties', false);
  }
  for (const key in schema) {
    const value = schema[key];
    if (MAPS.has(key) && isObject(value)) {
      const strict = strictMap(value, depth);
      if (strict === undefined) return undefined;
      set(key, strict);
    } else if (LISTS.has(key) && Array.isArray(value)) {
      const strict = value.map((each) => (isObject(each) ? strictSchema(each, depth + 1) : undefined));
      if (strict.includes(undefined)) return undefined;
      if (strict.some((each, index) => each !== value[index])) set(key, strict);
    } else if (key === 'items' && isObject(value)) {
      const strict = strictSchema(value, depth + 1);
      if (strict === undefined) return undefined;
      set(key, strict);
    }
  }
  return out;
}

function strictMap(map: JsonObject, depth: number): JsonObject | undefined {
  let out = map;
  for (const name in map) {
    const value = map[name];
    if (!isObject(value)) return undefined;
    const strict = strictSchema(value, depth + 1);
    if (strict === undefined) return undefined;
    if (strict === value) continue;
    if (out === map) out = { ...map };
    out[name] = strict;
  }
  return out;
}
