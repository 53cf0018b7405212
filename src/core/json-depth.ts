/** How deep a parsed value nests. What writes values again does so by recursion, and its stack has an end. */

/** Over the parsed value: a twentieth of the cost of the bytes, for few of them are brackets. */
export function isDeeper(value: unknown, left: number): boolean {
  if (Array.isArray(value)) {
    if (left === 0) return true;
    for (const item of value) if (isNested(item) && isDeeper(item, left - 1)) return true;
  } else if (isNested(value)) {
    if (left === 0) return true;
    // A parsed value inherits nothing enumerable, and this way no list of its keys is made.
    for (const key in value) {
      const item = value[key];
      if (isNested(item) && isDeeper(item, left - 1)) return true;
    }
  }
  return false;
}

/** Most values are none: the cheapest question first. */
function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
