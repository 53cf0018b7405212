import { ToolError } from './tool.js';

/** Tools of a package of their own bring their own class, or none: the name is enough. */
export function isToolError(error: unknown): error is ToolError | (Error & { data?: unknown }) {
  return error instanceof ToolError || (error instanceof Error && error.name === 'ToolError');
}
