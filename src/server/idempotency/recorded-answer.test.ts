import { describe, expect, it } from 'vitest';
import { AnswerCollector } from '../../core/answer-collector.js';
import { NO_USAGE } from '../../core/conversation.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import { keepBytes, type Recorded, readRecorded, replay } from './recorded-answer.js';

const FACTS = { upstream: 'u', losses: [], headers: { 'x-session-id': 's' }, created: 7 };

async function piecesOf<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

describe('a recorded answer', () => {
  it('is block for block the same when it is given again', async () => {
    const turn: Extract<Recorded, { kind: 'turn' }>['turn'] = {
      id: 'msg_1',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xx' },
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
        { type: 'tool_use', id: 'c1', name: 'a', input: { z: 1, b: [null] } },
        { type: 'tool_use', id: 'c2', name: 'a', input: {} },
      ],
      stopReason: 'tool_use',
      usage: { ...NO_USAGE, inputTokens: 5, outputTokens: 9, reasoningTokens: 2 },
    };
    const kept = readRecorded(JSON.parse(JSON.stringify({ kind: 'turn', ...FACTS, turn })));
    if (kept === undefined) throw new Error('It was not read');
    const { answer, identity } = replay(kept, openaiChat, true);
    expect(identity).toEqual({ id: 'msg_1', model: 'm', created: 7 });
    expect(answer.headers).toEqual({ 'x-session-id': 's', 'idempotent-replayed': 'true' });
    if (answer.body.kind !== 'events') throw new Error('It is bytes');
    const lifecycle = new StreamLifecycle({ id: 'msg_1', model: 'm' });
    const collector = new AnswerCollector();
    for (const batch of await piecesOf(answer.body.batches)) collector.push(lifecycle.push(batch));
    collector.push(lifecycle.end());
    expect(collector.finish()).toEqual(turn);
    expect(lifecycle.repairs.size).toBe(0);
  });

  it('of bytes is the same bytes, text or not', async () => {
    for (const bytes of [Buffer.from('{"a":"北京"}'), Buffer.from([0x7b, 0xff, 0x7d])]) {
      const kept = keepBytes(bytes, { ...FACTS, id: 'x', status: 200, contentType: 'application/json' });
      const { answer } = replay(JSON.parse(JSON.stringify(kept)), openaiChat, false);
      if (answer.body.kind !== 'bytes') throw new Error('It is events');
      expect(Buffer.concat(await piecesOf(answer.body.chunks))).toEqual(bytes);
    }
  });

  it('that was too large says so, and that asking again needs a new key', () => {
    expect(() => replay({ kind: 'not-kept' }, openaiChat, false)).toThrow(
      expect.objectContaining({ status: 409, detail: 'idempotent_answer_not_kept' }),
    );
  });

  it.each([undefined, 'x', {}, { kind: 'turn' }, { kind: 'bytes', ...FACTS }])(
    'is not read from %j',
    (body) => {
      expect(readRecorded(body)).toBeUndefined();
    },
  );
});
