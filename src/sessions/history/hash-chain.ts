/** `h[i] = H(h[i-1], atom[i])`: the last link identifies a conversation, an earlier one a prefix of it. */
import { createHash } from 'node:crypto';

export interface Link {
  hash: string;
  /** Number of atoms up to here. */
  position: number;
}

export interface Ground {
  engine: string;
  root: string;
  /** The end user; undefined where requests name none. */
  user?: string | undefined;
}

/** Conversations of two engines, folders or end users never share a hash. */
export function seedOf({ engine, root, user }: Ground): Link {
  const ground = user === undefined ? [engine, root] : [engine, root, user];
  return { hash: digest('seed', JSON.stringify(ground)), position: 0 };
}

/** One link for each atom. */
export function chainOf(start: Link, atoms: readonly { key: string }[]): Link[] {
  const links: Link[] = [];
  let { hash, position } = start;
  for (const { key } of atoms) {
    hash = digest(hash, key);
    position += 1;
    links.push({ hash, position });
  }
  return links;
}

export function digest(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}
