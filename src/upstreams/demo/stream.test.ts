import { describe, expect, it } from 'vitest';
import { request, said, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import { estimateRequestTokens } from '../../core/estimate-tokens.js';
import { runDemo } from './index.js';

const QUESTION = 'Who wrote Hamlet?';
const CALL = request('weather in Paris', { tools: [TOOLS.weather] });

describe('the order of events of the demo model', () => {
  it('text: one start, a batch for each word, usage, one stop', async () => {
    const batches = [];
    const asked = request(QUESTION);
    for await (const batch of runDemo(asked, new AbortController().signal)) batches.push(batch);
    expect(batches[0]).toMatchObject([
      { type: 'start', usage: { inputTokens: estimateRequestTokens(asked) } },
    ]);
    expect(batches.at(-1)).toMatchObject([{ type: 'usage' }, { type: 'stop', reason: 'end_turn' }]);
    const words = batches.slice(1, -1);
    expect(words.every((batch) => batch.length === 1 && batch[0]?.type === 'text')).toBe(true);
    expect(words).toHaveLength((await turn(asked)).text.split(/\s+/).length);
  });

  it('a call: opened with its id and name, its JSON in pieces, closed', async () => {
    const { events } = await turn(CALL);
    const pieces = events.filter(({ type }) => type === 'tool-input').map(({ type }) => type);
    expect(pieces.length).toBeGreaterThan(1);
    expect(events.map(({ type }) => type)).toEqual(['start', 'tool', ...pieces, 'tool-end', 'usage', 'stop']);
    expect(events[1]).toMatchObject({
      name: 'get_weather',
      id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
    });
  });

  it('Chinese comes by the character', async () => {
    const { events, text } = await turn(request('谁写了《红楼梦》？'));
    expect(events.length).toBeGreaterThan([...text].length / 3);
  });
});

describe('limits of the demo model', () => {
  it('stops at max_tokens by its own count', async () => {
    const whole = await turn(request(QUESTION));
    for (const maxTokens of [1, 2, 7, 30]) {
      const cut = await turn(request(QUESTION, { maxTokens }));
      expect(cut.stop).toEqual({ type: 'stop', reason: 'max_tokens' });
      expect(cut.outputTokens).toBeLessThanOrEqual(maxTokens);
      expect(cut.text.length).toBeGreaterThan(0);
      expect(whole.text.startsWith(cut.text)).toBe(true);
    }
    const enough = await turn(request(QUESTION, { maxTokens: whole.outputTokens }));
    expect(enough.text).toBe(whole.text);
    expect(enough.stop?.reason).toBe('end_turn');
  });

  it('makes no half call: what does not fit is not begun', async () => {
    const both = request('weather in Paris and in Rome', { tools: [TOOLS.weather] });
    const { outputTokens } = await turn(both);
    const cut = await turn({ ...both, maxTokens: outputTokens - 1 });
    expect(cut.calls).toHaveLength(1);
    expect(cut.stop?.reason).toBe('max_tokens');
    expect((await turn({ ...both, maxTokens: 3 })).calls).toEqual([]);
  });

  it('ends before the first stop sequence, and says which', async () => {
    const stopSequences = ['', 'fixed rules', 'gateway', 'not in it'];
    const { text, stop } = await turn(request(QUESTION, { stopSequences }));
    expect(stop).toEqual({ type: 'stop', reason: 'stop_sequence', stopSequence: 'gateway' });
    expect(text).toBe('No model is connected: this is the demo model built into the ');
  });

  it('a stop sequence behind the token limit does not count', async () => {
    const { stop } = await turn(request(QUESTION, { stopSequences: ['Ollama'], maxTokens: 5 }));
    expect(stop?.reason).toBe('max_tokens');
  });
});

describe('the stream of the demo model', () => {
  it('ends at once when it is aborted, without a stop', async () => {
    expect((await turn(request(QUESTION), AbortSignal.abort())).events).toEqual([]);
    for (const [asked, last] of [
      [request(QUESTION), 'text'],
      [CALL, 'tool'],
    ] as const) {
      const controller = new AbortController();
      const types: string[] = [];
      for await (const batch of runDemo(asked, controller.signal)) {
        types.push(...batch.map(({ type }) => type));
        if (types.includes(last)) controller.abort();
      }
      expect(types).toEqual(['start', last]);
    }
  });

  it('lets the event loop turn between two words', async () => {
    let turns = 0;
    let isRunning = true;
    const count = (): void => {
      turns += 1;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const { events } = await turn(request(QUESTION));
    isRunning = false;
    expect(turns).toBeGreaterThan(events.length / 2);
  });
});

describe('ids of the demo model', () => {
  it('are the same for the same conversation, and differ within it and after it', async () => {
    const asked = request('weather in Paris and in Rome', { tools: [TOOLS.weather] });
    const ids = (await turn(asked)).calls.map(({ id }) => id);
    expect((await turn(asked)).calls.map(({ id }) => id)).toEqual(ids);
    const messages = [...asked.messages, said('Wait.'), user('weather in Paris and in Rome')];
    const later = (await turn({ ...asked, messages })).calls.map(({ id }) => id);
    expect(new Set([...ids, ...later]).size).toBe(4);
  });
});
