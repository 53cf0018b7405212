import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { RecordingEncoder } from './response-memory.js';

function recording() {
  const finished: AssistantMessage[] = [];
  let dropped = 0;
  const said: string[] = [];
  const encoder = new RecordingEncoder(
    {
      encode: (events) => {
        said.push(...events.map(({ type }) => type));
        return String(events.length);
      },
    },
    {
      finish: async (turn) => void finished.push(turn),
      drop: async () => {
        dropped += 1;
      },
    },
  );
  const lifecycle = new StreamLifecycle({ id: 'resp_1', model: 'm' });
  const push = (...events: ModelEvent[]): string => encoder.encode(lifecycle.push(events));
  const end = (): string => encoder.encode(lifecycle.end());
  return { encoder, finished, said, push, end, dropped: () => dropped };
}

describe('a stream that is recorded', () => {
  it('passes unchanged', () => {
    const { push, said } = recording();
    expect(push({ type: 'text', text: 'Hi' })).toBe('3');
    expect(said).toEqual(['message-start', 'block-start', 'block-delta']);
  });

  it('is stored when it is complete, and once', () => {
    const { encoder, push, end, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    push({ type: 'stop', reason: 'end_turn' });
    expect(finished).toEqual([]);
    end();
    encoder.close();
    expect(finished).toMatchObject([{ id: 'resp_1', content: [{ type: 'text', text: 'Hi' }] }]);
    expect(dropped()).toBe(0);
  });

  it('is not stored when it fails', () => {
    const { encoder, push, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    push({ type: 'error', error: new GatewayError('upstream_failed', 'broke') });
    encoder.close();
    expect(finished).toEqual([]);
    expect(dropped()).toBe(1);
  });

  it('is not stored when its reader leaves', () => {
    const { encoder, push, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    encoder.close();
    expect(finished).toEqual([]);
    expect(dropped()).toBe(1);
  });
});
