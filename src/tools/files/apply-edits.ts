/** Edits of one file, one after the other, all or none. What Edit and MultiEdit have in common. */
import { extname } from 'node:path';
import type { TextFile } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';
import { editText, type TextEdit } from './edit-text.js';
import type { Draft } from './file-change.js';
import { isNotebook } from './notebook.js';
import type { Region } from './numbered-lines.js';
import type { ToolCallTarget } from './tool-call-target.js';

const LOOSE_NOTE =
  'was found only without regard to blanks at line ends and typographic punctuation; the rest of the text keeps both';

/** `label` names an edit in messages; empty for a single one. Throws ToolError. */
export async function draftEdits(
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
export function assertNoNotebook(
  target: ToolCallTarget,
  before: TextFile | undefined,
  context: ToolContext,
): void {
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
