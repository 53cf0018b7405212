/**
 * The file that a call is about, resolved once. A call is judged, shown to a person and run at
 * different times, and links may change in between: all three work on the place that was found
 * first, and what is shown is remembered so that nothing else is replaced.
 */
import { resolve } from 'node:path';
import type { Effect } from '../../permissions/effects.js';
import type { Description } from '../../permissions/gate.js';
import type { FileVersion } from '../../workspace/file-state.js';
import { realTarget } from '../../workspace/real-path.js';
import { displayPath, resolvePath } from '../../workspace/workspace.js';
import type { ToolContext } from '../runtime/context.js';

export interface ToolCallTarget {
  /** Absolute, as the model meant it. */
  readonly path: string;
  /** Where it really leads. */
  readonly real: string;
  /** The state that the call was first planned on. */
  shown?: FileVersion | 'absent';
}

/** A context lives as long as its call, and so does what is kept for it. */
const targets = new WeakMap<ToolContext, Map<string, ToolCallTarget>>();

export function targetOf(given: string, context: ToolContext): ToolCallTarget {
  let known = targets.get(context);
  if (known === undefined) {
    known = new Map();
    targets.set(context, known);
  }
  let target = known.get(given);
  if (target === undefined) {
    const path = resolvePath(given, { cwd: context.session.cwd, home: context.workspace.home });
    target = { path, real: realTarget(path) };
    known.set(given, target);
  }
  return target;
}

/** Both names of a file that is reached through a link: a rule may be about either. */
export function effectsOn({ path, real }: ToolCallTarget, kind: 'read' | 'edit', tree = false): Effect[] {
  const paths = path === real ? [real] : [path, real];
  return paths.map((each) =>
    kind === 'edit' ? { kind, path: each } : { kind, path: each, ...(tree ? { tree } : {}) },
  );
}

/** For people and for results: short where it lies in the workspace. */
export function shortPath({ path }: Pick<ToolCallTarget, 'path'>, context: ToolContext): string {
  return displayPath(path, resolve(context.workspace.root));
}

export function describeTarget(
  verb: string,
  kind: Description['kind'],
  target: ToolCallTarget,
  context: ToolContext,
): Description {
  const detail = target.real === target.path ? {} : { detail: `Leads to ${target.real}` };
  return { title: `${verb} ${shortPath(target, context)}`, kind, paths: [target.path], ...detail };
}
