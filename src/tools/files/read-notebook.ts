/** Reads a notebook and shows its cells. What Read does with .ipynb files, and NotebookRead with all. */
import { readTextFile } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError, type ToolResult } from '../runtime/tool.js';
import { forModel } from './for-model.js';
import { missingFile } from './missing-file.js';
import { cellId, findCell, type Notebook, parseNotebook, unknownCell } from './notebook.js';
import { viewNotebook } from './notebook-view.js';
import type { ToolCallTarget } from './tool-call-target.js';

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
