/** From the plain values of a file to a checked Config, with every problem reported at once. */
import * as z from 'zod';
import { checkConfig } from './check.js';
import { readCommonForm } from './common-mcp-form.js';
import { type KeyPath, type Locate, type PathProblem, placedError } from './config-error.js';
import { describeIssue, describeUnknownKey } from './describe-issue.js';
import { type Environment, expandReferences, pathKey, type References } from './environment-references.js';
import { collectSecrets, createRedactor } from './redact.js';
import { type Config, configSchema } from './schema.js';

/** Flags of the command line that stand above the file. */
export interface Overrides {
  host?: string;
  port?: number;
}

interface ParseOptions {
  env: Environment;
  /** For messages. */
  file?: string | undefined;
  locate?: Locate;
  overrides?: Overrides;
}

interface ParsedConfig {
  config: Config;
  secrets: readonly string[];
}

/** Throws ConfigError. */
export function parseConfig(input: unknown, options: ParseOptions): ParsedConfig {
  const common = readCommonForm(input);
  const fail = (problems: readonly PathProblem[]): never => {
    const redact = createRedactor([]);
    const shown = problems.map((problem) => ({
      ...problem,
      path: common.placeOf(problem.path),
      message: redact(problem.message),
    }));
    throw placedError(options.file, shown, options.locate);
  };

  if (input !== null && input !== undefined && (typeof input !== 'object' || Array.isArray(input))) {
    return fail([{ path: [], message: 'expected sections with keys (server, upstreams, models, …)' }]);
  }
  if (common.problems.length > 0) return fail(common.problems);
  const expanded = expandReferences(common.value ?? {}, options.env);
  if (expanded.problems.length > 0) return fail(expanded.problems);

  const result = validate(expanded.value, expanded.references);
  if (!result.success) return fail(result.problems);

  const config = withDemo(result.config);
  const { host, port } = options.overrides ?? {};
  if (host !== undefined) config.server.host = host.replace(/^\[|\]$/g, '');
  if (port !== undefined) config.server.port = port;
  const problems = checkConfig(config, { hostFlag: host !== undefined });
  if (problems.length > 0) return fail(problems);
  return { config, secrets: collectSecrets(config, expanded.references) };
}

type Validated = { success: true; config: Config } | { success: false; problems: PathProblem[] };

function validate(value: unknown, references: References): Validated {
  const knownKeys = new Map<string, readonly string[]>();
  const parse = () =>
    configSchema.safeParse(value, {
      reportInput: true,
      // Compiling the schema pays off after hundreds of calls; this is one, before the gateway listens.
      jitless: true,
      error: (issue) => {
        if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject) {
          knownKeys.set(pathKey(plainPath(issue.path ?? [])), Object.keys(issue.inst.shape));
        }
        return undefined;
      },
    });

  let result = parse();
  if (!result.success && repair(value, result.error.issues, references)) result = parse();
  if (result.success) return { success: true, config: result.data };

  const problems: PathProblem[] = [];
  for (const issue of result.error.issues) {
    const path = plainPath(issue.path);
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeys.get(pathKey(path)) ?? [];
      for (const key of issue.keys) {
        problems.push({ path: [...path, key], message: unknownKey(path, key, known) });
      }
      continue;
    }
    const names = references.get(pathKey(path));
    const message = describeIssue(issue, names === undefined);
    const origin = names === undefined ? '' : ` (the value comes from \${${names.join('}, ${')}})`;
    problems.push({ path, message: message + origin });
  }
  return { success: false, problems };
}

const AGENT_KEYS: ReadonlySet<string> = new Set(['tools', 'cwd', 'max_turns', 'system']);

function unknownKey(path: KeyPath, key: string, known: readonly string[]): string {
  if (path[0] === 'models' && path.length === 2 && AGENT_KEYS.has(key)) {
    return 'only agents have this key; add `engine: native` or `engine: claude-code`, or leave it out';
  }
  return describeUnknownKey(key, known, path.length <= 1 ? placesOf(key, path) : []);
}

/** Where else a key of this name stands, for one that was written a level too high or in the wrong section. */
function placesOf(key: string, path: KeyPath): string[] {
  const places: string[] = [];
  for (const [section, schema] of Object.entries(configSchema.shape)) {
    if (section === key && path.length > 0) places.push(section);
    const inner: unknown = schema instanceof z.ZodPrefault ? schema.def.innerType : schema;
    if (inner instanceof z.ZodObject && Object.hasOwn(inner.shape, key)) places.push(`${section}.${key}`);
  }
  return places;
}

/**
 * Variables are text, so where a number or true/false is expected a referenced text is read as
 * one; and a section of which everything is commented out (`keys:`) is the same as none.
 */
function repair(value: unknown, issues: readonly z.core.$ZodIssue[], references: References): boolean {
  let repaired = false;
  for (const issue of issues) {
    if (issue.code !== 'invalid_type') continue;
    const path = plainPath(issue.path);
    const holder = holderOf(value, path);
    const last = path.at(-1);
    if (holder === undefined || last === undefined) continue;
    if (issue.input === null) {
      if (!isSection(issue.expected) || isEntry(path)) continue;
      Reflect.deleteProperty(holder, last);
      repaired = true;
    } else if (typeof issue.input === 'string' && references.has(pathKey(path))) {
      const read = readScalar(issue.input, issue.expected);
      if (read === undefined) continue;
      Reflect.set(holder, last, read);
      repaired = true;
    }
  }
  return repaired;
}

function isSection(expected: string): boolean {
  return expected === 'object' || expected === 'record' || expected === 'array';
}

/** An upstream, a model, an MCP server, an entry of a list: leaving it out would change the meaning. */
function isEntry(path: KeyPath): boolean {
  if (typeof path.at(-1) === 'number') return true;
  return path.length === 2 && (path[0] === 'upstreams' || path[0] === 'models' || path[0] === 'mcp_servers');
}

function readScalar(text: string, expected: string): number | boolean | undefined {
  if (expected === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if ((expected === 'number' || expected === 'int') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return undefined;
}

function holderOf(value: unknown, path: KeyPath): object | undefined {
  let holder: unknown = value;
  for (const part of path.slice(0, -1)) {
    if (typeof holder !== 'object' || holder === null) return undefined;
    holder = Reflect.get(holder, part);
  }
  return typeof holder === 'object' && holder !== null ? holder : undefined;
}

function plainPath(path: readonly PropertyKey[]): KeyPath {
  return path.map((part) => (typeof part === 'symbol' ? String(part) : part));
}

function withDemo(config: Config): Config {
  if (config.upstreams['demo'] === undefined) config.upstreams['demo'] = { dialect: 'demo' };
  return config;
}
