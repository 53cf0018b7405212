/** The gateway's search for tools, by what an upstream knows of it. */
import { describe, expect, it } from 'vitest';
import type { ConversationRequest, JsonObject, Message } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { toolReference } from '../../core/tool-references.js';
import { STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { encodeRequest } from './encode-request.js';

const KEPT = { name: 'kept', inputSchema: { type: 'object' }, deferred: true as const };
const SEARCH = { name: 'tool_search', inputSchema: { type: 'object' } };

/** As an answer of a Responses upstream leaves it in the history. */
const searched = (found: readonly string[]): Message[] => [
  {
    role: 'assistant',
    content: [
      {
        ...{ type: 'tool_use', id: 's1', name: 'tool_search', input: { query: 'it' } },
        extensions: { 'openai-responses': { $search: true } },
      },
    ],
  },
  {
    role: 'user',
    content: [
      {
        ...{ type: 'tool_result', toolUseId: 's1', isError: false },
        content: found.length === 0 ? [{ type: 'text', text: 'None.' }] : found.map(toolReference),
      },
    ],
  },
];

const said = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });

function encoded(given: Partial<ConversationRequest>, toolSearch = true): JsonObject {
  const asked = { model: 'm', input: 'go' };
  const request = { ...decodeRequest(asked), ...given };
  return encodeRequest(request, {
    model: 'm',
    quirks: { ...STANDARD_QUIRKS, toolSearch },
    losses: new LossLog(),
  }).body;
}

const typesOf = (list: unknown): unknown[] =>
  Array.isArray(list) ? list.map(({ type, name }: JsonObject) => name ?? type) : [];

describe('a search in the history', () => {
  const messages = [said('go'), ...searched(['kept'])];

  it('is one of the wire, and what it found stands in its result alone', () => {
    const { tools, input } = encoded({ tools: [SEARCH, KEPT], messages });
    expect(typesOf(tools)).toEqual(['tool_search']);
    expect(input).toMatchObject([
      { type: 'message' },
      { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'it' } },
      {
        type: 'tool_search_output',
        call_id: 's1',
        execution: 'client',
        tools: [{ type: 'function', name: 'kept', defer_loading: true }],
      },
    ]);
  });

  it('that found nothing, or a tool that is gone, has an empty list', () => {
    for (const found of [[], ['gone']]) {
      const { input } = encoded({ tools: [SEARCH, KEPT], messages: [said('go'), ...searched(found)] });
      expect(input).toMatchObject([{}, {}, { type: 'tool_search_output', tools: [] }]);
    }
  });

  it('is a function for an upstream that does not know it, and the tool is listed', () => {
    const { tools, input } = encoded({ tools: [SEARCH, KEPT], messages }, false);
    expect(typesOf(tools)).toEqual(['tool_search', 'kept']);
    expect(input).toMatchObject([{}, { type: 'function_call', name: 'tool_search' }, { call_id: 's1' }]);
    expect(JSON.stringify({ tools, input })).not.toMatch(/defer_loading|tool_search_(?:call|output)/);
  });

  it('is a function where no tool is kept back any more', () => {
    const { deferred: _deferred, ...shown } = KEPT;
    const { input } = encoded({ tools: [shown], messages });
    expect(input).toMatchObject([{}, { type: 'function_call' }, { type: 'function_call_output' }]);
  });

  it('of the client stays as it came', () => {
    const items = [
      { type: 'message', role: 'user', content: 'go' },
      { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'it' } },
      { type: 'tool_search_output', call_id: 's1', execution: 'client', tools: [] },
    ];
    const tools = [{ type: 'tool_search', execution: 'client', description: 'Mine.' }];
    const request = decodeRequest({ model: 'm', input: items, tools });
    const { input, tools: sent } = encoded(request);
    expect(input).toMatchObject([{}, items[1], items[2]]);
    expect(sent).toEqual(tools);
  });

  it('before a compaction is not sent, so a tool that was called is listed', () => {
    const compaction: Message = {
      role: 'assistant',
      content: [
        {
          ...{ type: 'opaque', dialect: 'anthropic-messages', kind: 'compaction' },
          value: { type: 'compaction', content: 'What was.' },
        },
      ],
    };
    const called: Message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'k1', name: 'kept', input: {} }],
    };
    const { tools } = encoded({
      tools: [SEARCH, KEPT],
      messages: [...messages, called, compaction, said('on')],
    });
    expect(typesOf(tools)).toEqual(['tool_search', 'kept']);
  });
});
