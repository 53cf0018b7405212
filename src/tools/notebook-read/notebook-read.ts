/** Shows the cells of a Jupyter notebook, or one of them. */
import * as z from 'zod';
import { pathInput } from '../files/file-input.js';
import { readNotebook } from '../files/read-notebook.js';
import { describeTarget, effectsOn, targetOf } from '../files/tool-call-target.js';
import type { Tool } from '../runtime/tool.js';

const inputSchema = z.strictObject({
  notebook_path: pathInput('The .ipynb file, best as an absolute path.'),
  cell_id: z.string().min(1).optional().describe('Show only the cell with this id.'),
  offset: z.number().int().min(0).optional().describe('The first cell to show, from 1.'),
  limit: z.number().int().min(1).optional().describe('How many cells to show.'),
});

type NotebookReadInput = z.output<typeof inputSchema>;

export const notebookReadTool: Tool<NotebookReadInput> = {
  name: 'NotebookRead',
  userFacingName: () => 'Read Notebook',
  description:
    'Shows a Jupyter notebook: every cell with its id, source and outputs, pictures included; or the one cell with cell_id.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => true,
  effects: ({ notebook_path }, context) => effectsOn(targetOf(notebook_path, context), 'read'),
  prompt:
    'NotebookRead shows .ipynb files cell by cell. The ids that it shows are what NotebookEdit takes; cells of older ' +
    'notebooks have none and go by their place: cell-0, cell-1, …',
  describe: (input, context) =>
    describeTarget('Read', 'read', targetOf(input.notebook_path, context), context),
  async *call({ notebook_path, cell_id, offset, limit }, context) {
    yield await readNotebook(targetOf(notebook_path, context), { cellId: cell_id, offset, limit }, context);
  },
  limits: { resultChars: 200_000 },
};
