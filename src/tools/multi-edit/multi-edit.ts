/** Several edits of one file in one go: all of them or none. */
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

const MAX_EDITS = 200;

const inputSchema = z.strictObject({
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

type MultiEditInput = z.output<typeof inputSchema>;

function plan({ file_path, edits }: MultiEditInput, context: ToolContext): Promise<ChangePlan> {
  const target = targetOf(file_path, context);
  const each = edits.map(({ old_string, new_string, replace_all }) => ({
    oldString: old_string,
    newString: new_string,
    replaceAll: replace_all ?? false,
  }));
  return planChange(target, context, (before) => {
    assertNoNotebook(target, before, context);
    return draftEdits(target, before, each, (index) => `Edit ${index + 1} of ${each.length}: `);
  });
}

export const multiEditTool: Tool<MultiEditInput> = {
  name: 'MultiEdit',
  userFacingName: () => 'MultiEdit',
  description:
    'Makes several edits in one file that was read in this session. Each works on the text that the ones before it left, ' +
    'under the rules of Edit. If one of them cannot be made, none is.',
  inputSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'edit'),
  prompt:
    'MultiEdit is better than several calls of Edit on the same file: it is written once, and not at all if one edit ' +
    'fails. Mind that an earlier edit can change the text that a later one looks for.',
  validateInput: (input, context) => validateChange(() => plan(input, context)),
  describe: (input, context) =>
    describeChange('Edit', targetOf(input.file_path, context), context, () => plan(input, context)),
  async *call(input, context) {
    const change = await plan(input, context);
    await commitChange(change, context);
    const path = shortPath(change.target, context);
    const count = input.edits.length === 1 ? '1 edit' : `${input.edits.length} edits`;
    const done = change.before === undefined ? `Created ${path} with ${count}.` : `Made ${count} in ${path}.`;
    yield {
      type: 'result',
      resultForAssistant: [
        [done, ...change.notes].join(' '),
        'It now reads:',
        numberedSnippets(change.text, change.regions),
      ].join('\n'),
      data: await changeData(change, context),
    };
  },
};
