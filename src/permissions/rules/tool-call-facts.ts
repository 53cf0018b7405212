/**
 * What a call was judged by, small enough to be kept with its verdict: a rule that is thought of
 * later can be tried on it. Not the input: what it would touch, where, and the words that
 * specifiers are about.
 */
import * as z from 'zod';
import { REDACTED } from '../../config/redact.js';
import type { JudgedToolCall } from '../decision.js';
import type { Effect } from '../effects.js';
import { isFileTool } from './tool-names.js';

/** Calls that need more are not kept: few, and huge. A question is one row, an audit log is many. */
export const FACTS_CHARS = { audit: 4_000, question: 64_000 } as const;
const MOST_FIELDS = 8;
const LONGEST_FIELD = 200;

const effect = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('read'), path: z.string(), tree: z.boolean().optional() }),
  z.object({ kind: z.literal('edit'), path: z.string() }),
  z.object({ kind: z.literal('fetch'), url: z.string() }),
  z.object({ kind: z.literal('command'), command: z.string(), cwd: z.string() }),
]);

const factsSchema = z.object({
  root: z.string(),
  cwd: z.string(),
  readOnly: z.boolean(),
  needsPermissions: z.boolean(),
  effects: z.array(effect),
  fields: z.record(z.string(), z.string()).optional(),
});

type ToolCallFacts = z.output<typeof factsSchema>;

/** Undefined where it would be too much. */
export function factsOf(call: JudgedToolCall, most: number): ToolCallFacts | undefined {
  const { readOnly, needsPermissions, effects, location } = call;
  const fields = fieldsOf(call);
  const facts: ToolCallFacts = {
    root: location.root,
    cwd: location.cwd,
    readOnly,
    needsPermissions,
    effects: effects.map((each) => ({ ...each })),
    ...(fields === undefined ? {} : { fields }),
  };
  return sizeOf(facts) <= most ? facts : undefined;
}

/** Before anything of it is written out: an effect may be a command of megabytes. */
function sizeOf({ root, cwd, effects, fields = {} }: ToolCallFacts): number {
  const texts = effects.flatMap((each) => Object.values(each)).concat(Object.values(fields));
  return (
    texts.reduce<number>((sum, each) => sum + (typeof each === 'string' ? each.length : 0), 0) +
    root.length +
    cwd.length
  );
}

export type ToolCallName = Pick<JudgedToolCall, 'principal' | 'session' | 'tool'>;

/** The call as it is judged; undefined for what was kept by another version. */
export function judgedAgain(kept: unknown, name: ToolCallName): JudgedToolCall | undefined {
  const facts = factsSchema.safeParse(kept).data;
  if (facts === undefined) return undefined;
  const { root, cwd, readOnly, needsPermissions, fields = {} } = facts;
  const effects = facts.effects.map(effectAgain);
  return {
    ...name,
    toolUseId: '',
    input: fields,
    readOnly,
    needsPermissions,
    effects,
    location: { root, cwd },
  };
}

function effectAgain(kept: ToolCallFacts['effects'][number]): Effect {
  switch (kept.kind) {
    case 'read':
      return { kind: kept.kind, path: kept.path, ...(kept.tree ? { tree: true } : {}) };
    case 'command':
      // A shell would read the mark as a pattern for names; what it stands for was a word.
      return { ...kept, command: kept.command.replaceAll(REDACTED, 'redacted') };
    case 'edit':
    case 'fetch':
      return kept;
  }
}

/** Of tools whose rules are about words of their input. */
function fieldsOf({ tool, input, effects }: JudgedToolCall): Record<string, string> | undefined {
  if (tool.startsWith('mcp__') || typeof input !== 'object' || input === null) return undefined;
  if (effects.length > 0 && (isFileTool(tool) || tool === 'Bash' || tool === 'WebFetch')) return undefined;
  const texts = Object.entries(input).flatMap(([name, value]: [string, unknown]): [string, string][] =>
    typeof value === 'string' && value.length <= LONGEST_FIELD ? [[name, value]] : [],
  );
  return texts.length === 0 ? undefined : Object.fromEntries(texts.slice(0, MOST_FIELDS));
}
