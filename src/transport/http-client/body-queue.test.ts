import { describe, expect, it } from 'vitest';
import { BodyQueue } from './body-queue.js';

function make(joinReads = false) {
  const calls: string[] = [];
  const source = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    cancel: () => calls.push('cancel'),
  };
  return { queue: new BodyQueue(source, joinReads), calls };
}

const bytes = (text: string) => Buffer.from(text);
const END = { done: true, value: undefined };

describe('BodyQueue', () => {
  it('hands a read to the consumer that waits', async () => {
    const { queue } = make();
    const first = queue.next();
    queue.push(bytes('a'));
    expect((await first).value?.toString()).toBe('a');
    const second = queue.next();
    queue.end();
    expect(await second).toEqual(END);
    expect(await queue.next()).toEqual(END);
  });

  it('joins the reads that came while the consumer was busy', async () => {
    const { queue } = make();
    queue.push(bytes('a'));
    queue.push(bytes('b'));
    queue.end();
    expect((await queue.next()).value?.toString()).toBe('ab');
    expect(await queue.next()).toEqual(END);
  });

  it('stops the source above its limit and starts it again when drained', async () => {
    const { queue, calls } = make();
    queue.push(Buffer.alloc(200_000));
    expect(calls).toEqual([]);
    queue.push(Buffer.alloc(100_000));
    queue.push(Buffer.alloc(1));
    expect(calls).toEqual(['pause']);
    expect((await queue.next()).value?.length).toBe(300_001);
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('gives what came before a failure, then the failure once', async () => {
    const { queue } = make();
    queue.push(bytes('a'));
    queue.fail(new Error('broken'));
    expect((await queue.next()).value?.toString()).toBe('a');
    await expect(queue.next()).rejects.toThrow('broken');
    expect(await queue.next()).toEqual(END);
  });

  it('fails the consumer that waits', async () => {
    const { queue } = make();
    const waiting = queue.next();
    queue.fail(new Error('broken'));
    await expect(waiting).rejects.toThrow('broken');
  });

  it('ends a waiting pull on return, cancels the source and forgets what it held', async () => {
    const { queue, calls } = make();
    const waiting = queue.next();
    await queue.return();
    expect(await waiting).toEqual(END);
    expect(calls).toEqual(['cancel']);
    queue.push(bytes('late'));
    queue.fail(new Error('late'));
    expect(await queue.next()).toEqual(END);
  });

  it('refuses two pulls at once', async () => {
    const { queue } = make();
    const first = queue.next();
    await expect(queue.next()).rejects.toThrow('already being read');
    queue.end();
    await first;
  });

  it('with TLS, joins the records of one turn of the event loop', async () => {
    const { queue } = make(true);
    const first = queue.next();
    queue.push(bytes('a'));
    queue.push(bytes('b'));
    queue.end();
    expect((await first).value?.toString()).toBe('ab');
    expect(await queue.next()).toEqual(END);
  });

  it('with TLS, still gives what came before a failure', async () => {
    const { queue } = make(true);
    const first = queue.next();
    queue.push(bytes('a'));
    queue.fail(new Error('broken'));
    expect((await first).value?.toString()).toBe('a');
    await expect(queue.next()).rejects.toThrow('broken');
  });

  it('with TLS, a return between read and hand-over ends the pull', async () => {
    const { queue } = make(true);
    const first = queue.next();
    queue.push(bytes('a'));
    await queue.return();
    expect(await first).toEqual(END);
  });
});
