/** What a decoder keeps of a wire object beyond the fields that it understands. */
import type { DialectName, Extensions, JsonObject } from '../../core/conversation.js';

/** Names of a wire object's fields, checked against its type. */
export const fields = <T>(...names: (keyof T & string)[]): ReadonlySet<string> => new Set(names);

/**
 * Fields that `known` does not name. `null` is "not given": answers come back with their nulls. A
 * known name in other case (`Model`) is left out: some servers take it for the field itself.
 */
export function extraFields(value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const key in value) {
    if (known.has(key) || known.has(key.toLowerCase()) || key === '__proto__') continue;
    const field = value[key];
    if (field === null || field === undefined) continue;
    rest ??= {};
    rest[key] = field;
  }
  return rest;
}

/** `block` with what only `dialect` has, where there is any. */
export function extendWith<T extends { extensions?: Extensions }>(
  dialect: DialectName,
  block: T,
  extra: JsonObject | undefined,
): T {
  if (extra !== undefined) {
    block.extensions = { ...block.extensions, [dialect]: { ...block.extensions?.[dialect], ...extra } };
  }
  return block;
}
