/** A notebook as a model sees it: cells with their ids, sources and outputs, pictures included. */
import type { ImageBlock, ToolResultContent } from '../../core/conversation.js';
import { cellId, joinLines, type Notebook, type NotebookCell, type NotebookOutput } from './notebook.js';

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
