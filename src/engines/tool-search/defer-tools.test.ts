import { describe, expect, it } from 'vitest';
import { manyTools } from '../../../test/support/many-tools.js';
import { estimateToolTokens } from '../../core/estimate-tokens.js';
import { shownTools } from '../../core/tool-references.js';
import { adoptSearch, deferTools, SEARCH_TOOL, searchTools } from './defer-tools.js';

const plain = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `tool_${index}` }));
const search = (input: object) =>
  ({ type: 'tool_use', id: 's', name: SEARCH_TOOL, input: { ...input } }) as const;

describe('tools that are kept back', () => {
  it('are none while there are 40 or fewer', () => {
    expect(deferTools(manyTools(40), { rule: {} })).toBeUndefined();
    expect(deferTools(plain(40), { rule: {} })).toBeUndefined();
  });

  it('are those of servers once there are more, and the others stay', () => {
    const deferral = deferTools([...plain(3), ...manyTools(41)], { rule: {} });
    const shown = shownTools({ tools: [...(deferral?.tools ?? [])], messages: [] });
    expect(shown.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'tool_2', SEARCH_TOOL]);
    expect(deferral?.deferred).toHaveLength(41);
  });

  it('are all but the first ten where more than 40 belong to no server', () => {
    const deferral = deferTools(plain(60), { rule: {} });
    expect(deferral?.deferred[0]?.name).toBe('tool_10');
    expect(deferral?.deferred).toHaveLength(50);
  });

  it('are those of servers once definitions take a tenth of the context', () => {
    const tools = manyTools(30);
    const tokens = estimateToolTokens(tools);
    expect(deferTools(tools, { rule: { contextWindow: tokens * 11 } })).toBeUndefined();
    expect(deferTools(tools, { rule: { contextWindow: tokens * 9 } })?.deferred).toHaveLength(30);
    // Tools of a client's own are its working set: their size alone does not take them away.
    const own = tools.map((tool, index) => ({ ...tool, name: `own_${index}` }));
    expect(deferTools(own, { rule: { contextWindow: tokens * 9 } })).toBeUndefined();
  });

  it('are as the model is configured: never with off, soon with on', () => {
    expect(deferTools(manyTools(500), { rule: { toolSearch: 'off' } })).toBeUndefined();
    expect(deferTools(manyTools(2), { rule: { toolSearch: 'on' } })?.deferred).toHaveLength(2);
    expect(deferTools(plain(5), { rule: { toolSearch: 'on' } })).toBeUndefined();
  });

  it('are none where the client has a search of its own', () => {
    const many = manyTools(300);
    expect(deferTools([{ name: 'ToolSearch' }, ...many], { rule: {} })).toBeUndefined();
    expect(deferTools([{ name: 'tool_search' }, ...many], { rule: {} })).toBeUndefined();
    const providerTools = [
      {
        dialect: 'anthropic-messages',
        kind: 'tool_search_tool_bm25_20251119',
        name: 'tool_search_tool_bm25',
        value: {},
      } as const,
    ];
    expect(deferTools(many, { rule: {}, providerTools })).toBeUndefined();
  });

  it("are not searched in the place of a provider where the client's own tool has the name of the search", () => {
    const dialect = 'anthropic-messages';
    const kind = 'tool_search_tool_bm25_20251119';
    const providerTools = [{ dialect, kind, name: 'tool_search_tool_bm25', value: {} } as const];
    const left = { name: 'far', extensions: { [dialect]: { defer_loading: true } } };
    const adopt = (name: string) => adoptSearch({ tools: [{ name }, left], providerTools }, 'openai-chat');
    expect(adopt('near')?.tools.map(({ name }) => name)).toEqual(['near', SEARCH_TOOL, 'far']);
    expect(adopt(SEARCH_TOOL)).toBeUndefined();
  });

  it('take a hundredth of the prompt that 500 tools take', () => {
    const tools = manyTools(500);
    const after = shownTools({ tools: [...(deferTools(tools, { rule: {} })?.tools ?? [])], messages: [] });
    expect(estimateToolTokens(tools)).toBeGreaterThan(60_000);
    expect(estimateToolTokens(after)).toBeLessThan(600);
  });
});

describe('the search', () => {
  const deferred = deferTools(manyTools(500), { rule: {} })?.deferred ?? [];

  it('names what it found, and no more than was asked for', () => {
    const { content, isError } = searchTools(
      search({ query: 'delete jira comment', max_results: 2 }),
      deferred,
    );
    expect(isError).toBe(false);
    expect(content).toHaveLength(2);
    expect(content[0]).toMatchObject({ value: { tool_name: 'mcp__jira__delete_comment' } });
    expect(searchTools(search({ query: 'get', max_results: 1e9 }), deferred).content).toHaveLength(20);
  });

  it('says what to do where it finds nothing or is asked nothing', () => {
    expect(searchTools(search({ query: 'zzzz' }), deferred)).toMatchObject({
      isError: false,
      content: [{ type: 'text', text: expect.stringContaining('Try other words') }],
    });
    expect(searchTools(search({}), deferred)).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('query is missing') }],
    });
  });
});
