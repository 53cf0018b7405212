import { describe, expect, it } from 'vitest';
import { deferred } from '../core/deferred.js';
import { GatewayError } from '../core/errors.js';
import { isStoreAway, WriteBuffer, type WriteBufferOptions } from './write-buffer.js';

const HOUR = 3_600_000;

function setUp(options: Partial<WriteBufferOptions<number>> = {}) {
  const written: number[][] = [];
  const errors: unknown[] = [];
  const buffer = new WriteBuffer<number>({
    write: async (rows) => {
      written.push(rows);
    },
    delayMs: HOUR,
    flushRows: 100,
    maxRows: 1000,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { buffer, written, errors };
}

describe('WriteBuffer', () => {
  it('writes nothing before it is time', async () => {
    const { buffer, written } = setUp();
    void buffer.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toEqual([]);
    await buffer.flush();
    expect(written).toEqual([[1]]);
  });

  it('does not wait for the clock when there is enough', async () => {
    const { buffer, written } = setUp({ flushRows: 3 });
    const adds = [1, 2, 3].map((row) => buffer.add(row));
    await Promise.all(adds);
    expect(written).toEqual([[1, 2, 3]]);
  });

  it('gathers one turn of the event loop when it has no delay', async () => {
    const { buffer, written } = setUp({ delayMs: 0 });
    await Promise.all([1, 2, 3].map((row) => buffer.add(row)));
    await buffer.add(4);
    expect(written).toEqual([[1, 2, 3], [4]]);
  });

  it('writes one batch at a time, in order', async () => {
    let running = 0;
    const order: number[] = [];
    const { buffer } = setUp({
      write: async (rows) => {
        expect(++running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(...rows);
        running -= 1;
      },
    });
    void buffer.add(1);
    const first = buffer.flush();
    void buffer.add(2);
    await Promise.all([first, buffer.flush(), buffer.flush()]);
    expect(order).toEqual([1, 2]);
  });

  it('tells of a failed batch, rejects who waits for it, and goes on', async () => {
    let fail = true;
    const written: number[][] = [];
    const { buffer, errors } = setUp({
      write: async (rows) => {
        if (fail) throw new Error('disk full');
        written.push(rows);
      },
    });
    const lost = buffer.add(1);
    await buffer.flush();
    await expect(lost).rejects.toThrow('disk full');
    expect(errors).toHaveLength(1);
    fail = false;
    void buffer.add(2);
    await buffer.flush();
    expect(written).toEqual([[2]]);
  });

  it('writes the rows of a failed batch first in the next where they are to be kept', async () => {
    let fail = true;
    const written: number[][] = [];
    const { buffer, errors } = setUp({
      keeps: () => true,
      write: async (rows) => {
        if (fail) throw new Error('away');
        written.push(rows);
      },
    });
    for (const row of [1, 2]) {
      void buffer.add(row);
      await buffer.flush();
    }
    expect(errors).toHaveLength(2);
    fail = false;
    void buffer.add(3);
    await buffer.flush();
    expect(written).toEqual([[1, 2, 3]]);
  });

  it('writes each row of a refused batch alone, so that one bad row loses itself only', async () => {
    const written: number[][] = [];
    const { buffer, errors } = setUp({
      splits: () => true,
      write: async (rows) => {
        if (rows.includes(2)) throw new Error('2 is no row');
        written.push(rows);
      },
    });
    for (const row of [1, 2, 3]) void buffer.add(row);
    await buffer.flush();
    expect(written).toEqual([[1], [3]]);
    expect(errors).toEqual([new Error('2 is no row')]);
    void buffer.add(4);
    await buffer.flush();
    expect(written).toEqual([[1], [3], [4]]);
  });

  it('keeps what is left of a refused batch where the store goes away meanwhile', async () => {
    const written: number[][] = [];
    let isAway = false;
    const { buffer } = setUp({
      splits: () => !isAway,
      keeps: () => isAway,
      write: async (rows) => {
        if (rows.length > 1 && rows.includes(2)) throw new Error('refused');
        isAway = rows.includes(2) && !isAway;
        if (isAway) throw new Error('away');
        written.push(rows);
      },
    });
    for (const row of [1, 2]) void buffer.add(row);
    await buffer.flush();
    expect(written).toEqual([[1]]);
    await buffer.flush();
    expect(written).toEqual([[1], [2]]);
  });

  it('keeps no more than fits, drops the oldest, and tells how many went', async () => {
    let fail = true;
    const written: number[][] = [];
    const { buffer, errors } = setUp({
      maxRows: 3,
      keeps: () => true,
      write: async (rows) => {
        if (fail) throw new Error('away');
        written.push(rows);
      },
    });
    for (let row = 0; row < 5; row++) {
      void buffer.add(row);
      await buffer.flush();
    }
    fail = false;
    await buffer.flush();
    expect(written).toEqual([[2, 3, 4]]);
    const told = errors.filter((error) => error instanceof Error && /1 rows/.test(error.message));
    expect(told).toHaveLength(2);
  });

  it('tries what it kept again by the clock', async () => {
    let tries = 0;
    const written = deferred<number[]>();
    const { buffer } = setUp({
      delayMs: 1,
      keeps: () => true,
      write: async (rows) => {
        tries += 1;
        if (tries < 3) throw new Error('away');
        written.resolve(rows);
      },
    });
    void buffer.add(1);
    expect(await written.promise).toEqual([1]);
  });

  it('keeps rows while the store is away, not those that it refuses and not once it is closed', () => {
    const unavailable = { detail: 'store_unavailable' };
    const away = new GatewayError('unavailable', 'Away.', { ...unavailable, cause: new Error('refused') });
    const closed = new GatewayError('unavailable', 'Closed.', unavailable);
    expect([away, closed, new Error('bad row')].map(isStoreAway)).toEqual([true, false, false]);
  });

  it('keeps the newest when it is full, and tells how many went', async () => {
    const { buffer, written, errors } = setUp({ maxRows: 3 });
    for (let row = 0; row < 8; row++) void buffer.add(row);
    await buffer.flush();
    expect(written).toEqual([[5, 6, 7]]);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('5 rows') })]);
  });
});
