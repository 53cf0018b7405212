/** Replaces a string in a file. */
import * as z from 'zod';
import { assertNoNotebook, draftEdits } from '../files/apply-edits.js';
import {
  type ChangePlan,
  changeData,
  commitChange,
  describeChange,
  planChange,
  validateChange,
} from '../files/file-change.js';
import { pathInput } from '../files/file-input.js';
import { numberedSnippets } from '../files/numbered-lines.js';
import { effectsOn, shortPath, targetOf } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import type { Tool } from '../runtime/tool.js';

const inputSchema = z.strictObject({
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

type EditInput = z.output<typeof inputSchema>;

function plan(input: EditInput, context: ToolContext): Promise<ChangePlan> {
  const target = targetOf(input.file_path, context);
  const edit = {
    oldString: input.old_string,
    newString: input.new_string,
    replaceAll: input.replace_all ?? false,
  };
  return planChange(target, context, (before) => {
    assertNoNotebook(target, before, context);
    return draftEdits(target, before, [edit], () => '');
  });
}

export const editTool: Tool<EditInput> = {
  name: 'Edit',
  userFacingName: () => 'Edit',
  description:
    'Replaces old_string by new_string in a file that was read in this session. old_string must be in the file exactly, ' +
    'and only once unless replace_all is set. Nothing else in the file changes: encoding, line endings and mode stay.',
  inputSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'edit'),
  prompt:
    'Edit changes a part of a file. Read the file first; if it changed since, Read it again. Copy old_string from what ' +
    'Read showed, with its indentation and without the line number and the tab. Where it is not unique, take more lines ' +
    'around it, or set replace_all, which is also how to rename something throughout a file.',
  validateInput: (input, context) => validateChange(() => plan(input, context)),
  describe: (input, context) =>
    describeChange('Edit', targetOf(input.file_path, context), context, () => plan(input, context)),
  async *call(input, context) {
    const change = await plan(input, context);
    await commitChange(change, context);
    yield {
      type: 'result',
      resultForAssistant: editResult(change, context),
      data: await changeData(change, context),
    };
  },
};

function editResult(change: ChangePlan, context: ToolContext): string {
  const path = shortPath(change.target, context);
  const places = change.regions.length > 1 ? ` in ${change.regions.length} places` : '';
  const done = change.before === undefined ? `Created ${path}.` : `Changed ${path}${places}.`;
  const snippet = numberedSnippets(change.text, change.regions);
  return [[done, ...change.notes].join(' '), 'It now reads:', snippet].join('\n');
}
