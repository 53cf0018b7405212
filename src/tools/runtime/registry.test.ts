import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { fakeTool } from '../../../test/support/fake-tools.js';
import { createRegistry, type ToolOrigin, type ToolSource } from './registry.js';
import { type OfferRequest, SILENT } from './runtime.js';
import type { Tool } from './tool.js';

const source = (origin: ToolOrigin, ...tools: Tool[]): ToolSource => ({ source: origin, tools: () => tools });

function registry(...sources: ToolSource[]) {
  const warned: string[] = [];
  const log = {
    ...SILENT,
    warn: (_facts: object, message: string) => void warned.push(message),
    error: (_facts: object, message: string) => void warned.push(message),
  };
  const made = createRegistry({ sources, log, enablementMs: 20 });
  const offered = async (request: Partial<OfferRequest> = {}) =>
    (await made.offer({ selection: 'all', requested: [], ...request })).tools.map(({ name }) => name);
  const offer = (request: OfferRequest) => made.offer(request);
  return { offer, list: () => made.list(), offered, warned };
}

const NOTEBOOK = fakeTool('NotebookEdit', { aliases: ['Jupyter'] });

describe('the tools on offer', () => {
  const all = [
    source('mcp', fakeTool('mcp__docs__search'), fakeTool('mcp__docs__get'), fakeTool('mcp__web__fetch')),
    source('own', fakeTool('Deploy')),
    source('built-in', fakeTool('Read'), fakeTool('Bash'), NOTEBOOK),
  ];
  const MCP = ['mcp__docs__get', 'mcp__docs__search', 'mcp__web__fetch'];

  it.each<[string, Partial<OfferRequest>, string[]]>([
    ['all', { selection: 'all' }, ['Read', 'Bash', 'NotebookEdit', 'Deploy', ...MCP]],
    ['none', { selection: 'none' }, MCP],
    ['a list', { selection: ['Bash', 'Deploy'] }, ['Bash', 'Deploy', ...MCP]],
    ['a list with an alias', { selection: ['Jupyter'] }, ['NotebookEdit', ...MCP]],
    ['a list with an MCP tool', { selection: ['Read', 'mcp__docs__get'] }, ['Read', 'mcp__docs__get']],
    ['a list with an MCP server', { selection: ['mcp__docs'] }, ['mcp__docs__get', 'mcp__docs__search']],
    ['requested', { selection: 'requested', requested: ['Read', 'their_own'] }, ['Read', ...MCP]],
    ['requested by an alias', { selection: 'requested', requested: ['Jupyter'] }, ['NotebookEdit', ...MCP]],
    ['within a parent, by another name', { within: ['Jupyter'] }, ['NotebookEdit']],
    ['within a parent', { within: ['Read', 'mcp__web__fetch', 'Unknown'] }, ['Read', 'mcp__web__fetch']],
  ])('with %s', async (_what, request, names) => {
    expect(await registry(...all).offered(request)).toEqual(names);
  });

  it('is found by name and by alias', async () => {
    const offer = await registry(...all).offer({ selection: 'all', requested: [] });
    expect(offer.find('NotebookEdit')).toBe(NOTEBOOK);
    expect(offer.find('Jupyter')).toBe(NOTEBOOK);
    expect(offer.find('their_own')).toBeUndefined();
  });

  it('says of a tool that is off why it is', async () => {
    const off = fakeTool('WebSearch', {
      isEnabled: () => ({ enabled: false, reason: 'No provider is set.' }),
    });
    const offer = await registry(source('built-in', off, NOTEBOOK)).offer({
      selection: 'all',
      requested: [],
    });
    expect(offer.whyOff?.('WebSearch')).toBe('No provider is set.');
    expect(offer.whyOff?.('NotebookEdit')).toBeUndefined();
    expect(offer.whyOff?.('their_own')).toBeUndefined();
  });

  it('has a schema for the model: of zod without noise, or the given one as it is', async () => {
    const given = { type: 'object', properties: { q: { type: 'string' } }, 'x-own': true };
    const typed = fakeTool('Typed', {
      inputSchema: z.strictObject({ path: z.string().describe('Where.'), limit: z.int().default(5) }),
    });
    const verbatim = fakeTool('Verbatim', { inputSchema: z.strictObject({}), inputJSONSchema: given });
    const { definitions } = await registry(source('built-in', typed, verbatim)).offer({
      selection: 'all',
      requested: [],
    });
    expect(definitions).toEqual([
      {
        name: 'Typed',
        description: 'The tool Typed.',
        inputSchema: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'Where.' },
            limit: { type: 'integer', default: 5 },
          },
          required: ['path'],
          additionalProperties: false,
        },
      },
      { name: 'Verbatim', description: 'The tool Verbatim.', inputSchema: given },
    ]);
    expect(definitions[1]?.inputSchema).toBe(given);
  });

  it('warns once about a name in the list that no tool has', async () => {
    const { offered, warned } = registry(...all);
    await offered({ selection: ['Raed'] });
    await offered({ selection: ['Raed', 'Read'] });
    expect(warned).toEqual(['the configuration offers a tool that does not exist']);
  });
});

describe('whether a tool is on', () => {
  it('is asked at every offer', async () => {
    let on = false;
    const { offered } = registry(source('own', fakeTool('Deploy', { isEnabled: () => on })));
    expect(await offered()).toEqual([]);
    on = true;
    expect(await offered()).toEqual(['Deploy']);
  });

  it.each<[string, NonNullable<Tool['isEnabled']>, RegExp]>([
    ['has a plain no', false, /off/],
    ['has a plain reason', { enabled: false, reason: 'Switched off.' }, /^Switched off\.$/],
    ['says no with a reason', () => ({ enabled: false, reason: 'No ripgrep.' }), /^No ripgrep\.$/],
    ['says no', async () => false, /off/],
    ['fails', () => Promise.reject(new Error('x')), /failed/],
    ['never answers', () => new Promise(() => {}), /in time/],
  ])('is no, with a reason, when it %s', async (_what, isEnabled, reason) => {
    const { offered, list } = registry(source('own', fakeTool('T', { isEnabled })));
    expect(await offered()).toEqual([]);
    expect(await list()).toMatchObject([
      { name: 'T', enabled: false, reason: expect.stringMatching(reason) },
    ]);
  });

  it('is no where it cannot be described', async () => {
    const broken = fakeTool('T', { description: () => Promise.reject(new Error('x')) });
    const { offered, list } = registry(source('own', broken, fakeTool('U')));
    expect(await offered()).toEqual(['U']);
    expect(await list()).toMatchObject([
      { name: 'T', enabled: false },
      { name: 'U', enabled: true },
    ]);
  });
});

describe('a name that two claim', () => {
  it('is the built-in, then the own one, and the list says so of the other', async () => {
    const [builtIn, own, mcp] = ['a', 'b', 'c'].map((title) =>
      fakeTool('Read', { userFacingName: () => title }),
    );
    if (!builtIn || !own || !mcp) throw new Error('tools');
    const { offer, list } = registry(source('mcp', mcp), source('own', own), source('built-in', builtIn));
    expect((await offer({ selection: 'all', requested: [] })).tools).toEqual([builtIn]);
    expect(await list()).toMatchObject([
      { userFacingName: 'a', source: 'built-in', enabled: true },
      { userFacingName: 'b', source: 'own', enabled: false, reason: expect.stringContaining('built-in') },
      { userFacingName: 'c', source: 'mcp', enabled: false },
    ]);
  });

  it('may be another name of a tool', async () => {
    const { offered } = registry(source('own', fakeTool('Jupyter')), source('built-in', NOTEBOOK));
    expect(await offered()).toEqual(['NotebookEdit']);
  });
});

describe('sources of tools', () => {
  it('are asked once, but for MCP, which is asked every time and told the session', async () => {
    const own = vi.fn(() => [fakeTool('Own')]);
    const mcp = vi.fn((session?: string) => [fakeTool(`mcp__s__${session ?? 'none'}`)]);
    const { offered } = registry({ source: 'own', tools: own }, { source: 'mcp', tools: mcp });
    expect(await offered({ session: 'one' })).toEqual(['Own', 'mcp__s__one']);
    expect(await offered({ session: 'two' })).toEqual(['Own', 'mcp__s__two']);
    expect(own).toHaveBeenCalledTimes(1);
  });

  it('that fail cost their own tools, and are asked again', async () => {
    const tools = vi
      .fn<ToolSource['tools']>()
      .mockRejectedValueOnce(new Error('disk'))
      .mockResolvedValue([fakeTool('Own')]);
    const { offered } = registry({ source: 'own', tools }, source('built-in', fakeTool('Read')));
    expect(await offered()).toEqual(['Read']);
    expect(await offered()).toEqual(['Read', 'Own']);
  });

  it('tell of what could not be loaded, in the list', async () => {
    const broken: ToolSource = {
      source: 'own',
      tools: () => [],
      problems: () => [{ name: '/tools/x.mjs', reason: 'It could not be loaded.' }],
    };
    expect(await registry(broken).list()).toEqual([
      {
        name: '/tools/x.mjs',
        userFacingName: '/tools/x.mjs',
        description: '',
        inputSchema: {},
        source: 'own',
        enabled: false,
        reason: 'It could not be loaded.',
      },
    ]);
  });
});

describe('the list', () => {
  it('names the server of an MCP tool', async () => {
    expect(await registry(source('mcp', fakeTool('mcp__my_docs__get__all'))).list()).toMatchObject([
      { name: 'mcp__my_docs__get__all', source: 'mcp', server: 'my_docs' },
    ]);
  });
});
