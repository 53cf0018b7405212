/** Deep equality of plain data, and the old object in place of an equal new one. */

export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(Reflect.get(a, key), Reflect.get(b, key)));
}

/** `next`, with the objects of `before` wherever they are equal under the same key. */
export function reuse<T extends { key: string }>(before: readonly T[], next: readonly T[]): readonly T[] {
  if (before.length === 0) return next;
  const known = new Map(before.map((each) => [each.key, each]));
  let same = before.length === next.length;
  const reused = next.map((each, index) => {
    const old = known.get(each.key);
    const kept = old !== undefined && equal(old, each) ? old : each;
    if (kept !== before[index]) same = false;
    return kept;
  });
  return same ? before : reused;
}
