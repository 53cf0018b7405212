import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../../core/events.js';
import { SharedTurn, type TurnReader } from './shared-turn.js';

const text = (said: string): ModelEvent[] => [{ type: 'text', text: said }];
const here = (): AbortSignal => new AbortController().signal;

/** A source that gives out what the test feeds it. */
function feed(signal: AbortSignal) {
  const waiting: (readonly ModelEvent[])[] = [];
  let pulls = 0;
  let over = false;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  async function* source(): AsyncGenerator<readonly ModelEvent[], void, void> {
    for (;;) {
      pulls += 1;
      while (waiting.length === 0 && !over && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const next = waiting.shift();
      if (next === undefined) return;
      yield next;
    }
  }
  return {
    source: source(),
    say(...said: string[]) {
      waiting.push(...said.map(text));
      wake();
    },
    end() {
      over = true;
      wake();
    },
    pulls: () => pulls,
  };
}

function setUp(pingMs = 60_000) {
  const ends: string[] = [];
  const turn = new SharedTurn({ pingMs, onEnd: async () => void ends.push('end') });
  return { turn, ends };
}

function joined(turn: SharedTurn, signal = here()): TurnReader {
  const reader = turn.join({ signal });
  if (reader === undefined) throw new Error('It cannot be joined');
  return reader;
}

async function all(reader: TurnReader): Promise<string> {
  let said = '';
  for await (const batch of reader) {
    for (const event of batch) if (event.type === 'text') said += event.text;
  }
  return said;
}

describe('a turn with several readers', () => {
  it('is given to each reader from the beginning, and pulled once', async () => {
    const { turn, ends } = setUp();
    const { source, say, end, pulls } = feed(turn.signal);
    turn.start(source);
    const first = joined(turn);
    say('a', 'b');
    expect((await first.next()).value).toEqual(text('a'));
    const second = joined(turn);
    const heard = all(second);
    say('c');
    end();
    expect(await heard).toBe('abc');
    expect(await all(first)).toBe('bc');
    expect(pulls()).toBe(4);
    expect(ends).toEqual(['end']);
  });

  it('does nothing until the first read', async () => {
    const { turn } = setUp();
    const { source, pulls } = feed(turn.signal);
    turn.start(source);
    joined(turn);
    await new Promise(setImmediate);
    expect(pulls()).toBe(0);
  });

  it('continues when one reader leaves, and stops with the last, in the middle of a read', async () => {
    const { turn, ends } = setUp();
    const { source, say } = feed(turn.signal);
    turn.start(source);
    const [one, two] = [joined(turn), joined(turn)];
    say('a');
    await one.next();
    const pending = one.next();
    await one.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(turn.closing).toBe(false);
    expect((await two.next()).value).toEqual(text('a'));
    const waiting = two.next();
    await two.return();
    expect((await waiting).done).toBe(true);
    expect(turn.closing).toBe(true);
    expect(ends).toEqual(['end']);
    await turn.ended;
    expect(turn.join({ signal: here() })).toBeUndefined();
  });

  it('loses the reader whose connection breaks', async () => {
    const { turn, ends } = setUp();
    const { source } = feed(turn.signal);
    const [gone, also] = [new AbortController(), new AbortController()];
    const one = joined(turn, gone.signal);
    joined(turn, also.signal);
    turn.start(source);
    const heard = all(one);
    gone.abort();
    expect(await heard).toBe('');
    expect(turn.closing).toBe(false);
    also.abort();
    await turn.ended;
    expect(ends).toEqual(['end']);
  });

  it('ends as soon as it starts where every reader left before', async () => {
    const { turn, ends } = setUp();
    const gone = new AbortController();
    joined(turn, gone.signal);
    gone.abort();
    expect(turn.closing).toBe(true);
    expect(ends).toEqual([]);
    turn.start(feed(turn.signal).source);
    await turn.ended;
    expect(ends).toEqual(['end']);
  });

  it('sends pings to each reader', async () => {
    const { turn } = setUp(1);
    turn.start(feed(turn.signal).source);
    const [one, two] = [joined(turn), joined(turn)];
    for (const reader of [one, two]) {
      expect((await reader.next()).value).toEqual([{ type: 'ping' }]);
      await reader.return();
    }
  });

  it('gives its error to each reader, after what was said', async () => {
    const { turn, ends } = setUp();
    async function* broken(): AsyncGenerator<readonly ModelEvent[], void, void> {
      yield text('a');
      throw new Error('broken');
    }
    turn.start(broken());
    for (const reader of [joined(turn), joined(turn)]) {
      expect((await reader.next()).value).toEqual(text('a'));
      await expect(reader.next()).rejects.toThrow('broken');
    }
    expect(ends).toEqual(['end']);
  });

  it('notifies every observer, also after one that throws', () => {
    const { turn } = setUp();
    const seen: string[] = [];
    turn.join({
      signal: here(),
      observe: () => {
        throw new Error('observer');
      },
    });
    turn.join({ signal: here(), observe: ({ type }) => seen.push(type) });
    expect(() => turn.observe({ session: 's', type: 'max-steps', steps: 1 })).toThrow('observer');
    expect(seen).toEqual(['max-steps']);
  });
});
