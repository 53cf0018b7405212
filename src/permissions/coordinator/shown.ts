/**
 * What is kept of a call in the store. With a question, what the person is shown: the tool's own
 * account, why it is asked, and where. With every verdict, what the call was judged by, if it is small
 * enough: a rule that is thought of later can be tried on it. Not the input: what it would touch,
 * where, and the words that specifiers are about.
 */
import * as z from 'zod';
import { REDACTED } from '../../config/redact.js';
import type { AskHints, Decision, Effect, JudgedToolCall, Risk, ToolCallLocation } from '../decision.js';
import type { Description, GatedToolCall } from '../gate.js';
import { isFileTool } from '../rules/rule.js';
import { risksOf } from '../shell/risks.js';
import { definitionSchema, type ToolDefinition } from '../tool-definition.js';

/** The description's own fields, and these beside them. */
type Shown = Description & { asked: Asked };

interface Asked {
  /** One sentence: what in the rules, and about which part of the input. */
  why: string;
  risks: Risk[];
  place: ToolCallLocation;
  question: boolean;
  /** How the engine wants it to be put. */
  hints: AskHints;
  /** The tool of a server, as it was then. */
  definition?: ToolDefinition | undefined;
  /** What it is judged by: rules can be tried on it after a restart too. Not there for huge ones. */
  call?: unknown;
}

const MAY_HAVE_RUN =
  'It was allowed before and had begun when the gateway stopped, so it may have done its work already.';

export function toShown(call: GatedToolCall, decision: Decision, mayHaveRun: boolean): Shown {
  const { root, cwd } = call.location;
  const why = mayHaveRun ? `${decision.message} ${MAY_HAVE_RUN}` : decision.message;
  const { question = false, hints = {} } = call;
  const facts = factsOf(call, FACTS_CHARS.question);
  return {
    ...call.describe,
    asked: {
      ...{ why, risks: risksOf(call), place: { root, cwd }, question, hints },
      ...(call.definition === undefined ? {} : { definition: call.definition }),
      ...(facts === undefined ? {} : { call: facts }),
    },
  };
}

/** Rows are JSON that this module wrote; what is missing reads as nothing. */
export function readAsked(describe: unknown): Asked {
  const asked = field(describe, 'asked');
  const place = field(asked, 'place');
  return {
    why: text(asked, 'why'),
    risks: risks.safeParse(field(asked, 'risks')).data ?? [],
    place: { root: text(place, 'root'), cwd: text(place, 'cwd') },
    question: field(asked, 'question') === true,
    hints: readHints(field(asked, 'hints')),
    definition: definitionSchema.safeParse(field(asked, 'definition')).data,
    call: field(asked, 'call'),
  };
}

const risks = z.array(z.enum(['irreversible', 'outside', 'network', 'writes']));
const HINT_FLAGS = ['defaultToNo', 'suppressAlways'] as const;
const HINT_TEXTS = ['blockedPath', 'reason', 'title', 'description'] as const;

function readHints(value: unknown): AskHints {
  const hints: AskHints = {};
  for (const name of HINT_FLAGS) if (field(value, name) === true) hints[name] = true;
  for (const name of HINT_TEXTS) {
    const found = text(value, name);
    if (found !== '') hints[name] = found;
  }
  const server = field(value, 'mcpServer');
  const name = field(server, 'name');
  const source = field(server, 'source');
  if (typeof name === 'string') {
    hints.mcpServer = { name, ...(typeof source === 'string' ? { source } : {}) };
  }
  return hints;
}

/** The tool's own account alone. */
export function withoutAsked(describe: unknown): unknown {
  if (typeof describe !== 'object' || describe === null) return describe;
  return Object.fromEntries(Object.entries(describe).filter(([key]) => key !== 'asked'));
}

function text(value: unknown, key: string): string {
  const found = field(value, key);
  return typeof found === 'string' ? found : '';
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

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
