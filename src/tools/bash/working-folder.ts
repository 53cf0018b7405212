/** Where the commands of a session run: inside the workspace, always. */
import { statSync } from 'node:fs';
import { isInside, realTarget } from '../../workspace/real-path.js';
import type { ToolContext } from '../runtime/context.js';

export interface FoundFolder {
  cwd: string;
  /** Where the folder that it was judged in is no more. */
  note?: string;
}

/** Before a command. */
export function findFolder({
  shell: { cwd },
  session,
  workspace,
}: Pick<ToolContext, 'shell' | 'session' | 'workspace'>): FoundFolder {
  if (isFolder(cwd) && isInside(workspace.root, realTarget(cwd))) return { cwd };
  if (session.cwd === cwd) session.cwd = workspace.root;
  return {
    cwd: workspace.root,
    note: `The folder ${cwd} is not there any more: the command ran in ${workspace.root}.`,
  };
}

/** After a command that went from `cwd` to `folder`. Resolves to a note where it may not stay there. */
export function moveTo(
  folder: string | undefined,
  cwd: string,
  { session, workspace }: Pick<ToolContext, 'session' | 'workspace'>,
): string | undefined {
  if (folder === undefined) return undefined;
  const real = realTarget(folder);
  if (isInside(workspace.root, real) && isFolder(real)) {
    // One that stayed where it was does not undo what another did meanwhile.
    if (real !== realTarget(cwd) || session.cwd === cwd) session.cwd = real;
    return undefined;
  }
  session.cwd = workspace.root;
  return isFolder(real)
    ? `The command left the workspace (${real}): the next one starts in ${workspace.root} again.`
    : `The folder that the command ended in is gone: the next one starts in ${workspace.root}.`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
