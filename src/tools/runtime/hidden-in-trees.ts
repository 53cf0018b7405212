/**
 * Searches that somebody else runs: what they find is theirs to show, so that nothing can be left
 * out of it here. One that would come across a file which must not be read is not made at all.
 */
import { relative } from 'node:path';
import type { Effect } from '../../permissions/effects.js';
import { isInside, realTarget } from '../../workspace/real-path.js';
import { locationOf, type ToolCallScope } from './tool-call-context.js';

/** Why none of these may be searched as a whole, or undefined. */
export async function hiddenInTrees(
  { gate, request }: Pick<ToolCallScope, 'gate' | 'request'>,
  effects: readonly Effect[],
): Promise<string | undefined> {
  const trees = effects.flatMap((effect) => (effect.kind === 'read' && effect.tree ? [effect.path] : []));
  if (trees.length === 0) return undefined;
  const { session } = request;
  const folders = [...new Set(trees.flatMap((tree) => [tree, realTarget(tree)]))];
  const hidden = await gate.hidden(locationOf(request), session.id, { own: true });
  const first = hidden.find((path) =>
    folders.some((folder) => isInside(folder, path) || isInside(folder, realTarget(path))),
  );
  if (first === undefined) return undefined;
  const { root } = session.workspace;
  const name = isInside(root, first) ? `./${relative(root, first)}` : 'a file outside of the workspace';
  return `It would look through ${name}, which must not be read. Search in a narrower folder that does not have it.`;
}
