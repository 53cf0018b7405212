/** Jupyter notebooks (nbformat 4): what is in them, as far as it is shown or changed. */
import * as z from 'zod';
import type { ImageBlock, ToolResultContent } from '../../core/conversation.js';
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
type NotebookOutput = z.output<typeof outputSchema>;

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

function joinLines(text: string | readonly string[] | undefined): string {
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

interface NotebookView {
  content: ToolResultContent[];
  /** How many cells were shown. */
  shown: number;
  images: number;
}

const NOTEBOOK_LIMITS = {
  /** Of all cells together; the first is always shown. */
  chars: 100_000,
  sourceChars: 40_000,
  outputChars: 8_000,
  images: 20,
  /** Base64 characters of one picture. */
  imageChars: 5 * 1024 * 1024,
} as const;

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** The first of these that an output has is shown. */
const TEXTS = [
  'text/markdown',
  'text/plain',
  'text/latex',
  'application/json',
  'image/svg+xml',
  'text/html',
] as const;

/** Cells `from` (counted from 0) up to `to`, or as many as there is room for. */
export function viewNotebook(notebook: Notebook, from: number, to: number): NotebookView {
  const content: ToolResultContent[] = [];
  let chars = 0;
  let images = 0;
  let shown = 0;
  let text = '';
  const flush = (): void => {
    if (text !== '') content.push({ type: 'text', text: text.replace(/\n$/, '') });
    text = '';
  };
  for (let index = from; index < Math.min(to, notebook.cells.length); index++) {
    const cell = notebook.cells[index];
    if (cell === undefined) break;
    const parts = viewCell(cell, index, NOTEBOOK_LIMITS.images - images);
    const size = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
    if (shown > 0 && chars + size > NOTEBOOK_LIMITS.chars) break;
    for (const part of parts) {
      if (typeof part === 'string') text += part;
      else {
        flush();
        content.push(part);
        images += 1;
      }
    }
    chars += size;
    shown += 1;
  }
  flush();
  return { content, shown, images };
}

function viewCell(cell: NotebookCell, index: number, images: number): (string | ImageBlock)[] {
  const count = typeof cell.execution_count === 'number' ? ` execution_count="${cell.execution_count}"` : '';
  const source = cutText(joinLines(cell.source), NOTEBOOK_LIMITS.sourceChars);
  const id = cellId(cell, index).replaceAll('"', '&quot;');
  const parts: (string | ImageBlock)[] = [
    `<cell id="${id}" type="${cell.cell_type}"${count}>\n${source}\n</cell>\n`,
  ];
  let left = images;
  for (const output of cell.outputs ?? []) {
    const part = viewOutput(output, left > 0);
    if (part === '') continue;
    if (typeof part === 'string') parts.push(`<output>\n${part}\n</output>\n`);
    else {
      parts.push(part);
      left -= 1;
    }
  }
  return parts;
}

function viewOutput(output: NotebookOutput, withImage: boolean): string | ImageBlock {
  const limit = NOTEBOOK_LIMITS.outputChars;
  if (output.output_type === 'stream') return cutText(trimEnd(joinLines(output.text)), limit);
  if (output.output_type === 'error') {
    const trace = (output.traceback ?? []).join('\n').replace(/\x1b\[[0-9;]*m/g, '');
    return cutText(trace === '' ? `${output.ename ?? 'Error'}: ${output.evalue ?? ''}` : trace, limit);
  }
  const data = output.data ?? {};
  for (const mediaType of PICTURES) {
    const base64 = textValue(data[mediaType])?.replace(/\s+/g, '');
    if (base64 === undefined) continue;
    if (!withImage)
      return `[A picture, ${mediaType}, is left out: too many in one result. Read its cell alone.]`;
    if (base64.length > NOTEBOOK_LIMITS.imageChars)
      return `[A picture, ${mediaType}, is too large to be shown.]`;
    return { type: 'image', source: { type: 'base64', mediaType, data: base64 } };
  }
  for (const mediaType of TEXTS) {
    const value = data[mediaType];
    if (value === undefined) continue;
    return cutText(trimEnd(textValue(value) ?? JSON.stringify(value)), limit);
  }
  const kinds = Object.keys(data);
  return kinds.length === 0 ? '' : `[An output that cannot be shown: ${kinds.join(', ')}]`;
}

function textValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  return value.filter((line) => typeof line === 'string').join('');
}

function trimEnd(text: string): string {
  return text.replace(/\n+$/, '');
}

function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}\n[… ${text.length - limit} more characters; the file has all of them]`;
}
