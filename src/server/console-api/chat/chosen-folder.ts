/** Folders that a person chooses for an agent: real ones, and for most people only those of its model. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { GatewayError } from '../../../core/errors.js';
import type { Principal } from '../../../engines/engine.js';

export function isAdmin({ scopes }: Pick<Principal, 'scopes'>): boolean {
  return scopes.includes('admin');
}

/** Both are real paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Undefined where it is not there, or is no folder. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(resolve(path));
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

interface FolderChoice {
  /** As it was asked for. */
  cwd: string;
  /** The model's own folder. */
  root: string;
  model: string;
  principal: Pick<Principal, 'name' | 'scopes'>;
}

/** The real path. Throws `invalid_request` for one that is not there, `forbidden` for one that is not theirs to choose. */
export async function chosenFolder({ cwd, root, model, principal }: FolderChoice): Promise<string> {
  if (!isAbsolute(cwd)) {
    throw new GatewayError('invalid_request', 'cwd: expected a whole path, from the root on.', {
      param: 'cwd',
    });
  }
  const real = await realFolder(cwd);
  const own = await realFolder(root);
  const isAllowed = isAdmin(principal) || (own !== undefined && real !== undefined && isInside(own, real));
  if (isAllowed && real !== undefined) return real;
  // A key that may not choose it does not learn whether it exists.
  if (isAdmin(principal) || isInside(root, resolve(cwd))) {
    throw new GatewayError(
      'invalid_request',
      `cwd: ${shown(cwd)} is no folder that can be opened. Create it, or choose one that is there.`,
      { param: 'cwd' },
    );
  }
  throw new GatewayError(
    'forbidden',
    `cwd: the key ${principal.name} may choose folders inside ${root} for the model ${model}, and ${shown(cwd)} is not one. Choose one of those, or ask an administrator.`,
    { param: 'cwd' },
  );
}

/** Whether a conversation that is there may go on in that folder with this model. */
export async function mayStay(choice: FolderChoice): Promise<boolean> {
  return chosenFolder(choice).then(
    () => true,
    () => false,
  );
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 300));
