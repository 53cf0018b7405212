/** Whom a reader reads for, and what is shown to it. */
import type { Principal } from '../../../engines/engine.js';
import type { Audience, RingEntry } from './event-ring.js';

export interface Viewer {
  principal: string;
  /** An administrator sees what is of every key. */
  all: boolean;
  /** Another node, which shows it to this viewer: it hears the rest from the store. */
  node?: true;
}

export function viewerOf({ name, scopes }: Principal): Viewer {
  return { principal: name, all: scopes.includes('admin') };
}

/** Viewers of one class see the same. */
export function classOf({ principal, all, node }: Viewer): string {
  const own = all ? 'all' : `key ${principal}`;
  return node === true ? `node for ${own}` : own;
}

export function sees(
  viewer: Viewer,
  { audience, forNodes, view }: Pick<RingEntry, 'audience' | 'forNodes' | 'view'>,
) {
  if (view !== undefined) return view === classOf(viewer);
  return (viewer.node !== true || forNodes === true) && isFor(viewer, audience);
}

export function isFor({ principal, all }: Viewer, audience: Audience): boolean {
  return all || audience === null || audience === principal;
}
