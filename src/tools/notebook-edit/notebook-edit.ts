/** Replaces, adds or removes a cell of a Jupyter notebook. */
import * as z from 'zod';
import {
  type ChangePlan,
  changeData,
  commitChange,
  describeChange,
  planChange,
  validateChange,
} from '../files/file-change.js';
import { pathInput } from '../files/file-input.js';
import { cellId, findCell, type Notebook, parseNotebook, unknownCell } from '../files/notebook.js';
import { viewNotebook } from '../files/notebook-view.js';
import { effectsOn, shortPath, targetOf } from '../files/tool-call-target.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import { deleteCell, insertCell, layOut, replaceCell } from './edit-cells.js';

const inputSchema = z.strictObject({
  notebook_path: pathInput('The .ipynb file, best as an absolute path.'),
  cell_id: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The cell to replace or delete; with insert, the cell after which the new one goes (left out: first).',
    ),
  new_source: z.string().describe('The new source of the cell. Not used with delete.'),
  cell_type: z
    .enum(['code', 'markdown'])
    .optional()
    .describe('Needed with insert. With replace, left out: the type stays.'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('replace if left out.'),
});

export type NotebookEditInput = z.output<typeof inputSchema>;

interface CellChange {
  text: string;
  /** Where the cell is, or was. */
  index: number;
  id: string;
}

function changeCell(input: NotebookEditInput, text: string, path: string): CellChange {
  const notebook = parseNotebook(text, path);
  const layout = layOut(text, notebook);
  const mode = input.edit_mode ?? 'replace';
  if (mode === 'insert') {
    if (input.cell_type === undefined) {
      throw new ToolError('cell_type is needed with edit_mode=insert: code or markdown.');
    }
    const after = input.cell_id === undefined ? -1 : indexOf(notebook, input.cell_id, path);
    const inserted = insertCell(layout, after, input.new_source, input.cell_type);
    return { text: inserted.text, index: after + 1, id: inserted.id ?? `cell-${after + 1}` };
  }
  if (input.cell_id === undefined) throw new ToolError(`cell_id is needed with edit_mode=${mode}.`);
  const index = indexOf(notebook, input.cell_id, path);
  const cell = notebook.cells[index];
  const id = cell === undefined ? input.cell_id : cellId(cell, index);
  if (mode === 'delete') return { text: deleteCell(layout, index), index, id };
  return { text: replaceCell(layout, index, input.new_source, input.cell_type), index, id };
}

function indexOf(notebook: Notebook, id: string, path: string): number {
  const index = findCell(notebook, id);
  if (index === -1) throw unknownCell(notebook, id, path);
  return index;
}

interface NotebookPlan extends ChangePlan {
  cell: Omit<CellChange, 'text'>;
}

async function plan(input: NotebookEditInput, context: ToolContext): Promise<NotebookPlan> {
  const target = targetOf(input.notebook_path, context);
  let cell: Omit<CellChange, 'text'> = { index: 0, id: '' };
  const change = await planChange(target, context, (before) => {
    if (before === undefined) {
      throw new ToolError(`${target.path} does not exist. Make a notebook with Write.`);
    }
    const { text, ...place } = changeCell(input, before.text, target.path);
    cell = place;
    return { text, regions: [], notes: [] };
  });
  return { ...change, cell };
}

const TITLES = { replace: 'Edit', insert: 'Add a cell to', delete: 'Delete a cell of' } as const;

export const notebookEditTool: Tool<NotebookEditInput> = {
  name: 'NotebookEdit',
  aliases: ['Jupyter'],
  userFacingName: () => 'Edit Notebook',
  description:
    'Changes one cell of a Jupyter notebook that was read in this session: replaces its source, inserts a new cell after ' +
    'it, or deletes it. Outputs of a replaced code cell are cleared. The rest of the file stays as it is.',
  inputSchema,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  effects: ({ notebook_path }, context) => effectsOn(targetOf(notebook_path, context), 'edit'),
  prompt:
    'NotebookEdit changes .ipynb files one cell at a time. Read the notebook first: cells go by the ids shown there. ' +
    'new_source is the whole source of the cell, not a part of it.',
  validateInput: (input, context) => validateChange(() => plan(input, context)),
  describe: (input, context) =>
    describeChange(
      TITLES[input.edit_mode ?? 'replace'],
      targetOf(input.notebook_path, context),
      context,
      () => plan(input, context),
    ),
  async *call(input, context) {
    const change = await plan(input, context);
    await commitChange(change, context);
    const mode = input.edit_mode ?? 'replace';
    const { index, id } = change.cell;
    const path = shortPath(change.target, context);
    const after = parseNotebook(change.text, change.target.path);
    yield {
      type: 'result',
      resultForAssistant:
        mode === 'delete'
          ? `Deleted cell ${id} of ${path}; ${after.cells.length} are left.`
          : [
              { type: 'text', text: `${mode === 'insert' ? 'Added' : 'Replaced'} cell ${id} of ${path}:` },
              ...viewNotebook(after, index, index + 1).content,
            ],
      data: { ...(await changeData(change, context)), cell: { id, index }, mode },
    };
  },
};
