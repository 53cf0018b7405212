/** Makes a file, or replaces all of the text of one. */
import * as z from 'zod';
import { ENCODINGS } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import type { Tool } from '../runtime/tool.js';
import { withLineEndingsOf } from './edit-text.js';
import {
  type ChangePlan,
  changeData,
  commitChange,
  type Drafter,
  describeChange,
  planChange,
  validateChange,
} from './file-change.js';
import { effectsOn, pathInput, shortPath, targetOf } from './tool-call-target.js';

const inputSchema = z.strictObject({
  file_path: pathInput('The file to write, best as an absolute path.'),
  content: z.string().describe('Everything that the file will contain.'),
});

type WriteInput = z.output<typeof inputSchema>;

function plan({ file_path, content }: WriteInput, context: ToolContext): Promise<ChangePlan> {
  const draft: Drafter = (before) => {
    // The mark of the encoding is kept with the encoding.
    const given = content.startsWith('\ufeff') && before?.encoding !== 'utf-8' ? content.slice(1) : content;
    const text = before === undefined ? content : withLineEndingsOf(given, before.text);
    const notes: string[] = [];
    if (before !== undefined && text !== given) notes.push('Its CRLF line endings were kept.');
    if (before !== undefined && before.encoding !== 'utf-8') {
      notes.push(`Its encoding was kept: ${ENCODINGS[before.encoding].name}.`);
    }
    return { text, regions: [], notes };
  };
  return planChange(targetOf(file_path, context), context, draft);
}

export const writeTool: Tool<WriteInput> = {
  name: 'Write',
  userFacingName: () => 'Write',
  description:
    'Writes a file: makes a new one, with its folders, or replaces all of the text of one that was read in this session. ' +
    'Encoding, line endings and mode of an existing file stay. To change a part of a file use Edit.',
  inputSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ file_path }, context) => effectsOn(targetOf(file_path, context), 'edit'),
  prompt:
    'Write is for new files and for rewriting a file whole. Read an existing file before writing to it: otherwise, or ' +
    'if it changed since, the call is refused. Prefer Edit for changes, it says what changes and costs less. Make no ' +
    'files that were not asked for, and no documentation unless it was asked for.',
  validateInput: (input, context) => validateChange(() => plan(input, context)),
  describe: (input, context) =>
    describeChange('Write', targetOf(input.file_path, context), context, () => plan(input, context)),
  async *call(input, context) {
    const change = await plan(input, context);
    await commitChange(change, context);
    const path = shortPath(change.target, context);
    const done = change.before === undefined ? `Created ${path}.` : `Replaced the text of ${path}.`;
    yield {
      type: 'result',
      resultForAssistant: [done, ...change.notes].join(' '),
      data: await changeData(change, context),
    };
  },
};
