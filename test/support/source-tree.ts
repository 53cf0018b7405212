/** The sources as data: which files there are, what they say and whom they import. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceImport {
  /** As written. */
  specifier: string;
  /** `import type` and `export type`: gone at run time. */
  typeOnly: boolean;
  /** Loaded with its first use: `import()`. */
  lazy: boolean;
}

export interface SourceFile {
  /** From the root of the project, with slashes. */
  path: string;
  text: string;
  imports: readonly SourceImport[];
}

// An import of a module is one statement whose words between keyword and `from` hold no quote or semicolon.
const STATIC = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"\n]+)['"]/g;
const DYNAMIC = /\bimport\(\s*['"]([^'"\n]+)['"]/g;
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//g;
const LINE_COMMENT = /(^|[^:'"`\\])\/\/[^\n]*/g;

export const withoutComments = (text: string): string =>
  text.replace(BLOCK_COMMENT, '').replace(LINE_COMMENT, '$1');

export function importsOf(text: string): SourceImport[] {
  const code = withoutComments(text);
  return [
    ...Array.from(code.matchAll(STATIC), ([, type, specifier = '']) => ({
      specifier,
      typeOnly: type !== undefined,
      lazy: false,
    })),
    ...Array.from(code.matchAll(DYNAMIC), ([, specifier = '']) => ({
      specifier,
      typeOnly: false,
      lazy: true,
    })),
  ];
}

/** Every file under `folder` whose name ends in `suffix`, sorted. */
export function filesUnder(folder: string, suffix = ''): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

export function readSources(folder: string): SourceFile[] {
  return filesUnder(folder, '.ts').map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, text, imports: importsOf(text) };
  });
}

/** The file that a relative import means, from the root of the project; undefined for a package. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(dirname(from), specifier).replace(/\.js$/, '.ts');
}

/** The package of a bare import: `@scope/name` or `name`. */
export function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return specifier.startsWith('@') ? `${first}/${second}` : first;
}

/** Loops in the graph of imports at run time, each as the list of its files. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const graph = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : (resolveImport(path, specifier) ?? []))),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: string[]): void => {
    const seen = trail.indexOf(path);
    if (seen >= 0) cycles.push([...trail.slice(seen), path]);
    if (seen >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}
