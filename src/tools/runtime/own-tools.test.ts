import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { callOf, fakeWorld, textOf } from '../../../test/support/fake-tools.js';
import { enablementOf } from '../../../test/support/tool-context.js';
import { createOwnTools } from './own-tools.js';
import { SILENT } from './runtime.js';
import type { Tool } from './tool.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/tools', import.meta.url));
const ZOD = import.meta.resolve('zod');

async function load(
  files: Readonly<Record<string, string>>,
  paths: readonly string[] = ['./tools'],
  loadMs?: number,
) {
  const { path } = await tempFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
  const source = createOwnTools({
    paths,
    baseDir: path,
    log: SILENT,
    ...(loadMs === undefined ? {} : { loadMs }),
  });
  const tools = await source.tools();
  const problems = (await source.problems?.()) ?? [];
  return { tools, names: tools.map(({ name }) => name), problems, path, source };
}

async function answer(tool: Tool | undefined, input: Record<string, unknown> = {}): Promise<string> {
  if (tool === undefined) throw new Error('no tool');
  const made = await fakeWorld([tool], (await tempFolder()).path);
  closeAfterTest(() => made.runtime.close());
  const [result] = await made.results([callOf(tool.name, input)]);
  return `${result?.outcome}: ${textOf(result)}`;
}

const tool = (name: string, rest = "call: async () => 'hello'"): string =>
  `{ name: '${name}', description: 'Says ${name}.', ${rest} }`;

describe('where tools of one’s own are found', () => {
  it.each<[string, Record<string, string>, string[], string[]]>([
    [
      'every script of a folder, in the order of their names',
      {
        'tools/b.mjs': `export const tool = ${tool('B')}`,
        'tools/a.js': `export const tools = [${tool('A1')}, ${tool('A2')}]`,
        'tools/a.test.js': 'throw new Error()',
        'tools/_shared.js': 'throw new Error()',
        'tools/notes.md': 'x',
        'tools/package.json': '{"type":"module"}',
      },
      ['./tools'],
      ['A1', 'A2', 'B'],
    ],
    ['a default export', { 'tools/a.mjs': `export default ${tool('D')}` }, ['./tools'], ['D']],
    ['a list as the default', { 'tools/a.mjs': `export default [${tool('D')}]` }, ['tools'], ['D']],
    [
      'CommonJS',
      { 'tools/a.cjs': '', 'tools/a.js': `module.exports = { tool: ${tool('C')} }` },
      ['tools'],
      ['C'],
    ],
    ['one file', { 'x/one.mjs': `export const tool = ${tool('One')}` }, ['x/one.mjs'], ['One']],
    [
      'a folder that is a package',
      {
        'pkg/package.json': '{"main":"lib/index.mjs"}',
        'pkg/lib/index.mjs': `export const tool = ${tool('P')}`,
        'pkg/other.mjs': 'throw new Error()',
      },
      ['./pkg'],
      ['P'],
    ],
    [
      'a package by its name',
      {
        'node_modules/my-tools/package.json': '{"main":"index.js"}',
        'node_modules/my-tools/index.js': `exports.tool = ${tool('N')}`,
      },
      ['my-tools'],
      ['N'],
    ],
    [
      'a package that is for `import` alone',
      {
        'node_modules/@me/tools/package.json': '{"type":"module","exports":{".":{"import":"./i.js"}}}',
        'node_modules/@me/tools/i.js': `export const tools = [${tool('E')}]`,
      },
      ['@me/tools'],
      ['E'],
    ],
  ])('%s', async (_what, files, paths, names) => {
    const found = await load(files, paths);
    expect(found.problems).toEqual([]);
    expect(found.names).toEqual(names);
  });

  it('is looked at once', async () => {
    const { source } = await load({ 'tools/a.mjs': `export const tool = ${tool('A')}` });
    expect(await source.tools()).toBe(await source.tools());
  });
});

describe('what cannot be a tool', () => {
  it.each<[string, string, RegExp]>([
    ['does not parse', 'export const tool = {', /could not be loaded/],
    ['fails', "throw new Error('no database')", /could not be loaded: no database/],
    ['exports nothing', 'export const other = 1', /exports no tool/],
    ['is a number', 'export const tool = 5', /expected a tool, got number/],
    ['has no name', "export const tool = { description: 'x', call() {} }", /`name`/],
    ['has a name of MCP', `export const tool = ${tool('mcp__a__b')}`, /MCP/],
    ['has no description', "export const tool = { name: 'A', call() {} }", /`description`/],
    ['has no call', "export const tool = { name: 'A', description: 'x' }", /`call\(input, context\)`/],
    [
      'has a schema of something else',
      `export const tool = ${tool('A', 'inputSchema: {}, call() {}')}`,
      /zod 4/,
    ],
    [
      'takes no object',
      `import * as z from '${ZOD}'; export const tool = ${tool('A', 'inputSchema: z.string(), call() {}')}`,
      /object schema/,
    ],
    [
      'has half a JSON Schema',
      `export const tool = ${tool('A', 'inputJSONSchema: {}, call() {}')}`,
      /type "object"/,
    ],
    [
      'describes itself with a text',
      `export const tool = ${tool('A', "describe: 'x', call() {}")}`,
      /must be a function/,
    ],
  ])('is reported when it %s, and the others load', async (_what, text, reason) => {
    const files = { 'tools/a.mjs': text, 'tools/b.mjs': `export const tool = ${tool('B')}` };
    const { names, problems, path } = await load(files);
    expect(names).toEqual(['B']);
    expect(problems).toEqual([{ name: join(path, 'tools/a.mjs'), reason: expect.stringMatching(reason) }]);
  });

  it.each([
    ['./nothing', /there is nothing at/],
    ['no-such-package', /neither a path below .* nor a package/],
  ])('is reported when the path %s leads nowhere', async (path, reason) => {
    const { problems } = await load({}, [path]);
    expect(problems).toEqual([{ name: path, reason: expect.stringMatching(reason) }]);
  });

  it('is reported when it never finishes loading', async () => {
    const { problems } = await load({ 'tools/a.mjs': 'await new Promise(() => {})' }, ['./tools'], 20);
    expect(problems[0]?.reason).toContain('still loading');
  });
});

describe('what is left out of a tool', () => {
  it('gets the careful answer', async () => {
    const { tools } = await load({ 'tools/a.mjs': `export const tool = ${tool('A')}` });
    const [made] = tools;
    if (made === undefined) throw new Error('no tool');
    expect(await enablementOf(made)).toBe(true);
    expect(made.isReadOnly({})).toBe(false);
    expect(made.isConcurrencySafe({})).toBe(false);
    expect(made.needsPermissions({})).toBe(true);
    expect(made.userFacingName()).toBe('A');
    expect(made.limits?.timeoutMs).toBe(600_000);
  });

  it('may be given as a value or as a function, also one that uses `this`', async () => {
    const rest =
      'on: true, isReadOnly: true, isEnabled() { return this.on }, needsPermissions: () => false, call() {}';
    const { tools } = await load({ 'tools/a.mjs': `export const tool = ${tool('A', rest)}` });
    expect(tools[0]?.isReadOnly({})).toBe(true);
    expect(tools[0]?.isConcurrencySafe({}), 'what only reads runs beside others').toBe(true);
    expect(tools[0]?.needsPermissions({})).toBe(false);
    expect(await enablementOf(tools[0] ?? { isEnabled: false })).toBe(true);
  });
});

describe('what a tool answers', () => {
  it.each([
    ['a text', "call: async () => 'hi'", 'done: hi'],
    ['a text at once', "call: () => 'hi'", 'done: hi'],
    ['nothing', 'call: async () => {}', 'done: Done.'],
    ['an object', 'call: async () => ({ a: 1 })', 'done: {\n  "a": 1\n}'],
    ['blocks', "call: async () => [{ type: 'text', text: 'b' }]", 'done: b'],
    ['a result', "call: async () => ({ resultForAssistant: 'r', isError: true })", 'failed: r'],
    [
      'a generator',
      "async *call() { yield { type: 'progress', content: 'p' }; yield { type: 'result', resultForAssistant: 'g' } }",
      'done: g',
    ],
    [
      'a ToolError by name',
      "call() { throw Object.assign(new Error('try b'), { name: 'ToolError' }) }",
      'failed: try b',
    ],
    ['an ordinary error', "call() { throw new Error('no ink') }", 'failed: no ink'],
    ['a thrown text', "call() { throw 'no paper' }", 'failed: no paper'],
    [
      'an error of effects',
      "effects() { throw new Error('no such printer') }, call: () => 'hi'",
      'invalid: no such printer',
    ],
    ['validateInput that says nothing', "validateInput() {}, call: () => 'hi'", 'done: hi'],
    ['validateInput that says ok', "validateInput: () => ({ ok: true }), call: () => 'hi'", 'done: hi'],
    [
      'validateInput that says result',
      "validateInput: () => ({ result: true }), call: () => 'hi'",
      'done: hi',
    ],
    [
      'a refusal of validateInput',
      "validateInput: async () => ({ result: false, message: 'not now' }), call: () => 'hi'",
      'invalid: not now',
    ],
    [
      'a refusal with ok',
      "validateInput: () => ({ ok: false, message: 'not now' }), call: () => 'hi'",
      'invalid: not now',
    ],
    [
      'a refusal without a reason',
      "validateInput: () => ({ result: false }), call: () => 'hi'",
      'invalid: The tool refused this input without a reason.',
    ],
    ...['false', "'no'", '{}', '{ valid: false }', 'null'].map((form) => [
      `an error where validateInput answers ${form}`,
      `validateInput: () => (${form}), call: () => 'hi'`,
      expect.stringContaining('It has to answer { result: true }'),
    ]),
  ])('is %s', async (_what, rest, expected) => {
    const { tools } = await load({ 'tools/a.mjs': `export const tool = ${tool('A', rest)}` });
    expect(await answer(tools[0])).toEqual(expected);
  });

  it('stands on input that was checked', async () => {
    const zod = `inputSchema: z.object({ n: z.number() }), call: ({ n }) => String(n + 1)`;
    const json =
      "inputJSONSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }, call: ({ n }) => String(n + 1)";
    const { tools } = await load({
      'tools/a.mjs': `import * as z from '${ZOD}'; export const tools = [${tool('Zod', zod)}, ${tool('Json', json)}, ${tool('None')}]`,
    });
    for (const made of tools.slice(0, 2)) {
      expect(await answer(made, { n: '1' })).toBe('done: 2');
      expect(await answer(made, {})).toContain('invalid: ');
    }
    expect(await answer(tools[2], { n: 1 })).toContain('`n` is not a field');
  });
});

describe('the examples', () => {
  it('run', async () => {
    const source = createOwnTools({ paths: [EXAMPLES], baseDir: '/', log: SILENT });
    const tools = await source.tools();
    expect(await source.problems?.()).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(['Countdown', 'LineCount', 'WordCount']);
    expect(await answer(tools[2], { text: 'one  two\nthree' })).toBe('done: 3 words');
    expect(await answer(tools[0], { from: 0 })).toContain('invalid: ');
  });

  it('stand in the documentation as they are', async () => {
    const example = await readFile(join(EXAMPLES, 'word-count.mjs'), 'utf8');
    const page = await readFile(join(EXAMPLES, '../../docs/tools.md'), 'utf8');
    expect(page).toContain(example.trim());
    expect(example.trim().split('\n')).toHaveLength(9);
  });
});
