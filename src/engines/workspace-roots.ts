/** The folders that agents may work in for a key. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { GatewayError } from '../core/errors.js';
import type { Principal } from './engine.js';

/** Throws `forbidden` for a folder that is in none of the key's. Links count as where they lead. */
export function checkWorkspace({ name, workspaces }: Principal, folder: string | undefined): void {
  if (workspaces === undefined || folder === undefined) return;
  const real = realPath(folder);
  if (workspaces.some((root) => isInside(realPath(root), real))) return;
  throw new GatewayError(
    'forbidden',
    `The key ${name} may not work in ${folder}. It may in: ${workspaces.join(', ')}. Use another model, or ask an administrator.`,
    { param: 'model', detail: 'workspace_not_allowed' },
  );
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** One that is not there yet is taken as it is written. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
