import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BuiltInOptions, createBuiltIns } from './built-ins.js';
import { inputSchemaOf } from './runtime/parse-input.js';
import type { Tool } from './runtime/tool.js';

const ALL_OFF: BuiltInOptions = {
  memory: false,
  architect: false,
  sticker: false,
  web_search: { provider: 'none' },
  web_fetch: { allow_private: [] },
};

const toolsWith = async (options: Partial<BuiltInOptions> = {}): Promise<readonly Tool[]> =>
  createBuiltIns({ ...ALL_OFF, ...options }).tools();

const tools = await toolsWith();
const PAGE = readFileSync(new URL('../../docs/tools.md', import.meta.url), 'utf8');

describe('the built-ins', () => {
  it('are these, in this order', () => {
    expect(tools.map(({ name }) => name)).toEqual([
      'Read',
      'Write',
      'Edit',
      'MultiEdit',
      'Glob',
      'Grep',
      'LS',
      'NotebookRead',
      'NotebookEdit',
      'Bash',
      'BashOutput',
      'KillShell',
      'WebFetch',
      'WebSearch',
      'Task',
      'TodoRead',
      'TodoWrite',
      'AskUserQuestion',
      'ExitPlanMode',
      'Think',
      'MemoryRead',
      'MemoryWrite',
      'Architect',
      'StickerRequest',
    ]);
  });

  it('have no name twice, also names that mean another', () => {
    const names = tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['Agent', 'Jupyter']));
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s says what it is to models and people',
    async (_name, tool) => {
      const schema = inputSchemaOf(tool);
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
      // Providers refuse these at the top of a schema, and `$schema` is noise.
      for (const key of ['anyOf', 'oneOf', 'allOf', '$schema']) expect(schema).not.toHaveProperty(key);
      for (const field of Object.values(Object(schema['properties'])))
        expect(field).toHaveProperty('description');
      expect(tool.description).toMatch(/\w/);
      expect(tool.userFacingName()).toMatch(/\w/);
      expect(tool.inputSchema).toBeDefined();
    },
  );

  it.each([
    ['MemoryRead', { memory: true }, 'tools.memory'],
    ['MemoryWrite', { memory: true }, 'tools.memory'],
    ['Architect', { architect: true }, 'tools.architect'],
    ['StickerRequest', { sticker: true }, 'tools.sticker'],
    [
      'WebSearch',
      { web_search: { provider: 'searxng', base_url: 'http://127.0.0.1:1' } },
      'tools.web_search',
    ],
  ] satisfies [string, Partial<BuiltInOptions>, string][])(
    '%s has its switch, and says which',
    async (name, on, key) => {
      const stateWith = async (options: Partial<BuiltInOptions>) =>
        (await toolsWith(options)).find((tool) => tool.name === name)?.isEnabled;
      expect(await stateWith({})).toMatchObject({ enabled: false, reason: expect.stringContaining(key) });
      expect(await stateWith(on)).toBe(true);
    },
  );

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s stands in the documentation with its fields',
    (name, tool) => {
      const row = PAGE.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
      const input = row.split('|').at(-2) ?? '';
      const schema = inputSchemaOf(tool);
      const fields = Object.keys(Object(schema['properties']));
      expect([...input.matchAll(/`([^`]+)`/g)].map(([, field]) => field)).toEqual(fields);
      expect([...input.matchAll(/\*\*`([^`]+)`\*\*/g)].map(([, field]) => field)).toEqual(
        schema['required'] ?? [],
      );
      for (const alias of tool.aliases ?? []) expect(row).toContain(`\`${alias}\``);
    },
  );
});
