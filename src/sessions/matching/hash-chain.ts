/** `h[i] = H(h[i-1], atom[i])`: a conversation is known by the last link, a part of it by an earlier one. */
import { createHash } from 'node:crypto';

export interface Link {
  hash: string;
  /** Atoms that it stands for. */
  position: number;
}

export interface Ground {
  engine: string;
  root: string;
  /** The end user; undefined where requests name none. */
  user?: string | undefined;
}

/** Conversations of two engines, of two folders or of two end users have nothing in common. */
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
