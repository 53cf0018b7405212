/** Native parts come as optional dependencies, one for each platform: an install without those cannot start. */

/** Packages whose part for this platform is such a dependency. */
const MISSING = /Cannot find (?:module|package) '(@libsql\/|@vscode\/ripgrep-)([\w-]+)/;

/** What to do, where an error or one of its causes is that such a part is not installed. */
export function explainMissingPart(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const found = MISSING.exec(each.message);
    if (found !== null) {
      return `${found[1]}${found[2]} is not installed: the native parts for this platform are optional dependencies, which were left out. Install again with them: npm ci --include=optional`;
    }
  }
  return undefined;
}
