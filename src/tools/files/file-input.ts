/** Parts of inputs that the file tools share. */
import * as z from 'zod';

/** The kernel takes no longer path. */
const LONGEST_PATH = 4096;

export function pathInput(description: string): z.ZodString {
  return z
    .string()
    .min(1)
    .max(LONGEST_PATH)
    .regex(/^[^\0]*$/, 'a path has no NUL bytes')
    .describe(description);
}
