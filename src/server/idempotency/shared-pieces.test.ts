import { describe, expect, it } from 'vitest';
import { SharedPieces } from './shared-pieces.js';

function sharing(limit = 1_000, failure?: Error) {
  let pulled = 0;
  const source: AsyncIterator<string> = {
    async next() {
      pulled += 1;
      if (pulled <= 4) return { done: false, value: `p${pulled}` };
      if (failure !== undefined) throw failure;
      return { done: true, value: undefined };
    },
  };
  const pieces = new SharedPieces({ source, sizeOf: (piece) => piece.length, limit });
  return { pieces, pulled: () => pulled };
}

async function all(reader: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const piece of reader) read.push(piece);
  return read;
}

describe('a shared source', () => {
  it('gives each reader everything, and is pulled once for all', async () => {
    const { pieces, pulled } = sharing();
    const readers = [pieces.read(() => {}), pieces.read(() => {})];
    const [one, two] = await Promise.all(readers.map(all));
    expect(one).toEqual(['p1', 'p2', 'p3', 'p4']);
    expect(two).toEqual(one);
    expect(pulled()).toBe(5);
  });

  it('gives a late reader everything from the beginning, also after its end', async () => {
    const { pieces } = sharing();
    await all(pieces.read(() => {}));
    expect(await all(pieces.read(() => {}))).toEqual(['p1', 'p2', 'p3', 'p4']);
  });

  it('is not pulled before it is read', async () => {
    const { pieces, pulled } = sharing();
    const reader = pieces.read(() => {});
    expect(pulled()).toBe(0);
    await reader.next();
    expect(pulled()).toBe(1);
  });

  it('gives its failure to each reader, after what came before', async () => {
    const { pieces } = sharing(1_000, new Error('broken'));
    const left: string[] = [];
    for (const name of ['a', 'b']) {
      const reader = pieces.read(() => left.push(name));
      for (const piece of ['p1', 'p2', 'p3', 'p4']) {
        expect(await reader.next()).toEqual({ done: false, value: piece });
      }
      await expect(reader.next()).rejects.toThrow('broken');
    }
    expect(left).toEqual(['a', 'b']);
  });

  it('reports once that a reader has left, and ends it', async () => {
    const { pieces } = sharing();
    let left = 0;
    const reader = pieces.read(() => {
      left += 1;
    });
    await reader.next();
    await reader.return?.();
    await reader.return?.();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(left).toBe(1);
  });

  it('drops what everyone has read beyond its bound, and cannot be joined then', async () => {
    const { pieces } = sharing(4);
    const [ahead, behind] = [pieces.read(() => {}), pieces.read(() => {})];
    expect(pieces.joinable).toBe(true);
    for (const _ of [1, 2, 3]) await ahead.next();
    expect(pieces.joinable).toBe(false);
    expect(await all(behind)).toEqual(['p1', 'p2', 'p3', 'p4']);
    expect(await all(ahead)).toEqual(['p4']);
  });
});
