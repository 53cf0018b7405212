/**
 * Tools of the operator's own: files of a folder, or a package. They are code of the gateway's own
 * process, chosen by the operator alone. One that cannot be loaded is reported and left out.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import { toTool } from './define-tool.js';
import { importOwn } from './own-modules.js';
import type { ToolProblem, ToolSource } from './registry.js';
import type { RuntimeLog } from './runtime.js';
import { isToolError, type Tool, ToolError } from './tool.js';

/**
 * Errors of own tools reach the model with their message, whatever their class: the author of
 * the tool wrote the sentence as well. Secrets of the configuration are taken out of it.
 */
interface OwnErrorOptions {
  redact(text: string): string;
  log: RuntimeLog;
}

function withOwnErrors(tool: Tool, { redact, log }: OwnErrorOptions): Tool {
  const toToolError = (thrown: unknown): unknown => {
    if (thrown instanceof GatewayError) return thrown;
    const known = isToolError(thrown);
    if (!known) log.error({ err: thrown, tool: tool.name }, 'an own tool failed');
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const message = redact(said.trim() === '' ? `${tool.name} failed without a message.` : said);
    return new ToolError(message, { cause: thrown, ...(known ? { data: thrown.data } : {}) });
  };
  const asking =
    <A extends readonly unknown[], R>(ask: (...args: A) => R | Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await ask(...args);
      } catch (thrown) {
        throw toToolError(thrown);
      }
    };
  const { effects, validateInput } = tool;
  return {
    ...tool,
    ...(effects === undefined ? {} : { effects: asking(effects) }),
    ...(validateInput === undefined ? {} : { validateInput: asking(validateInput) }),
    describe: asking(tool.describe),
    async *call(input, context) {
      try {
        yield* tool.call(input, context);
      } catch (thrown) {
        // What a signal threw says nothing that the result does not say.
        throw context.signal.aborted && !isToolError(thrown) ? thrown : toToolError(thrown);
      }
    },
  };
}

interface OwnToolOptions {
  /** As in the configuration: folders, files, folders of packages, names of packages. */
  paths: readonly string[];
  /** Relative paths are relative to it, packages are looked for from it. */
  baseDir: string;
  log: RuntimeLog;
  /** Takes secrets of the configuration out of what a tool's error says. */
  redact?(text: string): string;
  /** How long a file may take to load. */
  loadMs?: number;
}

const LOAD_MS = 30_000;
const TOOL_FILE = /^[^._].*\.m?[jt]s$/;
const NOT_A_TOOL = /\.(?:(?:test|spec|config)\.m?[jt]s|d\.m?ts)$/;
/** Code that is not loaded: a tool draws nothing, and one in TypeScript is a module. */
const NOT_LOADED = /^[^._].*\.(?:[jt]sx|cts)$/;
/** Exports that may hold tools. */
const EXPORTS = ['tool', 'tools', 'default'] as const;

export function createOwnTools(options: OwnToolOptions): ToolSource {
  const { paths, baseDir, log, redact = (text) => text, loadMs = LOAD_MS } = options;
  const problems: ToolProblem[] = [];

  const report = (name: string, reason: string, error?: unknown): void => {
    problems.push({ name, reason });
    log.error({ path: name, ...(error === undefined ? {} : { err: error }) }, `own tools: ${reason}`);
  };

  const load = async (file: string): Promise<Tool[]> => {
    try {
      const exported = await importWithin(file, loadMs);
      return candidatesOf(exported).flatMap((candidate) => {
        try {
          return [withOwnErrors(toTool(candidate), { redact, log })];
        } catch (error) {
          report(file, `It holds something that is not a tool: ${messageOf(error)}.`);
          return [];
        }
      });
    } catch (error) {
      report(file, `It could not be loaded: ${messageOf(error)}.`, error);
      return [];
    }
  };

  const discover = async (): Promise<Tool[]> => {
    problems.length = 0;
    const found: Tool[] = [];
    for (const path of paths) {
      const skipped = (file: string): void =>
        report(file, 'It is not loaded. Tools are in files that end with .ts, .mts, .js or .mjs.');
      const files = await filesOf(path, baseDir, skipped).catch((error: unknown) => {
        report(path, `tools.paths: ${messageOf(error)}.`);
        return [];
      });
      for (const file of files) {
        const before = problems.length;
        const tools = await load(file);
        if (tools.length === 0 && problems.length === before) {
          report(file, 'It exports no tool. Export `tool`, `tools` or a default.');
        }
        found.push(...tools);
      }
    }
    return found;
  };

  let discovered: Promise<Tool[]> | undefined;
  return {
    source: 'own',
    tools: () => (discovered ??= discover()),
    problems: () => problems,
  };
}

/** Files to load for one entry of `tools.paths`. Throws an Error that says what is wrong with it. */
async function filesOf(path: string, baseDir: string, onSkipped: (file: string) => void): Promise<string[]> {
  const location = resolve(baseDir, path);
  const found = await stat(location).catch(() => undefined);
  if (found?.isFile()) return [location];
  if (found?.isDirectory()) {
    const entry = await packageEntry(location);
    if (entry !== undefined) return [entry];
    const names = (await readdir(location)).filter((name) => !NOT_A_TOOL.test(name)).toSorted();
    for (const name of names.filter((each) => NOT_LOADED.test(each))) onSkipped(join(location, name));
    return names.filter((name) => TOOL_FILE.test(name)).map((name) => join(location, name));
  }
  if (!PACKAGE_NAME.test(path)) throw new Error(`there is nothing at ${location}`);
  return [await resolvePackage(path, baseDir)];
}

const PACKAGE_NAME = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:\/[\w.~-]+)*$/i;

/** Where Node would find it from the folder of the configuration. */
async function resolvePackage(name: string, baseDir: string): Promise<string> {
  try {
    return createRequire(join(baseDir, 'toolgate.yaml')).resolve(name);
  } catch (error) {
    // A package for `import` alone has no entry for `require`.
    for (let folder = baseDir; ; folder = dirname(folder)) {
      const entry = await packageEntry(join(folder, 'node_modules', name)).catch(() => undefined);
      if (entry !== undefined) return entry;
      if (dirname(folder) === folder) break;
    }
    const detail = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new Error(
      `${name} is neither a path below ${baseDir} nor a package that can be found from there${detail}`,
    );
  }
}

/** What a package.json names as the file to load; undefined where the folder is no package. */
async function packageEntry(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const described: unknown = parseJson(text, folder);
  const entry = entryOf(field(described, 'exports')) ?? field(described, 'main');
  return typeof entry === 'string' ? join(folder, entry) : undefined;
}

/** `"./x.js"`, `{ "import": "./x.js" }`, `{ ".": … }` and what nests of them. */
function entryOf(exports: unknown): string | undefined {
  if (typeof exports !== 'object' || exports === null)
    return typeof exports === 'string' ? exports : undefined;
  for (const key of ['.', 'import', 'node', 'default']) {
    const entry = entryOf(field(exports, key));
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function parseJson(text: string, folder: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${basename(folder)}/package.json is not JSON`);
  }
}

async function importWithin(file: string, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it is still loading after ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([importOwn(file), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A CommonJS file comes as its default, and some of its names again beside it. */
function candidatesOf(exported: unknown): unknown[] {
  const found = new Set<unknown>();
  const add = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) found.add(item);
    else found.add(value);
  };
  for (const key of EXPORTS) {
    const value = field(exported, key);
    if (value === undefined) continue;
    const nested =
      key === 'default' && !isToolLike(value) ? [field(value, 'tool'), field(value, 'tools')] : [];
    const inside = nested.filter((item) => item !== undefined);
    for (const item of inside.length > 0 ? inside : [value]) add(item);
  }
  return [...found];
}

function isToolLike(value: unknown): boolean {
  return Array.isArray(value) || field(value, 'call') !== undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0]?.replace(/\.$/, '') ?? '';
}
