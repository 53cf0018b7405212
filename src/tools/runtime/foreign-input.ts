/**
 * What is known about the input of a call that another program runs. Their version of a tool may
 * take more than ours: whatever in it names a file, a command or a host is judged as well, so that
 * an input which we cannot read whole is never judged more mildly than one which we can.
 */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import type { Effect } from '../../permissions/decision.js';
import { EDIT_TOOLS, READ_TOOLS } from '../../permissions/rules/rule.js';
import { realTarget } from '../../workspace/real-path.js';
import { resolvePath } from '../../workspace/workspace.js';
import { type Classified, classify, inputSchemaOf } from './parse-input.js';
import type { OpenToolState } from './runtime.js';
import type { Tool } from './tool.js';

/** Fields that mean the same in every tool that has them. */
const FIELDS: Readonly<Record<string, 'file' | 'command' | 'url'>> = {
  file_path: 'file',
  filePath: 'file',
  notebook_path: 'file',
  notebookPath: 'file',
  file_paths: 'file',
  filePaths: 'file',
  command: 'command',
  commands: 'command',
  url: 'url',
  urls: 'url',
};
/** Of file tools only: elsewhere a path may be anything. */
const FILE_TOOL_FIELDS: Readonly<Record<string, 'file'>> = {
  path: 'file',
  paths: 'file',
  files: 'file',
  directory: 'file',
  folder: 'file',
};

/** Nothing but what they touch: where that is unknown, there is nothing to judge. */
const EFFECT_TOOLS: ReadonlySet<string> = new Set([...READ_TOOLS, ...EDIT_TOOLS, 'Bash', 'WebFetch']);
/** Without a path they look in the folder that they are in. */
const SEARCHES: ReadonlySet<string> = new Set(['Grep', 'Glob', 'LS']);

/** What would have a call's work done in another folder than the one that it is judged from. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = { Task: ['isolation', 'cwd'] };

const DEPTH = 6;
const MOST_EFFECTS = 200;
/** Their targets would not be judged. */
const TOO_MANY = {
  problem: `It names ${MOST_EFFECTS} files, commands or addresses or more. Name fewer at once.`,
};

export interface ForeignInput {
  /** Ours, as far as the tool knows the input; undefined where it does not. */
  classified: Classified | undefined;
  /** By fields that the tool does not know, or all of them where it knows nothing. */
  effects: readonly Effect[];
  readOnly: boolean;
  needsPermissions: boolean;
  /** Fields that the tool does not know. */
  rest: JsonObject;
  /** What our own schema has against it, where it does not take it as it is. */
  objection?: string;
}

/** `problem` where the effects of the call are unknown. */
export function readForeignInput(
  tool: Tool,
  input: JsonObject,
  toolState: OpenToolState,
): ForeignInput | { problem: string } {
  const { name } = tool;
  const moving = ELSEWHERE[name]?.find((field) => (input[field] ?? undefined) !== undefined);
  if (moving !== undefined) {
    return { problem: `Agents work in the same folder as you; ${moving} is not offered. Leave it out.` };
  }
  const whole = classify(tool, input);
  const [known, rest] = splitFields(tool, input);
  const objection = 'problem' in whole ? { objection: whole.problem } : {};
  const classified = 'problem' in whole ? classify(tool, known) : whole;
  if (!('problem' in classified)) {
    const more = Object.keys(rest).length > 0;
    const effects = fieldEffects(name, rest, toolState);
    if (effects.length >= MOST_EFFECTS) return TOO_MANY;
    return {
      classified,
      effects,
      readOnly: classified.readOnly && !more,
      needsPermissions: classified.needsPermissions || more,
      rest,
      ...objection,
    };
  }
  const effects = fieldEffects(name, input, toolState);
  if (effects.length >= MOST_EFFECTS) return TOO_MANY;
  if (SEARCHES.has(name)) effects.push({ kind: 'read', path: toolState.cwd, tree: true });
  if (effects.length === 0 && EFFECT_TOOLS.has(name)) return { problem: classified.problem };
  return { classified: undefined, effects, readOnly: false, needsPermissions: true, rest: {}, ...objection };
}

const anyObject = z.looseObject({});

/** A tool that is not ours: judged by its name, and by what it plainly names. */
export function strangerTool(name: string): Tool {
  const isMcp = name.startsWith('mcp__');
  return {
    name,
    userFacingName: () => name,
    description: '',
    inputSchema: anyObject,
    isReadOnly: () => false,
    isConcurrencySafe: () => false,
    needsPermissions: () => true,
    describe: (input) => ({
      title: name,
      kind: isMcp ? 'mcp' : 'other',
      paths: [],
      ...(isMcp ? { detail: JSON.stringify(input, undefined, 2) ?? '' } : {}),
    }),
    call() {
      throw new Error(`${name} is not ours to run`);
    },
  };
}

function splitFields(tool: Tool, input: JsonObject): [known: JsonObject, rest: JsonObject] {
  const { properties } = inputSchemaOf(tool);
  // A server's fields are its own: rules for it go by its name.
  if (tool.name.startsWith('mcp__')) return [input, {}];
  const names = new Set([
    ...(typeof properties === 'object' && properties !== null ? Object.keys(properties) : []),
    ...(tool.personFields ?? []),
  ]);
  const known: JsonObject = {};
  const rest: JsonObject = {};
  for (const [name, value] of Object.entries(input)) (names.has(name) ? known : rest)[name] = value;
  return [known, rest];
}

function fieldEffects(tool: string, input: JsonObject, toolState: OpenToolState): Effect[] {
  const isFileTool = READ_TOOLS.has(tool) || EDIT_TOOLS.has(tool);
  const effects: Effect[] = [];
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > DEPTH) return;
    for (const [name, field] of Object.entries(value)) {
      const kind = fieldKind(name, isFileTool);
      for (const text of textsIn(field, name)) {
        if (effects.length >= MOST_EFFECTS) return;
        if (kind === 'command') effects.push({ kind, command: text, cwd: toolState.cwd });
        else if (kind === 'url') effects.push({ kind: 'fetch', url: text });
        else if (kind === 'file') effects.push(...fileEffects(tool, text, toolState));
      }
      look(field, depth + 1);
    }
  };
  look(input, 0);
  return effects;
}

/** A list under such a name is as many of them; a command in pieces is one command, and its pieces are none. */
function textsIn(field: unknown, name: string): string[] {
  if (typeof field === 'string') return [field];
  if (!Array.isArray(field)) return [];
  const texts = field.filter((each): each is string => typeof each === 'string');
  return name === 'command' && texts.length > 0 ? [texts.join(' ')] : texts;
}

function fieldKind(name: string, isFileTool: boolean): 'file' | 'command' | 'url' | undefined {
  if (Object.hasOwn(FIELDS, name)) return FIELDS[name];
  return isFileTool && Object.hasOwn(FILE_TOOL_FIELDS, name) ? FILE_TOOL_FIELDS[name] : undefined;
}

function fileEffects(tool: string, given: string, toolState: OpenToolState): Effect[] {
  // No file has such a name; the other side refuses it or cuts it, and neither is ours to guess.
  const path = resolvePath(given.replaceAll('\0', ''), {
    cwd: toolState.cwd,
    home: toolState.workspace.home,
  });
  const real = realTarget(path);
  const paths = path === real ? [path] : [path, real];
  const tree = SEARCHES.has(tool) ? { tree: true } : {};
  const reads = paths.map((each): Effect => ({ kind: 'read', path: each, ...tree }));
  const edits = paths.map((each): Effect => ({ kind: 'edit', path: each }));
  if (READ_TOOLS.has(tool)) return reads;
  return EDIT_TOOLS.has(tool) ? edits : [...reads, ...edits];
}
