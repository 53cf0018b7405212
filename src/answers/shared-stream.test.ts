import { describe, expect, it } from 'vitest';
import { SharedStream, type SharedStreamOptions, type StreamReader } from './shared-stream.js';

interface Piece {
  text: string;
}

const piece = (text: string): Piece => ({ text });
const given = (text: string) => ({ done: false, value: piece(text) });
const DONE = { done: true, value: undefined };
const here = (): AbortSignal => new AbortController().signal;

/** A source that gives out what the test feeds it. */
function feed(signal: AbortSignal) {
  const waiting: Piece[] = [];
  let pulls = 0;
  let over = false;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  async function* source(): AsyncGenerator<Piece, void, void> {
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
      waiting.push(...said.map(piece));
      wake();
    },
    end() {
      over = true;
      wake();
    },
    pulls: () => pulls,
  };
}

function setUp(options: Partial<SharedStreamOptions<Piece>> = {}) {
  const ends: boolean[] = [];
  const onEnd = async (whole: boolean) => void ends.push(whole);
  const stream = new SharedStream<Piece>({ onEnd, ...options });
  return { stream, ends, ...feed(stream.signal) };
}

function joined(stream: SharedStream<Piece>, signal = here()): StreamReader<Piece> {
  const reader = stream.join({ signal });
  if (reader === undefined) throw new Error('It cannot be joined');
  return reader;
}

async function all(reader: StreamReader<Piece>): Promise<string> {
  let said = '';
  for await (const { text } of reader) said += text;
  return said;
}

describe('a shared stream', () => {
  it('gives each reader everything from the beginning, and pulls its source once', async () => {
    const { stream, ends, source, say, end, pulls } = setUp();
    stream.start(source);
    const first = joined(stream);
    say('a', 'b');
    expect(await first.next()).toEqual(given('a'));
    const second = joined(stream);
    const heard = all(second);
    say('c');
    end();
    expect(await heard).toBe('abc');
    expect(await all(first)).toBe('bc');
    expect(pulls()).toBe(4);
    expect(ends).toEqual([true]);
  });

  it('pulls nothing before the first read, and no faster than the fastest reader', async () => {
    const { stream, source, say, pulls } = setUp();
    stream.start(source);
    const [fast] = [joined(stream), joined(stream)];
    say('a', 'b', 'c');
    await new Promise(setImmediate);
    expect(pulls()).toBe(0);
    await fast.next();
    await new Promise(setImmediate);
    expect(pulls()).toBe(1);
  });

  it('can be joined before it starts', async () => {
    const { stream, source, say, end } = setUp();
    const heard = Promise.all([joined(stream), joined(stream)].map(all));
    stream.start(source);
    say('a');
    end();
    expect(await heard).toEqual(['a', 'a']);
  });

  it('cannot be joined once it is over', async () => {
    const { stream, source, end } = setUp();
    stream.start(source);
    end();
    await all(joined(stream));
    expect(stream.join({ signal: here() })).toBeUndefined();
  });

  it('ends for no reader before onEnd has resolved', async () => {
    let deal = () => {};
    const dealt = new Promise<void>((resolve) => {
      deal = resolve;
    });
    const { stream, source, end } = setUp({ onEnd: () => dealt });
    stream.start(source);
    const [one, two] = [joined(stream), joined(stream)];
    end();
    const heard: string[] = [];
    const first = all(one).then(() => heard.push('one'));
    await new Promise(setImmediate);
    const second = all(two).then(() => heard.push('two'));
    await new Promise(setImmediate);
    expect(heard).toEqual([]);
    deal();
    await Promise.all([first, second]);
    expect(heard).toHaveLength(2);
  });

  it('gives its error to each reader, after the pieces before it', async () => {
    const { stream, ends } = setUp();
    async function* broken(): AsyncGenerator<Piece, void, void> {
      yield piece('a');
      throw new Error('broken');
    }
    stream.start(broken());
    for (const reader of [joined(stream), joined(stream)]) {
      expect(await reader.next()).toEqual(given('a'));
      await expect(reader.next()).rejects.toThrow('broken');
      expect(await reader.next()).toEqual(DONE);
    }
    expect(stream.participants).toEqual([]);
    expect(ends).toEqual([false]);
  });

  it('ends for its readers where no source will come', async () => {
    const { stream, ends } = setUp();
    const heard = all(joined(stream));
    await stream.fail();
    expect(await heard).toBe('');
    expect(ends).toEqual([false]);
  });

  it('sends pings to each reader', async () => {
    const { stream, source } = setUp({ ping: { afterMs: 1, piece: piece('ping') } });
    stream.start(source);
    for (const reader of [joined(stream), joined(stream)]) {
      expect(await reader.next()).toEqual(given('ping'));
      await reader.return();
    }
  });
});

describe('a shared stream whose readers leave', () => {
  it('continues when one reader leaves, and stops with the last, in the middle of a read', async () => {
    const { stream, ends, source, say } = setUp();
    stream.start(source);
    const [one, two] = [joined(stream), joined(stream)];
    say('a');
    await one.next();
    const pending = one.next();
    await one.return();
    expect(await pending).toEqual(DONE);
    expect(stream.closing).toBe(false);
    expect(await two.next()).toEqual(given('a'));
    const waiting = two.next();
    await two.return();
    expect(await waiting).toEqual(DONE);
    expect(stream.closing).toBe(true);
    expect(ends).toEqual([false]);
    await stream.ended;
    expect(stream.join({ signal: here() })).toBeUndefined();
  });

  it('loses a reader once that is returned twice', async () => {
    const { stream, source, say } = setUp();
    stream.start(source);
    const [one] = [joined(stream), joined(stream)];
    say('a');
    await one.next();
    await one.return();
    await one.return();
    expect(await one.next()).toEqual(DONE);
    expect(stream.participants).toHaveLength(1);
  });

  it('loses the reader whose connection breaks, and stops for the reason of the last', async () => {
    const { stream, ends, source } = setUp();
    const [gone, also] = [new AbortController(), new AbortController()];
    const one = joined(stream, gone.signal);
    joined(stream, also.signal);
    stream.start(source);
    const heard = all(one);
    gone.abort();
    expect(await heard).toBe('');
    expect(stream.closing).toBe(false);
    also.abort('the last');
    await stream.ended;
    expect(stream.signal.reason).toBe('the last');
    expect(ends).toEqual([false]);
  });

  it('ends as soon as it starts where every reader left before', async () => {
    const { stream, ends, source } = setUp();
    const gone = new AbortController();
    joined(stream, gone.signal);
    gone.abort();
    expect(stream.closing).toBe(true);
    expect(ends).toEqual([]);
    stream.start(source);
    await stream.ended;
    expect(ends).toEqual([false]);
  });

  it('does not wait for a read that its source can cancel', async () => {
    const { stream, ends } = setUp();
    let told = 0;
    stream.start({
      next: () => new Promise(() => {}),
      return: async () => {
        told += 1;
        return { done: true, value: undefined };
      },
    });
    const reader = joined(stream);
    const pending = reader.next();
    await reader.return();
    expect(await pending).toEqual(DONE);
    expect(told).toBe(1);
    expect(ends).toEqual([false]);
  });

  it('stops for all of its readers', async () => {
    const { stream, ends, source } = setUp();
    stream.start(source);
    const heard = Promise.all([joined(stream), joined(stream)].map(all));
    await stream.stop();
    expect(await heard).toEqual(['', '']);
    expect(ends).toEqual([false]);
  });
});

describe('a bounded stream', () => {
  it('cannot be joined beyond its limit, and still gives its readers everything', async () => {
    const { stream, source, say, end } = setUp({ bound: { limit: 4, sizeOf: ({ text }) => text.length } });
    stream.start(source);
    const [ahead, behind] = [joined(stream), joined(stream)];
    say('p1', 'p2', 'p3', 'p4');
    end();
    for (const _ of [1, 2]) await ahead.next();
    await joined(stream).return();
    await ahead.next();
    expect(stream.join({ signal: here() })).toBeUndefined();
    expect(await all(behind)).toBe('p1p2p3p4');
    expect(await all(ahead)).toBe('p4');
  });
});
