/** Why a file could not be read or written. The message is a sentence that says what to do next. */
type FileProblem =
  | 'missing'
  | 'folder'
  /** A device, a pipe, a socket, or a file that the kernel makes up. */
  | 'not-regular'
  | 'binary'
  | 'encoding'
  | 'too-large'
  | 'forbidden'
  /** Links in the path lead elsewhere than when the path was judged. */
  | 'moved'
  /** The bytes are not those that the change was made from. */
  | 'changed'
  | 'failed';

export class FileError extends Error {
  override readonly name = 'FileError';
  readonly problem: FileProblem;
  readonly path: string;

  constructor(problem: FileProblem, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.path = path;
  }
}

const BY_CODE: Readonly<Record<string, readonly [FileProblem, (path: string) => string]>> = {
  ENOENT: ['missing', (path) => `${path} does not exist.`],
  ENOTDIR: ['missing', (path) => `${path} does not exist: a part of the path is a file and not a folder.`],
  EEXIST: ['failed', (path) => `${path} cannot be made: a part of the path is a file and not a folder.`],
  EISDIR: ['folder', (path) => `${path} is a folder.`],
  ELOOP: [
    'moved',
    (path) => `${path} became a link, or its links form a loop. Look at it with LS and try again.`,
  ],
  EACCES: ['forbidden', (path) => `The operating system does not permit access to ${path}.`],
  EPERM: ['forbidden', (path) => `The operating system does not permit this on ${path}.`],
  EROFS: ['forbidden', (path) => `${path} is on a file system that cannot be written to.`],
  EBUSY: ['failed', (path) => `${path} is in use (it may be a mount point) and cannot be replaced.`],
  ENOSPC: ['failed', (path) => `The disk is full: ${path} was not written and is as it was.`],
  EDQUOT: ['failed', (path) => `The disk quota is used up: ${path} was not written and is as it was.`],
  EFBIG: ['too-large', (path) => `${path} would become larger than the file system allows.`],
  ENAMETOOLONG: ['failed', (path) => `A name in ${path} is longer than the file system allows.`],
  ENXIO: ['not-regular', (path) => `${path} is not a regular file.`],
};

/** A failure of the file system as a FileError; anything else as it is, for it is a bug. */
export function toFileError(error: unknown, path: string): unknown {
  if (error instanceof FileError) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const [problem, message] = BY_CODE[code] ?? [
    'failed' as const,
    (at: string) => `${at} failed with ${code}.`,
  ];
  return new FileError(problem, path, message(path), error);
}

/** The code of a system error (`ENOENT`); none of any other. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
