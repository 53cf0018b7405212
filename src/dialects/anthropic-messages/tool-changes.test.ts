import { describe, expect, it } from 'vitest';
import { withOfferedTools } from '../../core/tool-changes.js';
import { decodeRequest } from './decode-request.js';

const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: 'object' }, ...more });
const added = (of: object) => ({ type: 'tool_addition', tool: of });
const removed = (name: string) => ({ type: 'tool_removal', tool: reference(name) });
const reference = (name: string) => ({ type: 'tool_reference', name });
const defined = (of: object) => ({ type: 'tool_definition', definition: of });
const changes = (...content: object[]) => ({ role: 'system', content });
const said = (content: string) => ({ role: 'user', content });

function offered(tools: object[] | undefined, ...messages: object[]) {
  const body = { model: 'm', max_tokens: 9, ...(tools && { tools }), messages: [said('hi'), ...messages] };
  return withOfferedTools(decodeRequest(body));
}

const names = (...given: Parameters<typeof offered>) => offered(...given).tools.map(({ name }) => name);

describe('tools that change in the middle of a conversation', () => {
  it('are those of the request where no message changes them', () => {
    const request = decodeRequest({ model: 'm', max_tokens: 9, tools: [tool('a')], messages: [said('hi')] });
    expect(withOfferedTools(request)).toBe(request);
  });

  it('are added behind the others, with their definition', () => {
    const added_ = defined(tool('b', { description: 'Second' }));
    const { tools } = offered([tool('a')], changes(added(added_)), said('go on'));
    expect(tools).toMatchObject([{ name: 'a' }, { name: 'b', description: 'Second' }]);
  });

  it('are added where the request declares none', () => {
    expect(names(undefined, changes(added(defined(tool('b')))))).toEqual(['b']);
  });

  it('are kept back until a message adds them', () => {
    const { tools } = offered(
      [tool('late', { defer_loading: true }), tool('a')],
      changes(added(reference('late'))),
    );
    expect(tools.map(({ name, extensions }) => [name, extensions])).toEqual([
      ['a', undefined],
      ['late', undefined],
    ]);
  });

  it('are withdrawn, and come back when they are added again', () => {
    expect(names([tool('a'), tool('b')], changes(removed('a')))).toEqual(['b']);
    expect(names([tool('a'), tool('b')], changes(removed('a')), changes(added(reference('a'))))).toEqual([
      'b',
      'a',
    ]);
  });

  it('stay where they are when what is offered is added', () => {
    expect(names([tool('a'), tool('b')], changes(added(reference('a'))))).toEqual(['a', 'b']);
  });

  it('are the newer ones where a message defines one anew', () => {
    const newer = defined(tool('a', { description: 'New' }));
    expect(offered([tool('a')], changes(added(newer))).tools).toMatchObject([{ description: 'New' }]);
  });

  it('may be of the provider', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    expect(offered([], changes(added(defined(search)))).providerTools).toHaveLength(1);
  });

  it('leave the words of their message, and no message without words', () => {
    const { messages } = offered(
      [tool('a')],
      changes({ type: 'text', text: 'Use b.' }, added(defined(tool('b')))),
      said('go on'),
      changes(removed('a')),
    );
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['system', 1],
      ['user', 1],
    ]);
  });

  it('of an MCP server of the provider stay as they are, to be named where they are lost', () => {
    const toolset = { type: 'mcp_toolset_reference', server_name: 's' };
    const request = offered([tool('a')], changes(added(toolset)), changes(removed('nobody')));
    expect(request.messages[1]?.content).toMatchObject([{ type: 'opaque', kind: 'tool_addition' }]);
    expect(request.tools).toMatchObject([{ name: 'a' }]);
  });

  it('are refused with their place where a definition is wrong', () => {
    expect(() => offered([], changes(added(defined({ name: 7 }))))).toThrow('tools.0.name');
  });
});
