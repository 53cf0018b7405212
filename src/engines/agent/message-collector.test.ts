import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { LIMITS } from './limits.js';
import { type CollectedMessage, MessageCollector } from './message-collector.js';

function collect(events: readonly ModelEvent[], taken: readonly string[] = []): CollectedMessage {
  const collector = new MessageCollector(new Set(taken));
  collector.push(events);
  const message = collector.finish();
  if (message instanceof GatewayError) throw message;
  return message;
}

const STOP: ModelEvent = { type: 'stop', reason: 'tool_use' };

describe('a collected model message', () => {
  it('is put together from pieces that come in any order', () => {
    const message = collect([
      { type: 'start', id: 'msg_1' },
      { type: 'thinking', text: 'a' },
      { type: 'thinking', text: 'b' },
      { type: 'signature', signature: 's' },
      { type: 'thinking', text: 'c' },
      { type: 'text', text: 'one' },
      { type: 'break' },
      { type: 'text', text: 'two' },
      { type: 'tool', key: 0, id: 'x', name: 'Read' },
      { type: 'tool', key: 1, name: 'Grep' },
      { type: 'tool-input', key: 1, json: '{"b"' },
      { type: 'tool-input', key: 0, json: '{"a":1}' },
      { type: 'tool-input', key: 1, json: ':2}' },
      { type: 'tool', key: 1, id: 'y' },
      STOP,
    ]);
    expect(message.id).toBe('msg_1');
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'ab', signature: 's' },
      { type: 'thinking', thinking: 'c' },
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
      { type: 'tool_use', id: 'x', name: 'Read', input: { a: 1 } },
      { type: 'tool_use', id: 'y', name: 'Grep', input: { b: 2 } },
    ]);
  });

  it('gives calls ids of their own where the upstream gave none, or the same again', () => {
    const { calls } = collect(
      [
        { type: 'tool', key: 0, id: 'call_0', name: 'Read' },
        { type: 'tool', key: 1, id: 'call_0', name: 'Read' },
        { type: 'tool', key: 2, name: 'Read' },
        STOP,
      ],
      ['call_0'],
    );
    const ids = calls.map(({ block }) => block.id);
    expect(new Set([...ids, 'call_0']).size).toBe(4);
  });

  it('keeps the provider data that must be sent back with a call', () => {
    const extensions = { 'openai-chat': { extra_content: { google: 1 } } };
    const { calls } = collect([{ type: 'tool', key: 0, id: 'a', name: 'Read', extensions }, STOP]);
    expect(calls[0]?.block.extensions).toEqual(extensions);
  });

  it('shows the client text and thinking, and no calls', () => {
    const collector = new MessageCollector(new Set());
    const passed = collector.push([
      { type: 'text', text: 'a' },
      { type: 'tool', key: 0, id: 'x', name: 'Read' },
      { type: 'tool-input', key: 0, json: '{}' },
      { type: 'usage', usage: { inputTokens: 3 } },
      { type: 'loss', path: 'x', reason: 'y' },
      STOP,
    ]);
    expect(passed.map(({ type }) => type)).toEqual(['text', 'loss']);
    expect(collector.usage).toMatchObject({ inputTokens: 3, outputTokens: 0 });
  });

  it('fails without an end event', () => {
    const collector = new MessageCollector(new Set());
    collector.push([{ type: 'text', text: 'a' }]);
    expect(collector.finish()).toMatchObject({ code: 'upstream_failed', retryable: true });
  });

  it('fails with more calls than the limit', () => {
    const collector = new MessageCollector(new Set());
    collector.push(
      Array.from(
        { length: LIMITS.message.calls + 1 },
        (_, key) => ({ type: 'tool', key, name: 'Read' }) as const,
      ),
    );
    expect(collector.error?.message).toContain('tool calls');
  });
});
