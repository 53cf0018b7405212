/**
 * How Node loads the modules of own tools: TypeScript without a build step, and `toolgate/tools`
 * from every folder. The hooks belong to the process; they touch nothing but what is named here.
 */
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Addresses of modules that the gateway brings along. */
interface Provided {
  /** Always this one, so that a tool and the gateway speak of the same classes. */
  tools: string;
  /** Only where none can be found from the folder of the tool. */
  zod: string;
}

interface NodeParts {
  existsSync(path: string): boolean;
  readFileSync(path: string, encoding: 'utf8'): string;
  fileURLToPath(url: string): string;
  createRequire(url: string): { (name: string): unknown; resolve(name: string): string };
}

interface ParentContext {
  parentURL?: string | undefined;
}

interface Hooks {
  resolve(
    specifier: string,
    context: ParentContext,
    next: (specifier: string, context: ParentContext) => unknown,
  ): unknown;
  load(url: string, context: unknown, next: (url: string, context: unknown) => unknown): unknown;
}

/**
 * Stands on its parameters alone, because Node before 22.15 runs its text in a thread of its own.
 * Answers at once, so that it serves both kinds of hooks.
 */
function createHooks(node: NodeParts, provided: Provided): Hooks {
  const isTypeScript = (url: string): boolean => /^file:.*\.m?ts$/.test(url);
  const field = (value: unknown, key: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

  /** Where a specifier leads that Node would not find, or must not look for. */
  const redirect = (specifier: string, parent: string): string | undefined => {
    if (specifier === 'toolgate/tools') return provided.tools;
    if (specifier === 'zod') {
      try {
        node.createRequire(parent).resolve('zod');
        return undefined;
      } catch {
        return provided.zod;
      }
    }
    if (!isTypeScript(parent) || !/^\.{1,2}\//.test(specifier)) return undefined;
    // TypeScript names a neighbour by what it would be compiled to, or without an ending.
    const url = new URL(specifier, parent).href;
    if (node.existsSync(node.fileURLToPath(url))) return undefined;
    const candidates = [url.replace(/\.(m?)js$/, '.$1ts'), `${url}.ts`];
    return candidates.find((each) => node.existsSync(node.fileURLToPath(each)));
  };

  const compile = (path: string): string => {
    const transform = field(node.createRequire(provided.tools)('@swc/wasm-typescript'), 'transformSync');
    if (typeof transform !== 'function') throw new Error('@swc/wasm-typescript is not as it was expected');
    try {
      const options = { mode: 'transform', module: true, sourceMap: true, filename: path };
      const output: unknown = transform(node.readFileSync(path, 'utf8'), options);
      const map = Buffer.from(String(field(output, 'map'))).toString('base64');
      return `${String(field(output, 'code'))}\n//# sourceMappingURL=data:application/json;base64,${map}`;
    } catch (problem) {
      const line = field(problem, 'startLine');
      if (line === undefined) throw problem;
      const place = `${path}:${String(line)}:${String(field(problem, 'startColumn'))}`;
      const error = new SyntaxError(`${String(field(problem, 'message'))} (${place})`);
      // Its lines are those of the hooks, which say nothing about the file.
      error.stack = String(error);
      throw error;
    }
  };

  return {
    resolve(specifier, context, next) {
      const url = context.parentURL === undefined ? undefined : redirect(specifier, context.parentURL);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
    load(url, context, next) {
      if (!isTypeScript(url)) return next(url, context);
      return { format: 'module', source: compile(node.fileURLToPath(url)), shortCircuit: true };
    },
  };
}

/** A module for the thread of hooks. */
const SOURCE = `import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
const createHooks = ${createHooks.toString()};
let hooks;
export const initialize = (provided) => {
  hooks = createHooks({ existsSync, readFileSync, createRequire, fileURLToPath }, provided);
};
export const resolve = (...given) => hooks.resolve(...given);
export const load = (...given) => hooks.load(...given);
`;

let installed = false;

function install(): void {
  if (installed) return;
  installed = true;
  const provided = { tools: import.meta.resolve('toolgate/tools'), zod: import.meta.resolve('zod') };
  const registerHooks: unknown = Reflect.get(nodeModule, 'registerHooks');
  if (typeof registerHooks === 'function') {
    const { createRequire } = nodeModule;
    registerHooks(createHooks({ existsSync, readFileSync, createRequire, fileURLToPath }, provided));
  } else {
    nodeModule.register(`data:text/javascript,${encodeURIComponent(SOURCE)}`, { data: provided });
  }
}

/** Imports a file of the operator's own. */
export function importOwn(file: string): Promise<unknown> {
  install();
  // Lines of an error are those of the source. Only modules that are loaded from now on have their maps read.
  if (/\.m?ts$/.test(file)) process.setSourceMapsEnabled(true);
  return import(pathToFileURL(file).href);
}
