import * as z from 'zod';

export const GREP_LIMITS = {
  headLimit: 250,
  context: 1000,
} as const;

const lines = z.coerce.number().int().min(0).max(GREP_LIMITS.context).optional();

export const grepInput = z.object({
  pattern: z.string().min(1).describe('The regular expression to search for (syntax of ripgrep)'),
  path: z.string().optional().describe('File or folder to search; by default the current folder'),
  glob: z.string().optional().describe('Only files that match, for example "*.js" or "*.{ts,tsx}"'),
  type: z.string().optional().describe('Only files of this type: js, py, rust, go, java…'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe(
      'content: the lines; files_with_matches: paths (the default); count: matching lines of each file',
    ),
  '-A': lines.describe('With content: lines after each match'),
  '-B': lines.describe('With content: lines before each match'),
  '-C': lines.describe('The same as context'),
  context: lines.describe('With content: lines before and after each match'),
  '-n': z.boolean().optional().describe('With content: line numbers; true by default'),
  '-i': z.boolean().optional().describe('Upper and lower case are the same'),
  '-o': z.boolean().optional().describe('With content: only the parts that match'),
  multiline: z.boolean().optional().describe('A match may span lines, and . matches line ends'),
  head_limit: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`At most so many lines or paths: ${GREP_LIMITS.headLimit} by default, 0 for as many as fit`),
  offset: z.coerce.number().int().min(0).optional().describe('Leave out so many lines or paths at first'),
});

export type GrepInput = z.infer<typeof grepInput>;
