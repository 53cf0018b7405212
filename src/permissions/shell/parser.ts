/**
 * The grammar of bash, loaded when the first command is judged: a gateway that runs none never
 * pays for it. One parser serves every session; it keeps nothing between two commands.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Tree } from 'web-tree-sitter';

export interface ShellParser {
  /** The caller deletes the tree. Undefined where the grammar gave up. */
  parse(command: string): Tree | undefined;
}

let loaded: ShellParser | undefined;
let loading: Promise<ShellParser> | undefined;

/** The parser if it is there already, so that only the first command of a process waits. */
export function shellParser(): ShellParser | Promise<ShellParser> {
  if (loaded !== undefined) return loaded;
  loading ??= load().then(
    (parser) => {
      loaded = parser;
      return parser;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

async function load(): Promise<ShellParser> {
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  const grammar = createRequire(import.meta.url).resolve(
    '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
  );
  const language = await Language.load(await readFile(grammar));
  const parser = new Parser();
  parser.setLanguage(language);
  return { parse: (command) => parser.parse(command) ?? undefined };
}
