/** Case files into cases, checked. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type Case, caseSchema, elsewhereSchema } from './case-schema.js';

export const CASES = fileURLToPath(new URL('cases', import.meta.url));
const ELSEWHERE = 'not-here.json';

export interface LoadedCase extends Case {
  /** Its file, without the folder and the ending. */
  name: string;
}

/** In the order of their file names: the numbered ones first. */
export function loadCases(folder = CASES): LoadedCase[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== ELSEWHERE)
    .toSorted()
    .map((file) => ({ name: file.replace(/\.json$/, ''), ...read(join(folder, file), caseSchema) }));
}

const packedSchema = z.array(z.looseObject({ name: z.string() }));

/** Cases as scripts/build.mjs packs them: those of the folder in one list, each with its name. */
export function checkedCases(packed: unknown): LoadedCase[] {
  return packedSchema.parse(packed).map(({ name, ...given }) => ({ name, ...caseSchema.parse(given) }));
}

/** Numbered cases that no exchange with an upstream can show. */
export function loadElsewhere(folder = CASES): z.infer<typeof elsewhereSchema> {
  return read(join(folder, ELSEWHERE), elsewhereSchema);
}

function read<S extends z.ZodType>(path: string, schema: S): z.infer<S> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : error}`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`${path} is no case:\n${issues.join('\n')}`);
}
