/** Paths of the gateway's machine, which may be another one than the browser's. */

export function lastName(path: string): string {
  return (
    path
      .split(/[/\\]/)
      .filter((name) => name !== '')
      .at(-1) ?? path
  );
}

/** The folders that a path leads through, from the root on. */
export function crumbsOf(path: string): { name: string; path: string }[] {
  const separator = path.includes('\\') && !path.includes('/') ? '\\' : '/';
  const names = path.split(separator).filter((name) => name !== '');
  const rooted = path.startsWith(separator);
  const crumbs = rooted ? [{ name: separator, path: separator }] : [];
  for (const [index, name] of names.entries()) {
    const inside = names.slice(0, index + 1).join(separator);
    const to = rooted ? separator + inside : index === 0 && separator === '\\' ? `${inside}\\` : inside;
    crumbs.push({ name, path: to });
  }
  return crumbs;
}
