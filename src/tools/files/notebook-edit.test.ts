import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../../test/support/cleanup.js';
import { createTestContext, runTool } from '../../../test/support/tool-context.js';
import { arrayElements, type NotebookEditInput, notebookEditTool, objectMembers } from './notebook-edit.js';
import { notebookReadTool } from './notebook-read.js';

const CODE = {
  cell_type: 'code',
  execution_count: 3,
  id: 'aaaa',
  metadata: { tags: ['x'] },
  outputs: [{ output_type: 'stream', name: 'stdout', text: ['hi\n'] }],
  source: ['print("hi")\n', 'x = 1'],
};
const TEXT = { cell_type: 'markdown', id: 'bbbb', metadata: {}, source: '# “Title”' };

interface Options {
  minor?: number;
  indent?: number | string;
  cells?: object[];
  end?: string;
}

function notebookText({ minor = 5, indent = 1, cells = [CODE, TEXT], end = '\n' }: Options = {}): string {
  // A number that does not survive JSON.parse and stringify unchanged.
  const whole = { cells, metadata: { version: 'VERSION' }, nbformat: 4, nbformat_minor: minor };
  return JSON.stringify(whole, null, indent).replace('"VERSION"', '1.0') + end;
}

async function edit(
  before: string,
  input: Omit<NotebookEditInput, 'notebook_path'>,
): Promise<{ after: string; text: string }> {
  const context = await createTestContext();
  closeAfterTest(() => context.close());
  const path = join(context.root, 'n.ipynb');
  await writeFile(path, before);
  await runTool(notebookReadTool, { notebook_path: path }, { ...context });
  const { text } = await runTool(notebookEditTool, { notebook_path: path, ...input }, { ...context });
  return { after: readFileSync(path, 'utf8'), text };
}

describe('NotebookEdit', () => {
  it('changes source and outputs of a code cell and not one byte more', async () => {
    const before = notebookText();
    const { after } = await edit(before, { cell_id: 'aaaa', new_source: 'y = 2\nz' });
    const expected = before
      .replace('"print(\\"hi\\")\\n",\n    "x = 1"', '"y = 2\\n",\n    "z"')
      .replace('"execution_count": 3', '"execution_count": null')
      .replace(/"outputs": \[[\s\S]*?\n {3}\]/, '"outputs": []');
    expect(after).toBe(expected);
    expect(after).toContain('"version": 1.0');
  });

  it('keeps a source that is one string a string', async () => {
    const { after } = await edit(notebookText(), { cell_id: 'bbbb', new_source: '# New\ntext' });
    expect(after).toContain('"source": "# New\\ntext"');
  });

  it.each([1, 2, '\t', undefined])(
    'keeps the indentation %j when a cell is added and taken away again',
    async (indent) => {
      const before = notebookText(indent === undefined ? { indent: 0 } : { indent });
      const { after, text } = await edit(before, {
        cell_id: 'aaaa',
        new_source: 'new',
        cell_type: 'code',
        edit_mode: 'insert',
      });
      const id = /cell ([0-9a-f]{8}) of/.exec(text)?.[1] ?? 'no id';
      expect(JSON.parse(after).cells.map((cell: { id: string }) => cell.id)).toEqual(['aaaa', id, 'bbbb']);
      const again = await edit(after, { cell_id: id, new_source: '', edit_mode: 'delete' });
      expect(again.after).toBe(before);
    },
  );

  it('puts a cell first without a cell_id, and into a notebook without cells', async () => {
    const input = { new_source: '# Hi', cell_type: 'markdown', edit_mode: 'insert' } as const;
    const first = await edit(notebookText(), input);
    expect(JSON.parse(first.after).cells[0]).toMatchObject({ cell_type: 'markdown', source: ['# Hi'] });
    const only = await edit(notebookText({ cells: [] }), input);
    expect(JSON.parse(only.after).cells).toHaveLength(1);
    expect(only.after).toBe(
      JSON.stringify(JSON.parse(only.after), null, 1).replace('"version": 1', '"version": 1.0').concat('\n'),
    );
  });

  it('makes no ids before nbformat 4.5, where cells go by their place', async () => {
    const cells = [{ cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: ['a'] }];
    const { after } = await edit(notebookText({ minor: 4, cells }), {
      cell_id: 'cell-0',
      new_source: 'b',
      cell_type: 'code',
      edit_mode: 'insert',
    });
    expect(JSON.parse(after).cells.map((cell: object) => 'id' in cell)).toEqual([false, false]);
  });

  it('turns code into text and back with the keys that each has', async () => {
    const { after } = await edit(notebookText(), {
      cell_id: 'aaaa',
      new_source: '# x',
      cell_type: 'markdown',
    });
    expect(JSON.parse(after).cells[0]).toEqual({
      cell_type: 'markdown',
      id: 'aaaa',
      metadata: { tags: ['x'] },
      source: ['# x'],
    });
    const back = await edit(after, { cell_id: 'aaaa', new_source: 'x', cell_type: 'code' });
    expect(JSON.parse(back.after).cells[0]).toMatchObject({
      execution_count: null,
      outputs: [],
      source: ['x'],
    });
  });

  it('escapes what is not ASCII where the notebook does', async () => {
    const before = notebookText().replaceAll('“', '\\u201c').replaceAll('”', '\\u201d');
    const { after } = await edit(before, { cell_id: 'aaaa', new_source: '"é"' });
    expect(after).toContain('\\u00e9');
    expect(after).not.toContain('é');
  });

  it.each([
    [{ cell_id: 'none', new_source: 'x' }, 'Its cells are aaaa, bbbb'],
    [{ new_source: 'x' }, 'cell_id is needed'],
    [{ new_source: 'x', edit_mode: 'insert' as const }, 'cell_type is needed'],
    [{ cell_id: 'bbbb', new_source: '# “Title”' }, 'nothing to change'],
  ])('refuses %j', async (input, message) => {
    await expect(edit(notebookText(), input)).rejects.toThrow(message);
  });
});

describe('ranges in JSON', () => {
  it('are those of the values, whatever strings and blanks there are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.constantFrom(undefined, 1, '\t'),
        (values, indent) => {
          const list = JSON.stringify(values, null, indent);
          expect(arrayElements(list, 0).map(({ start, end }) => JSON.parse(list.slice(start, end)))).toEqual(
            JSON.parse(list),
          );
          const object = JSON.stringify(
            Object.fromEntries(values.map((value, index) => [`k"\\${index}`, value])),
            null,
            indent,
          );
          const members = objectMembers(object, 0);
          expect(
            Object.fromEntries(
              members.map(({ key, start, end }) => [key, JSON.parse(object.slice(start, end))]),
            ),
          ).toEqual(JSON.parse(object));
        },
      ),
      { numRuns: 300 },
    );
  });
});
