import { describe, expect, it } from 'vitest';
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { wantedTools } from './deferred-tools.js';

const deferred = (name: string): ToolDefinition => ({
  name,
  extensions: { 'anthropic-messages': { defer_loading: true } },
});

function wanted(fields: Partial<ConversationRequest> = {}) {
  const losses = new LossLog();
  const tools = wantedTools(
    {
      model: 'm',
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
      tools: [{ name: 'Read' }, deferred('Grep'), deferred('Glob')],
      providerTools: [],
      stopSequences: [],
      stream: false,
      extensions: {},
      ...fields,
    },
    losses,
  );
  return { names: tools.map(({ name }) => name), losses: losses.list().map(({ path }) => path) };
}

const SEARCHED = [{ name: 'Read' }, { name: 'ToolSearch' }, deferred('Grep'), deferred('Glob')];

describe('deferred tools', () => {
  it('are not sent before the client has found them', () => {
    expect(wanted({ tools: SEARCHED })).toEqual({ names: ['Read', 'ToolSearch'], losses: [] });
  });

  it('are sent once a result names them', () => {
    const reference = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'tool_reference',
      value: { tool_name: 'Grep' },
    } as const;
    const messages: ConversationRequest['messages'] = [
      {
        role: 'user',
        content: [{ type: 'tool_result', toolUseId: '1', content: [reference], isError: false }],
      },
    ];
    expect(wanted({ messages })).toEqual({ names: ['Read', 'Grep'], losses: [] });
  });

  it('are sent where they were called before, or are chosen', () => {
    const messages: ConversationRequest['messages'] = [
      { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'Glob', input: {} }] },
    ];
    const tools = SEARCHED;
    expect(wanted({ tools, messages }).names).toEqual(['Read', 'ToolSearch', 'Glob']);
    const toolChoice = { type: 'tool', name: 'Grep' } as const;
    expect(wanted({ tools, toolChoice }).names).toEqual(['Read', 'ToolSearch', 'Grep']);
  });

  it('are all sent where the client does not search', () => {
    expect(wanted()).toEqual({ names: ['Read', 'Grep', 'Glob'], losses: ['tools'] });
  });
});
