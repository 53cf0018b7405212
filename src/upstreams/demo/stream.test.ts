import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { called, NOW, request, result, TOOLS, turn, user } from '../../../test/support/demo-requests.js';
import { estimateRequestTokens } from '../../core/estimate-tokens.js';
import { runDemo } from './index.js';
import { piecesOf, spacedJson } from './stream.js';

const QUESTION = 'Who wrote Hamlet?';
const never = new AbortController().signal;

describe('the order of events', () => {
  it('text: one start, a batch for each word, usage, one stop', async () => {
    const { batches, events, text } = await turn(request(QUESTION));
    expect(events[0]).toMatchObject({ type: 'start' });
    expect(events.at(-2)).toMatchObject({ type: 'usage' });
    expect(events.at(-1)).toEqual({ type: 'stop', reason: 'end_turn' });
    const words = batches.slice(1, -1);
    expect(words.every((batch) => batch.length === 1 && batch[0]?.type === 'text')).toBe(true);
    expect(words.length).toBe(text.split(/\s+/).length);
  });

  it('a call: opened with its id and name, its JSON in pieces, closed', async () => {
    const { events } = await turn(request('weather in Paris', { tools: [TOOLS.weather] }));
    expect(events.map(({ type }) => type)).toEqual([
      'start',
      'tool',
      'tool-input',
      'tool-input',
      'tool-input',
      'tool-end',
      'usage',
      'stop',
    ]);
    expect(events[1]).toMatchObject({
      name: 'get_weather',
      id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
    });
  });

  it('Chinese comes by the character', async () => {
    const { batches, text } = await turn(request('谁写了《红楼梦》？'));
    expect(batches.length).toBeGreaterThan([...text].length / 3);
  });
});

describe('limits', () => {
  it('stops at max_tokens by its own count', async () => {
    const whole = await turn(request(QUESTION));
    for (const maxTokens of [1, 2, 7, 30]) {
      const cut = await turn(request(QUESTION, { maxTokens }));
      expect(cut.stop).toEqual({ type: 'stop', reason: 'max_tokens' });
      expect(cut.outputTokens).toBeLessThanOrEqual(maxTokens);
      expect(cut.outputTokens).toBeGreaterThan(maxTokens - 2);
      expect(cut.text.length).toBeGreaterThan(0);
      expect(whole.text.startsWith(cut.text)).toBe(true);
    }
    const enough = await turn(request(QUESTION, { maxTokens: whole.outputTokens }));
    expect(enough.stop?.reason).toBe('end_turn');
    expect(enough.text).toBe(whole.text);
  });

  it('makes no half call: what does not fit is not begun', async () => {
    const asked = { tools: [TOOLS.weather] };
    const cut = await turn(request('weather in Paris and in Rome', { ...asked, maxTokens: 25 }));
    expect(cut.calls).toHaveLength(1);
    expect(cut.stop?.reason).toBe('max_tokens');
    const none = await turn(request('weather in Paris', { ...asked, maxTokens: 3 }));
    expect(none.calls).toEqual([]);
    expect(none.stop?.reason).toBe('max_tokens');
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

  it('counts input as the estimate does, and output', async () => {
    const asked = request(QUESTION);
    const { inputTokens, outputTokens, text } = await turn(asked);
    expect(inputTokens).toBe(estimateRequestTokens(asked));
    expect(outputTokens).toBeGreaterThan(text.length / 8);
    expect(outputTokens).toBeLessThan(text.length / 2);
    expect((await turn(request('weather in Rome', { tools: [TOOLS.weather] }))).outputTokens).toBeGreaterThan(
      5,
    );
  });
});

describe('thinking', () => {
  it.each([{ type: 'enabled', budgetTokens: 1024 }, { type: 'adaptive' }] as const)(
    '$type: a short and honest block before the rest',
    async (thinking) => {
      const asked = request('weather in Rome', { tools: [TOOLS.weather], thinking });
      const { events, calls } = await turn(asked);
      const said = await turn(asked);
      expect(said.thinking).toBe('By fixed rules: the words of the request match get_weather.');
      expect(calls).toHaveLength(1);
      expect(events.findIndex(({ type }) => type === 'thinking')).toBe(1);
      expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({
        usage: { reasoningTokens: expect.any(Number) },
      });
    },
  );

  it('in the language of the user, and of what it does', async () => {
    const thinking = { type: 'adaptive' } as const;
    const history = [
      user('计算 1 + 1'),
      called(['c', 'calculate', { expression: '1 + 1' }]),
      user(result('c', '2')),
    ];
    expect((await turn(request(history, { thinking }))).thinking).toContain('已有 1 个工具结果');
    expect((await turn(request(QUESTION, { thinking }))).thinking).toContain('no offered tool matches');
  });

  it.each([undefined, { type: 'disabled' } as const])('none when it is %j', async (thinking) => {
    const asked = request(QUESTION, thinking === undefined ? {} : { thinking });
    expect((await turn(asked)).thinking).toBe('');
  });

  it('counts towards the limit', async () => {
    const { stop, text, thinking } = await turn(
      request(QUESTION, { thinking: { type: 'adaptive' }, maxTokens: 4 }),
    );
    expect(stop?.reason).toBe('max_tokens');
    expect(thinking).not.toBe('');
    expect(text).toBe('');
  });
});

describe('life of the stream', () => {
  it('ends at once when it is aborted, without a stop', async () => {
    const controller = new AbortController();
    const types: string[] = [];
    for await (const batch of runDemo(request(QUESTION), controller.signal, { now: NOW })) {
      types.push(...batch.map(({ type }) => type));
      if (types.length === 5) controller.abort();
    }
    expect(types).toHaveLength(5);
    expect(types).not.toContain('stop');
  });

  it('says nothing when it was aborted before', async () => {
    expect((await turn(request(QUESTION), AbortSignal.abort())).events).toEqual([]);
  });

  it('ends in the middle of a call when it is aborted', async () => {
    const controller = new AbortController();
    const types: string[] = [];
    const asked = request('weather in Paris', { tools: [TOOLS.weather] });
    for await (const batch of runDemo(asked, controller.signal, { now: NOW })) {
      types.push(...batch.map(({ type }) => type));
      if (types.includes('tool')) controller.abort();
    }
    expect(types).toEqual(['start', 'tool']);
  });

  it('ends in the middle of its thinking when it is aborted', async () => {
    const controller = new AbortController();
    const types: string[] = [];
    const asked = request(QUESTION, { thinking: { type: 'adaptive' } });
    for await (const batch of runDemo(asked, controller.signal, { now: NOW })) {
      types.push(...batch.map(({ type }) => type));
      if (types.includes('thinking')) controller.abort();
    }
    expect(types).toEqual(['start', 'thinking']);
  });

  it('lets the event loop turn between two words', async () => {
    let turns = 0;
    let isRunning = true;
    const count = (): void => {
      turns += 1;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const { batches } = await turn(request(QUESTION));
    isRunning = false;
    expect(turns).toBeGreaterThan(batches.length / 2);
  });

  it('goes no further than its reader', async () => {
    const stream = runDemo(request(QUESTION), never, { now: NOW });
    const first = await stream.next();
    for (let tick = 0; tick < 50; tick++) await nextTick();
    const second = await stream.next();
    expect(first.value).toMatchObject([{ type: 'start' }]);
    expect(second.value).toMatchObject([{ type: 'text', text: 'No ' }]);
    await stream.return(undefined);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});

describe('pieces', () => {
  it.each([
    '',
    'one',
    'two words',
    ' leading and trailing ',
    'a\n\nb',
    '中文和 English 混排。',
    '😀 emoji 😀😀',
  ])('together are the text: %j', (value) => {
    expect(piecesOf(value).join('')).toBe(value);
  });

  it('writes JSON with a blank behind colons and commas', () => {
    expect(spacedJson({ a: 1, b: [true, null, 'x, y: z'], c: {}, d: undefined })).toBe(
      '{"a": 1, "b": [true, null, "x, y: z"], "c": {}}',
    );
  });
});
