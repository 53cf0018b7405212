import { describe, expect, it } from 'vitest';
import type { ConversationRequest, Message } from '../../../core/conversation.js';
import { inToolCallOrder, lostWishes, shapeRequest } from './request-shape.js';

const request = (more: Partial<ConversationRequest> = {}): ConversationRequest => ({
  model: 'm',
  system: [],
  messages: [],
  tools: [{ name: 'Read' }],
  providerTools: [],
  stopSequences: [],
  stream: true,
  extensions: {},
  ...more,
});

const claude = request({ maxTokens: 32_000, thinking: { type: 'adaptive' }, effort: 'high' });

describe('a model call of Claude Code', () => {
  it('is unchanged where the client sets nothing', () => {
    expect(shapeRequest(claude, { wished: request(), toolChoice: undefined })).toEqual(claude);
  });

  it('carries the settings of the client', () => {
    const wishes = {
      maxTokens: 50,
      stopSequences: ['END'],
      effort: 'low',
      parallelToolCalls: false,
    } as const;
    const wished = request({ ...wishes, stopSequences: ['END'] });
    expect(shapeRequest(claude, { wished, toolChoice: undefined })).toMatchObject(wishes);
  });

  it.each([
    ['a temperature', { wished: request({ temperature: 0.2 }), toolChoice: undefined }],
    ['a call that must be made', { wished: request(), toolChoice: { type: 'any' as const } }],
  ])('has no thinking with %s', (_what, options) => {
    expect(shapeRequest(claude, options).thinking).toEqual({ type: 'disabled' });
  });

  it('has no tool choice without tools', () => {
    const shaped = shapeRequest(
      { ...claude, tools: [] },
      { wished: request(), toolChoice: { type: 'none' } },
    );
    expect(shaped).not.toHaveProperty('toolChoice');
  });

  it('loses settings that only a provider knows, and names them', () => {
    const providerTools = [
      { dialect: 'anthropic-messages' as const, kind: 'web_search_20250305', name: 'w', value: {} },
    ];
    const lost = lostWishes(
      request({ providerTools, extensions: { 'anthropic-messages': { container: 'c' } } }),
    );
    expect(lost.map(({ path }) => path)).toEqual(['tools', 'container']);
  });

  it('has results in the order of the calls', () => {
    const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'x', input: {} });
    const result = (toolUseId: string) => ({
      type: 'tool_result' as const,
      toolUseId,
      content: [],
      isError: false,
    });
    const text = { type: 'text' as const, text: 'and' };
    const messages: Message[] = [
      { role: 'assistant', content: [use('a'), use('b'), use('c')] },
      { role: 'user', content: [result('c'), result('a'), result('b'), text] },
    ];
    expect(inToolCallOrder(messages)[1]?.content).toEqual([result('a'), result('b'), result('c'), text]);
  });
});
