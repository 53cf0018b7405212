/** Every place in a JSON value, and the value with something else in one of them. */

export type Path = readonly (string | number)[];

/** Of the value itself (the empty path) and of everything inside it. */
export function nodePaths(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [at, ...entries.flatMap(([key, inner]) => nodePaths(inner, [...at, key]))];
}

export function nodeAt(value: unknown, path: Path): unknown {
  let node = value;
  for (const key of path) node = isContainer(node) ? Reflect.get(node, key) : undefined;
  return node;
}

/** A copy; `value` stays as it is. */
export function withNode(value: unknown, path: Path, replacement: unknown): unknown {
  return changed(value, path, (parent, key) => Reflect.set(parent, key, replacement), replacement);
}

/** A copy without the field or element; without anything where the path is empty. */
export function withoutNode(value: unknown, path: Path): unknown {
  const remove = (parent: object, key: string | number): void => {
    if (Array.isArray(parent) && typeof key === 'number') parent.splice(key, 1);
    else Reflect.deleteProperty(parent, key);
  };
  return changed(value, path, remove, undefined);
}

function changed(
  value: unknown,
  path: Path,
  change: (parent: object, key: string | number) => void,
  whole: unknown,
): unknown {
  const last = path.at(-1);
  if (last === undefined) return whole;
  const copy: unknown = structuredClone(value);
  const parent = nodeAt(copy, path.slice(0, -1));
  if (isContainer(parent)) change(parent, last);
  return copy;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const shown = (path: Path): string => (path.length === 0 ? 'the body' : path.join('.'));
