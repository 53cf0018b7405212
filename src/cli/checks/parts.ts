/**
 * Parts of the package that are files of their own: native ones, which npm installs as optional
 * dependencies, one for each platform, and WebAssembly.
 */
import { createRequire } from 'node:module';
import type { Environment } from '../../config/environment-references.js';
import { findRipgrep } from '../../workspace/ripgrep.js';
import { type Check, fail, warn } from './check.js';

const SUBJECT = 'install';

const AGAIN = 'Install again, with optional dependencies: npm install --include=optional';

/** What the gateway can start without, and what it cannot do then. */
const PARTS: readonly { file: string; loses: string }[] = [
  { file: 'web-tree-sitter/web-tree-sitter.wasm', loses: 'Bash runs no command, because none can be judged' },
  {
    file: '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
    loses: 'Bash runs no command, because none can be judged',
  },
  {
    file: '@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js',
    loses: 'commands in the sandbox reach no host',
  },
  { file: '@swc/wasm-typescript', loses: 'tools in TypeScript cannot be loaded' },
  { file: 'unpdf', loses: 'PDF documents cannot be read' },
];

const NAMES = ['libsql', '@libsql/', '@vscode/ripgrep', ...PARTS.map(({ file }) => packageOf(file))];
const OURS = `(?:${NAMES.join('|')})[\\w-]*`;
const ABSENT = new RegExp(`Cannot find (?:module|package) '(${OURS})`);
/** What the system's loader says of a library for another machine, or of half of one. */
const UNUSABLE = new RegExp(`node_modules/(${OURS})/[^:]*\\.node`);

/** What to do, where an error or one of its causes is that a part is not installed or cannot be loaded. */
export function explainMissingPart(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const absent = ABSENT.exec(each.message)?.[1];
    if (absent !== undefined) return notInstalled(absent);
    const unusable = UNUSABLE.exec(each.message)?.[1];
    if (unusable !== undefined) {
      return `${unusable} cannot be loaded on this machine: it was installed for another one, or not to its end. ${AGAIN}`;
    }
  }
  return undefined;
}

function notInstalled(name: string): string {
  return `${name} is not installed: optional dependencies were left out, or the install did not come to its end. ${AGAIN}`;
}

/** What is missing; `FAIL` where the gateway cannot start without it. Nothing is said of what is there. */
export async function checkParts(
  env: Environment,
  { resolve, load }: { resolve: (file: string) => string; load: () => Promise<unknown> } = {
    resolve: createRequire(import.meta.url).resolve,
    load: () => import('libsql'),
  },
): Promise<Check[]> {
  const checks: Check[] = [];
  try {
    await load();
  } catch (error) {
    const problem = explainMissingPart(error);
    if (problem === undefined) throw error;
    checks.push(fail(SUBJECT, 'the store cannot be opened, and the gateway does not start', problem));
  }
  const ripgrep = await findRipgrep(env);
  if (!ripgrep.ok) checks.push(warn(SUBJECT, 'Grep and Glob are off', ripgrep.problem));
  for (const { file, loses } of PARTS) {
    try {
      resolve(file);
    } catch {
      checks.push(warn(SUBJECT, loses, notInstalled(packageOf(file))));
    }
  }
  return checks;
}

function packageOf(file: string): string {
  return file
    .split('/')
    .slice(0, file.startsWith('@') ? 2 : 1)
    .join('/');
}
