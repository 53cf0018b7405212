import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Memo, RunMemo, share } from './shared-values.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

describe('what is made of a shared value', () => {
  it('is kept with it, and not with one that is not shared', () => {
    const memo = new Memo<object, { made: number }>();
    const [shared, own] = [share({}), {}];
    const made = memo.keep(shared, { made: 1 });
    memo.keep(own, { made: 2 });
    expect(memo.get(shared)).toBe(made);
    expect(memo.get(own)).toBeUndefined();
  });

  it('of a run is found by the same run alone', () => {
    const memo = new RunMemo<object, { made: string }>();
    const [a, b, c] = [share({}), share({}), share({})];
    const ab = memo.keep([a, b], { made: 'ab' });
    const abc = memo.keep([a, b, c], { made: 'abc' });
    expect([memo.get([a, b]), memo.get([a, b, c])]).toEqual([ab, abc]);
    for (const run of [[], [a], [b], [b, a], [a, c], [a, b, c, a]]) expect(memo.get(run)).toBeUndefined();
    memo.keep([a, {}], { made: 'no' });
    expect(memo.get([a])).toBeUndefined();
  });

  it('of a run is forgotten with any of its values', async () => {
    const memo = new RunMemo<object, object>();
    const first = share({});
    const made = ((): WeakRef<object> => {
      const second = share({ text: 'x'.repeat(1_000) });
      return new WeakRef(memo.keep([first, second], { second }));
    })();
    // A reference holds its value until the end of the turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(made.deref()).toBeUndefined();
    expect(memo.get([first])).toBeUndefined();
  });

  it('cannot be changed in a test', () => {
    const shared = share({ content: [{ text: 'a' }] });
    expect(() => shared.content.push({ text: 'b' })).toThrow(TypeError);
  });
});
