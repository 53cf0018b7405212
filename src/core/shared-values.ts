/**
 * Values that several requests hold at once: parts of bodies that were parsed before, the messages
 * decoded from them, what was encoded of those. What is made of a shared value is kept with it and
 * is shared too. Nobody changes a shared value; tests freeze them (`TOOLGATE_FREEZE_SHARED`).
 */
const shared = new WeakSet<object>();
const freezes = process.env['TOOLGATE_FREEZE_SHARED'] === '1';

export function share<T extends object>(value: T): T {
  shared.add(value);
  return unchanged(value);
}

const unchanged = <T extends object>(value: T): T => (freezes ? freeze(value) : value);

export function isShared(value: object): boolean {
  return shared.has(value);
}

function freeze<T extends object>(value: T): T {
  if (Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) if (typeof each === 'object' && each !== null) freeze(each);
  return value;
}

/** What was made of one value, for as long as that value lives. */
export class Memo<K extends object, V extends object> {
  readonly #made = new WeakMap<K, V>();
  readonly #isLast: boolean;

  /** `last`: nothing is kept with its values, so that they need not be known as shared. Weak entries are dear. */
  constructor(options: { last?: boolean } = {}) {
    this.#isLast = options.last === true;
  }

  get(key: K): V | undefined {
    return this.#made.get(key);
  }

  /** Returns `value`, kept where `key` is shared. */
  keep(key: K, value: V): V {
    if (shared.has(key)) this.#made.set(key, this.#isLast ? unchanged(value) : share(value));
    return value;
  }
}

interface RunNode<K extends object, V> {
  value: V | undefined;
  /** Undefined while no run goes on: most have one value. */
  next: WeakMap<K, RunNode<K, V>> | undefined;
}

/**
 * What was made of a run of values; the same values in the same order find it again. It is kept only
 * as long as all of them live: each is a weak key on the way to it.
 */
export class RunMemo<K extends object, V extends object> {
  readonly #first = new WeakMap<K, RunNode<K, V>>();

  get(run: readonly K[]): V | undefined {
    let nodes: RunNode<K, V>['next'] = this.#first;
    let value: V | undefined;
    for (const each of run) {
      const node: RunNode<K, V> | undefined = nodes?.get(each);
      if (node === undefined) return undefined;
      ({ next: nodes, value } = node);
    }
    return value;
  }

  keeps(run: readonly K[]): boolean {
    return run.length > 0 && run.every(isShared);
  }

  /** Returns `value`, kept where all of `run` is shared. */
  keep(run: readonly K[], value: V): V {
    if (!this.keeps(run)) return value;
    let nodes = this.#first;
    let last: RunNode<K, V> | undefined;
    for (const each of run) {
      if (last !== undefined) {
        last.next ??= new WeakMap();
        nodes = last.next;
      }
      last = nodes.get(each);
      if (last === undefined) {
        last = { value: undefined, next: undefined };
        nodes.set(each, last);
      }
    }
    if (last !== undefined) last.value = share(value);
    return value;
  }
}
