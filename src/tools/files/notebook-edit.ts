/** Replaces, adds or removes a cell of a Jupyter notebook; the rest of the file keeps its bytes. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { ToolContext } from '../runtime/context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import {
  type ChangePlan,
  changeData,
  commitChange,
  describeChange,
  planChange,
  validateChange,
} from './file-change.js';
import {
  cellId,
  findCell,
  hasCellIds,
  type Notebook,
  type NotebookCell,
  parseNotebook,
  unknownCell,
  viewNotebook,
} from './notebook.js';
import { effectsOn, pathInput, shortPath, targetOf } from './tool-call-target.js';

interface JsonRange {
  start: number;
  /** Exclusive. */
  end: number;
}

interface JsonMember extends JsonRange {
  key: string;
}

/** `at` is where the `{` stands. The ranges are those of the values. */
export function objectMembers(text: string, at: number): JsonMember[] {
  const members: JsonMember[] = [];
  let position = skipBlanks(text, at + 1);
  while (text[position] === '"') {
    const keyEnd = stringEnd(text, position);
    const key = String(JSON.parse(text.slice(position, keyEnd)));
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.push({ key, start, end });
    position = afterComma(text, end);
  }
  return members;
}

/** `at` is where the `[` stands. */
export function arrayElements(text: string, at: number): JsonRange[] {
  const elements: JsonRange[] = [];
  let start = skipBlanks(text, at + 1);
  while (start < text.length && text[start] !== ']') {
    const end = valueEnd(text, start);
    elements.push({ start, end });
    start = afterComma(text, end);
  }
  return elements;
}

function skipBlanks(text: string, at: number): number {
  let position = at;
  while (/[ \t\r\n]/.test(text[position] ?? '')) position += 1;
  return position;
}

function afterComma(text: string, at: number): number {
  const next = skipBlanks(text, at);
  return text[next] === ',' ? skipBlanks(text, next + 1) : next;
}

function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== '{' && first !== '[') {
    const match = /[^\s,}\]]*/y;
    match.lastIndex = at;
    match.test(text);
    return match.lastIndex;
  }
  const marks = /["{}[\]]/g;
  marks.lastIndex = at;
  let depth = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    if (found[0] === '"') marks.lastIndex = stringEnd(text, found.index);
    else if (found[0] === '{' || found[0] === '[') depth += 1;
    else if (--depth === 0) return found.index + 1;
  }
  return text.length;
}

function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return text.length;
}

type CellType = 'code' | 'markdown';

interface CellLayout {
  text: string;
  notebook: Notebook;
  /** The value of `cells`, and each element of it. */
  array: JsonRange;
  cells: readonly JsonRange[];
}

/** `text` is what `notebook` was parsed from. */
function layOut(text: string, notebook: Notebook): CellLayout {
  const members = objectMembers(text, skipBlanks(text, 0));
  // Of a key that is there twice the last counts, as it does for the parser.
  const array = members.findLast(({ key }) => key === 'cells');
  if (array === undefined) throw new Error('a notebook that was parsed has no cells in its text');
  return { text, notebook, array, cells: arrayElements(text, array.start) };
}

function replaceCell(layout: CellLayout, index: number, source: string, type?: CellType): string {
  const { text, notebook } = layout;
  const cell = notebook.cells[index];
  const range = layout.cells[index];
  if (cell === undefined || range === undefined) throw new Error(`no cell ${index}`);
  const write = writerOf(text);
  const asString = typeof cell.source === 'string';
  if (type !== undefined && type !== cell.cell_type) {
    return splice(text, [{ ...range, put: write(convert(cell, type, sourceValue(source, asString)), 2) }]);
  }
  const put = new Map<string, string>([['source', write(sourceValue(source, asString), 3)]]);
  if (cell.cell_type === 'code') {
    put.set('outputs', '[]');
    put.set('execution_count', 'null');
  }
  return splice(
    text,
    objectMembers(text, range.start).flatMap(({ key, start, end }) => {
      const value = put.get(key);
      return value === undefined ? [] : [{ start, end, put: value }];
    }),
  );
}

/** After the cell `index`; -1 puts it first. Returns the id as well, where cells have ids. */
function insertCell(
  layout: CellLayout,
  index: number,
  source: string,
  type: CellType,
): { text: string; id?: string } {
  const { text, notebook, array, cells } = layout;
  const id = hasCellIds(notebook) ? newId(notebook) : undefined;
  const value = {
    cell_type: type,
    ...(type === 'code' ? { execution_count: null } : {}),
    ...(id === undefined ? {} : { id }),
    metadata: {},
    ...(type === 'code' ? { outputs: [] } : {}),
    source: sourceValue(source, typeof notebook.cells[0]?.source === 'string'),
  };
  const cell = writerOf(text)(value, 2);
  const { newline, unit } = formatOf(text);
  const before = unit === undefined ? '' : newline + unit.repeat(2);
  const first = cells[0];
  const after = cells[index];
  const made = (start: number, end: number, put: string): { text: string; id?: string } => ({
    text: splice(text, [{ start, end, put }]),
    ...(id === undefined ? {} : { id }),
  });
  if (first === undefined) {
    const close = unit === undefined ? '' : newline + unit;
    return made(array.start, array.end, `[${before}${cell}${close}]`);
  }
  if (after === undefined) return made(first.start, first.start, `${cell},${before}`);
  return made(after.end, after.end, `,${before}${cell}`);
}

function deleteCell({ text, array, cells }: CellLayout, index: number): string {
  const cell = cells[index];
  const next = cells[index + 1];
  const before = cells[index - 1];
  if (cell === undefined) throw new Error(`no cell ${index}`);
  if (next !== undefined) return splice(text, [{ start: cell.start, end: next.start, put: '' }]);
  if (before !== undefined) return splice(text, [{ start: before.end, end: cell.end, put: '' }]);
  return splice(text, [{ ...array, put: '[]' }]);
}

/** Keys that only code cells have. */
const CODE_KEYS: readonly string[] = ['outputs', 'execution_count'];

function convert(cell: NotebookCell, type: CellType, source: string | string[]): object {
  const kept = Object.entries(cell).filter(([key]) => !CODE_KEYS.includes(key) && key !== 'attachments');
  const code = type === 'code' ? { execution_count: null, outputs: [] } : {};
  return { ...Object.fromEntries(kept), ...code, cell_type: type, source };
}

function newId({ cells }: Notebook): string {
  const taken = new Set(cells.map(({ id }) => id));
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (!taken.has(id)) return id;
  }
}

function sourceValue(source: string, asString: boolean): string | string[] {
  if (asString) return source;
  return source === '' ? [] : source.split(/(?<=\n)/);
}

interface Format {
  newline: string;
  /** Of one level; none where all stands in one line. */
  unit: string | undefined;
  /** Nothing but ASCII, the rest as `\uXXXX`. */
  ascii: boolean;
}

function formatOf(text: string): Format {
  const match = /^\s*\{(\r?\n)([ \t]*)/.exec(text);
  return {
    newline: match?.[1] ?? '',
    unit: match === null ? undefined : (match[2] ?? ''),
    ascii: /\\u[0-9a-f]{4}/i.test(text) && !/[^\x00-\x7f]/.test(text),
  };
}

/** Writes values as the rest of the notebook is written. */
function writerOf(text: string): (value: unknown, depth: number) => string {
  const { newline, unit, ascii } = formatOf(text);
  return (value, depth) => {
    const json = JSON.stringify(value, null, unit);
    const placed = unit === undefined ? json : json.replaceAll('\n', newline + unit.repeat(depth));
    if (!ascii) return placed;
    return placed.replace(
      /[^\x00-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  };
}

function splice(text: string, changes: readonly (JsonRange & { put: string })[]): string {
  let result = text;
  for (const { start, end, put } of changes.toSorted((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + put + result.slice(end);
  }
  return result;
}

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
