/** A configuration file as plain values, with the place of every key for error messages. */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { ConfigError, type ConfigProblem, type KeyPath } from './config-error.js';

export interface Position {
  line: number;
  column: number;
}

interface ConfigDocument {
  value: unknown;
  /** Where the key at the end of `path` stands; where it is not in the file, its nearest parent. */
  locate(path: KeyPath): Position | undefined;
}

/** The library's own messages can quote the source, and with it a secret. */
const SYNTAX_MESSAGES: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'this alias (*name) has no anchor (&name) before it',
  BAD_DQ_ESCAPE: 'this escape is not known in a double-quoted text; use single quotes or \\\\',
  BAD_INDENT: 'the indentation does not fit, or a bracket or brace is not closed',
  BAD_SCALAR_START: 'a text cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second "key:" on one line; put the value in quotes or on its own line',
  BLOCK_IN_FLOW: 'inside { } or [ ] only the one-line form is possible',
  DUPLICATE_KEY: 'this key is there twice; keep one of them',
  MISSING_CHAR: 'a closing quote, bracket, comma or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; a colon may be missing',
  MULTIPLE_DOCS: 'expected one document, without a further ---',
  NON_STRING_KEY: 'expected a text as the key',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  TAG_RESOLVE_FAILED: 'tags (!name) have no meaning here; put the text in quotes',
  UNEXPECTED_TOKEN: 'something here does not belong to the value before it; a quote or comma may be missing',
};

/** Throws ConfigError with every syntax error and its place. */
export function parseConfigDocument(source: string, file: string | undefined): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    stringKeys: true,
    logLevel: 'error',
  });
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };

  const syntax = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  const first = syntax[0];
  if (first !== undefined) throw new ConfigError(file, syntaxProblems(source, first, syntax, positionOf));

  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias without an anchor, or aliases that multiply beyond the library's limit.
    if (!(error instanceof ReferenceError)) throw error;
    let loose: number | undefined;
    visit(document, {
      Alias(_, alias) {
        if (alias.resolve(document) === undefined) loose ??= alias.range?.[0];
      },
    });
    throw new ConfigError(file, [
      loose === undefined
        ? { path: '', message: 'not valid YAML: aliases (*name) multiply without bound' }
        : { path: '', message: `not valid YAML: ${SYNTAX_MESSAGES['BAD_ALIAS']}`, ...positionOf(loose) },
    ]);
  }

  const locate = (path: KeyPath): Position | undefined => {
    let node: unknown = document.contents;
    let found: Position | undefined;
    for (const part of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(
          (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === part,
        );
        if (pair === undefined || !isScalar(pair.key)) break;
        if (pair.key.range) found = positionOf(pair.key.range[0]);
        node = pair.value;
      } else if (isSeq(node) && typeof part === 'number') {
        const item: unknown = node.items[part];
        const range = rangeOf(item);
        if (range === undefined) break;
        found = positionOf(range);
        node = item;
      } else break;
    }
    return found;
  };
  return { value, locate };
}

function rangeOf(node: unknown): number | undefined {
  if (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) return node.range?.[0];
  return undefined;
}

/** One mistake makes the parser stumble many times, so only the first of a line is shown. */
function syntaxProblems(
  source: string,
  first: YAMLError,
  errors: readonly YAMLError[],
  positionOf: (offset: number) => Position,
): ConfigProblem[] {
  // Inside { } the brace of ${NAME} opens a map of its own.
  if (first.code === 'UNEXPECTED_TOKEN' && source.slice(first.pos[0] - 1, first.pos[0] + 1) === '${') {
    const message = `inside { } or [ ] a \${NAME} needs quotes: "\${NAME}"`;
    return [{ path: '', message, ...positionOf(first.pos[0] - 1) }];
  }
  const problems: ConfigProblem[] = [];
  let lastLine = 0;
  for (const error of errors) {
    const position = positionOf(error.pos[0]);
    if (position.line === lastLine) continue;
    lastLine = position.line;
    const message = SYNTAX_MESSAGES[error.code] ?? 'this is not valid YAML';
    problems.push({ path: '', message: `not valid YAML: ${message}`, ...position });
  }
  return problems;
}
