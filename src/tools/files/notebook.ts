/** Jupyter notebooks (nbformat 4): what is in them, as far as it is shown or changed. */
import * as z from 'zod';
import { ToolError } from '../runtime/tool.js';

/** Long texts are lists of lines, each with its line ending. */
const multilineText = z.union([z.string(), z.array(z.string())]);

const outputSchema = z.looseObject({
  output_type: z.string(),
  name: z.string().optional(),
  text: multilineText.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
});

const cellSchema = z.looseObject({
  cell_type: z.string(),
  id: z.string().optional(),
  source: multilineText,
  metadata: z.looseObject({}).optional(),
  outputs: z.array(outputSchema).optional(),
  execution_count: z.number().nullable().optional(),
});

const notebookSchema = z.looseObject({
  cells: z.array(cellSchema),
  nbformat: z.number(),
  nbformat_minor: z.number().optional(),
  metadata: z
    .looseObject({ language_info: z.looseObject({ name: z.string().optional() }).optional() })
    .optional(),
});

export type Notebook = z.output<typeof notebookSchema>;
export type NotebookCell = z.output<typeof cellSchema>;
export type NotebookOutput = z.output<typeof outputSchema>;

/** For who can do something else with the file. */
export class NotANotebook extends ToolError {}

/** Throws NotANotebook. */
export function parseNotebook(text: string, path: string): Notebook {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new NotANotebook(`${path} is not valid JSON, so it is no notebook. Read it and fix it as text.`, {
      cause: error,
    });
  }
  const parsed = notebookSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : ` (at ${issue.path.join('.')})`;
  throw new NotANotebook(
    `${path} is not a notebook of format 4${where}. Older ones are converted with: jupyter nbconvert --to notebook`,
  );
}

export function isNotebook(text: string): boolean {
  try {
    return notebookSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

export function joinLines(text: string | readonly string[] | undefined): string {
  return typeof text === 'string' ? text : (text ?? []).join('');
}

/** Before nbformat 4.5 cells have no ids: they go by their place, from 0. */
export function cellId(cell: NotebookCell, index: number): string {
  return cell.id ?? `cell-${index}`;
}

/** By id, else by place (`cell-3`). -1 where there is none. */
export function findCell({ cells }: Notebook, id: string): number {
  const byId = cells.findIndex((cell) => cell.id === id);
  if (byId !== -1) return byId;
  const place = /^cell-(\d+)$/.exec(id)?.[1];
  if (place === undefined) return -1;
  const index = Number(place);
  return index < cells.length ? index : -1;
}

const LISTED_IDS = 30;

export function unknownCell(notebook: Notebook, id: string, path: string): ToolError {
  const ids = notebook.cells.slice(0, LISTED_IDS).map(cellId);
  const more = notebook.cells.length > LISTED_IDS ? ', …' : '';
  const known = ids.length === 0 ? 'It has no cells.' : `Its cells are ${ids.join(', ')}${more}.`;
  return new ToolError(`${path} has no cell ${id}. ${known}`);
}

export function hasCellIds({ nbformat, nbformat_minor = 0 }: Notebook): boolean {
  return nbformat > 4 || (nbformat === 4 && nbformat_minor >= 5);
}
