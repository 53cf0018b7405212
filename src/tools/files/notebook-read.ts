/** Reads a notebook and shows its cells. What Read does with .ipynb files, and NotebookRead with all. */
import * as z from 'zod';
import { readTextFile } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError, type ToolResult } from '../runtime/tool.js';
import { cellId, findCell, type Notebook, parseNotebook, unknownCell, viewNotebook } from './notebook.js';
import {
  describeTarget,
  effectsOn,
  forModel,
  missingFile,
  pathInput,
  type ToolCallTarget,
  targetOf,
} from './tool-call-target.js';

interface NotebookRange {
  cellId?: string | undefined;
  /** The first cell, from 1. */
  offset?: number | undefined;
  limit?: number | undefined;
}

/** Throws ToolError. Afterwards the notebook counts as read. */
export async function readNotebook(
  target: ToolCallTarget,
  range: NotebookRange,
  context: ToolContext,
): Promise<ToolResult> {
  const file = await forModel(() => readTextFile(target.real));
  if (file === undefined) throw await missingFile(target, context);
  const notebook = parseNotebook(file.text, target.path);
  const { from, to } = cellsOf(notebook, range, target.path);
  const view = viewNotebook(notebook, from, to);
  const last = from + view.shown;
  const total = notebook.cells.length;
  const whole = from === 0 && last === total;
  context.files.set(target.real, { ...file.version, readAt: Date.now() });
  const content = [...view.content];
  if (total === 0) content.push({ type: 'text', text: `[${target.path} is a notebook without cells.]` });
  else if (!whole && range.cellId === undefined) {
    const goOn = last < total ? ` Go on with offset=${last + 1}.` : '';
    content.push({ type: 'text', text: `[Cells ${from + 1}-${last} of ${total}.${goOn}]` });
  }
  return {
    type: 'result',
    resultForAssistant: content,
    data: {
      kind: 'notebook',
      path: target.path,
      cells: notebook.cells.slice(from, last).map((cell, index) => ({
        id: cellId(cell, from + index),
        type: cell.cell_type,
      })),
      totalCells: total,
      images: view.images,
      language: notebook.metadata?.language_info?.name ?? null,
    },
  };
}

function cellsOf(notebook: Notebook, range: NotebookRange, path: string): { from: number; to: number } {
  if (range.cellId !== undefined) {
    const index = findCell(notebook, range.cellId);
    if (index === -1) throw unknownCell(notebook, range.cellId, path);
    return { from: index, to: index + 1 };
  }
  const total = notebook.cells.length;
  const from = Math.max(1, range.offset ?? 1) - 1;
  if (from > 0 && from >= total) {
    throw new ToolError(`${path} has ${total} cells; offset=${from + 1} is behind its end.`);
  }
  return { from, to: from + (range.limit ?? total) };
}

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
