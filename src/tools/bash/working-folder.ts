/** Where the commands of a session run: inside the workspace, always. */
import { statSync } from 'node:fs';
import { isInside, realTarget } from '../../workspace/real-path.js';
import type { ToolContext } from '../runtime/context.js';

type Session = Pick<ToolContext, 'session' | 'workspace'>;

/** Before a command. Resolves to a note where the folder is no more. */
export function findFolder({ session, workspace }: Session): string | undefined {
  if (isFolder(session.cwd) && isInside(workspace.root, realTarget(session.cwd))) return undefined;
  const before = session.cwd;
  session.cwd = workspace.root;
  return `The folder ${before} is not there any more: the command ran in ${workspace.root}.`;
}

/** After a command that ended in `folder`. Resolves to a note where it may not stay there. */
export function moveTo(folder: string | undefined, { session, workspace }: Session): string | undefined {
  if (folder === undefined) return undefined;
  const real = realTarget(folder);
  if (isInside(workspace.root, real) && isFolder(real)) {
    session.cwd = real;
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
