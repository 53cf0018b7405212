/** Edit and MultiEdit: edits of one file, one after the other, all of them or none. */
import { extname } from 'node:path';
import * as z from 'zod';
import type { TextFile } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import { editText, type TextEdit } from './edit-text.js';
import {
  type ChangePlan,
  changeData,
  commitChange,
  type Draft,
  describeChange,
  planChange,
  validateChange,
} from './file-change.js';
import { isNotebook } from './notebook.js';
import { numberedSnippets, type Region } from './numbered-lines.js';
import { effectsOn, pathInput, shortPath, type ToolCallTarget, targetOf } from './tool-call-target.js';

const LOOSE_NOTE =
  'was found only without regard to blanks at line ends and typographic punctuation; the rest of the text keeps both';

/** `label` names an edit in messages; empty for a single one. Throws ToolError. */
async function draftEdits(
  target: ToolCallTarget,
  before: TextFile | undefined,
  edits: readonly TextEdit[],
  label: (index: number) => string,
): Promise<Draft> {
  let text = before?.text ?? '';
  let regions: Region[] = [];
  const notes: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const fail = (message: string): never => {
      throw new ToolError(`${label(index)}${message}`);
    };
    if (edit.oldString === edit.newString) fail('old_string and new_string are the same: nothing to change.');
    if (edit.oldString === '') {
      if (index > 0 || before !== undefined) {
        fail(
          `old_string is empty, but ${target.path} exists. Name the text to replace, or use Write for all of it.`,
        );
      }
      text = edit.newString;
      regions = [{ start: 0, end: text.length }];
      continue;
    }
    if (before === undefined && index === 0) {
      fail(`${target.path} does not exist. To make it, use Write, or an empty old_string.`);
    }
    const outcome = await editText(text, edit);
    if (!outcome.ok) return fail(outcome.message);
    if (outcome.loose) notes.push(`${label(index)}old_string ${LOOSE_NOTE}.`);
    regions = [...moveRegions(regions, outcome.replaced, outcome.regions), ...outcome.regions];
    text = outcome.text;
  }
  return { text, regions, notes };
}

/** Notebooks are JSON that is easily broken as text; one that is broken already can only be mended as text. */
function assertNoNotebook(target: ToolCallTarget, before: TextFile | undefined, context: ToolContext): void {
  if (before === undefined || extname(target.real).toLowerCase() !== '.ipynb') return;
  if (!context.options.tools.includes('NotebookEdit') || !isNotebook(before.text)) return;
  throw new ToolError(`${target.path} is a notebook. Change its cells with NotebookEdit.`);
}

/** Where earlier regions are after a later edit: each moves by what was added before it. */
function moveRegions(
  regions: readonly Region[],
  replaced: readonly Region[],
  put: readonly Region[],
): Region[] {
  const moved = (offset: number): number =>
    replaced.reduce((at, old, index) => {
      if (old.start >= offset) return at;
      const now = put[index] ?? old;
      return at + (now.end - now.start) - (old.end - old.start);
    }, offset);
  return regions.map(({ start, end }) => ({ start: moved(start), end: moved(end) }));
}

/** `label` as for `draftEdits`. */
function planEdits(
  path: string,
  edits: readonly Omit<EditInput, 'file_path'>[],
  label: (index: number) => string,
  context: ToolContext,
): Promise<ChangePlan> {
  const target = targetOf(path, context);
  const each = edits.map(({ old_string, new_string, replace_all }) => ({
    oldString: old_string,
    newString: new_string,
    replaceAll: replace_all ?? false,
  }));
  return planChange(target, context, (before) => {
    assertNoNotebook(target, before, context);
    return draftEdits(target, before, each, label);
  });
}

function nowReads(done: string, { notes, text, regions }: ChangePlan): string {
  return [[done, ...notes].join(' '), 'It now reads:', numberedSnippets(text, regions)].join('\n');
}

const editSchema = z.strictObject({
  file_path: pathInput('The file to change, best as an absolute path.'),
  old_string: z
    .string()
    .describe('The text to replace, exactly as in the file. Empty only to make a new file.'),
  new_string: z.string().describe('What takes its place; must differ from old_string.'),
  replace_all: z
    .boolean()
    .optional()
    .describe('Replace every occurrence. Otherwise old_string must be unique.'),
});

type EditInput = z.output<typeof editSchema>;

const planEdit = (input: EditInput, context: ToolContext): Promise<ChangePlan> =>
  planEdits(input.file_path, [input], () => '', context);

export const editTool: Tool<EditInput> = {
  name: 'Edit',
  userFacingName: () => 'Edit',
  description:
    'Replaces old_string by new_string in a file that was read in this session. old_string must be in the file exactly, ' +
    'and only once unless replace_all is set. Nothing else in the file changes: encoding, line endings and mode stay.',
  inputSchema: editSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'edit'),
  prompt:
    'Edit changes a part of a file. Read the file first; if it changed since, Read it again. Copy old_string from what ' +
    'Read showed, with its indentation and without the line number and the tab. Where it is not unique, take more lines ' +
    'around it, or set replace_all, which is also how to rename something throughout a file.',
  validateInput: (input, context) => validateChange(() => planEdit(input, context)),
  describe: (input, context) =>
    describeChange('Edit', targetOf(input.file_path, context), context, () => planEdit(input, context)),
  async *call(input, context) {
    const change = await planEdit(input, context);
    await commitChange(change, context);
    yield {
      type: 'result',
      resultForAssistant: nowReads(whatChanged(change, context), change),
      data: await changeData(change, context),
    };
  },
};

function whatChanged({ target, before, regions }: ChangePlan, context: ToolContext): string {
  const path = shortPath(target, context);
  if (before === undefined) return `Created ${path}.`;
  return `Changed ${path}${regions.length > 1 ? ` in ${regions.length} places` : ''}.`;
}

const MAX_EDITS = 200;

const multiEditSchema = z.strictObject({
  file_path: pathInput('The file to change, best as an absolute path.'),
  edits: z
    .array(
      z.strictObject({
        old_string: z
          .string()
          .describe('The text to replace, as the file reads after the edits before this one.'),
        new_string: z.string().describe('What takes its place; must differ from old_string.'),
        replace_all: z.boolean().optional().describe('Replace every occurrence of old_string.'),
      }),
    )
    .min(1)
    .max(MAX_EDITS)
    .describe('Made one after the other.'),
});

type MultiEditInput = z.output<typeof multiEditSchema>;

const planMultiEdit = ({ file_path, edits }: MultiEditInput, context: ToolContext): Promise<ChangePlan> =>
  planEdits(file_path, edits, (index) => `Edit ${index + 1} of ${edits.length}: `, context);

export const multiEditTool: Tool<MultiEditInput> = {
  name: 'MultiEdit',
  userFacingName: () => 'MultiEdit',
  description:
    'Makes several edits in one file that was read in this session. Each works on the text that the ones before it left, ' +
    'under the rules of Edit. If one of them cannot be made, none is.',
  inputSchema: multiEditSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'edit'),
  prompt:
    'MultiEdit is better than several calls of Edit on the same file: it is written once, and not at all if one edit ' +
    'fails. Mind that an earlier edit can change the text that a later one looks for.',
  validateInput: (input, context) => validateChange(() => planMultiEdit(input, context)),
  describe: (input, context) =>
    describeChange('Edit', targetOf(input.file_path, context), context, () => planMultiEdit(input, context)),
  async *call(input, context) {
    const change = await planMultiEdit(input, context);
    await commitChange(change, context);
    const path = shortPath(change.target, context);
    const count = input.edits.length === 1 ? '1 edit' : `${input.edits.length} edits`;
    const done = change.before === undefined ? `Created ${path} with ${count}.` : `Made ${count} in ${path}.`;
    yield {
      type: 'result',
      resultForAssistant: nowReads(done, change),
      data: await changeData(change, context),
    };
  },
};
