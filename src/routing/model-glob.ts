/** Model names with `*` in them: `claude-*`, `*-mini`, `*`. Nothing else is special. */

export function isGlob(pattern: string): boolean {
  return pattern.includes('*');
}

export function matchesGlob(pattern: string, name: string): boolean {
  if (!isGlob(pattern)) return pattern === name;
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  if (name.length < first.length + last.length) return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** More literal characters are more specific; between equals, fewer stars. */
export function compareSpecificity(a: string, b: string): number {
  const literal = (pattern: string) => pattern.replaceAll('*', '').length;
  return literal(b) - literal(a) || a.length - b.length;
}
