/** What went wrong with a file, for the model. */
import { FileError } from '../../workspace/file-error.js';
import { ToolError } from '../runtime/tool.js';

/** Runs `work`; a FileError comes out as a ToolError, anything else as it is. */
export async function forModel<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toToolError(error);
  }
}

export function toToolError(error: unknown): unknown {
  if (!(error instanceof FileError)) return error;
  return new ToolError(error.message, { cause: error, data: { problem: error.problem, path: error.path } });
}
