/**
 * A folder that stays the same one whatever becomes of its path. Node has no openat; on Linux
 * `/proc/self/fd/N/name` does the same, so that a link planted on the way cannot redirect a write.
 */
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import { toFileError } from './file-error.js';
import { realTarget } from './real-path.js';
import { describePlace, movedError } from './regular-file.js';

export interface HeldFolder {
  /** A path to `name` in this folder, good while it is held. */
  at(name: string): string;
  close(): Promise<void>;
}

/** `real` has no links in it. Throws FileError, also where it is no longer there. */
export async function holdFolder(real: string): Promise<HeldFolder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(real, flags).catch((error: unknown) => {
    // A link at the end of the path is no folder to these flags.
    throw realTarget(real) === real ? toFileError(error, real) : movedError(real);
  });
  try {
    if ((await describePlace(handle, real)) !== real) throw movedError(real);
    const viaHandle = `/proc/self/fd/${handle.fd}`;
    const held = process.platform === 'linux' && (await access(viaHandle).then(yes, no));
    const base = held ? viaHandle : real;
    return { at: (name) => join(base, name), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;
