/** `${NAME}` in a text takes an environment variable; `$${` stands for the characters `${`. */
import type { KeyPath, PathProblem } from './config-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which variables went into the value at a path, by `pathKey`. */
export type References = ReadonlyMap<string, readonly string[]>;

interface Expanded {
  /** A copy: nothing of the input is shared with it, and aliases have become values of their own. */
  value: unknown;
  references: References;
  problems: readonly PathProblem[];
}

export function pathKey(path: KeyPath): string {
  return JSON.stringify(path);
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function expandReferences(input: unknown, env: Environment): Expanded {
  const references = new Map<string, readonly string[]>();
  const problems: PathProblem[] = [];

  const expandText = (text: string, path: KeyPath): string => {
    if (!text.includes('${')) return text;
    const names: string[] = [];
    const result = text.replace(REFERENCE, (whole, name: string | undefined, close: string | undefined) => {
      if (name === undefined) return '${';
      if (close === '' || !NAME.test(name)) {
        const message = `expected \${NAME} with the name of an environment variable (write $\${ for the text \${)`;
        problems.push({ path, message });
        return whole;
      }
      const value = env[name];
      if (value === undefined) {
        problems.push({ path, message: `the environment variable ${name} is not set` });
        return whole;
      }
      names.push(name);
      return value;
    });
    if (names.length > 0) references.set(pathKey(path), names);
    return result;
  };

  /** What `value` is inside of: YAML can put an alias into its own anchor. */
  const around = new Set<object>();
  const expand = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') return expandText(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (around.has(value)) {
      problems.push({ path, message: 'this alias (*name) stands inside its own anchor (&name)' });
      return undefined;
    }
    around.add(value);
    const copy = expandInside(value, path);
    around.delete(value);
    return copy;
  };

  const expandInside = (value: object, path: KeyPath): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index]));
    const copy: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      // Defined, not assigned: a key named __proto__ stays an ordinary (and unknown) key.
      Object.defineProperty(copy, key, {
        value: expand(item, [...path, key]),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return copy;
  };

  return { value: expand(input, []), references, problems };
}
