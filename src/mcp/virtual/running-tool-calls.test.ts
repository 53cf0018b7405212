import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunningToolCalls } from './running-tool-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Ends when it is told to, with why. */
const until = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });

const NEVER = new AbortController().signal;

describe('calls of a session', () => {
  it('end when the client cancels them', async () => {
    const calls = new RunningToolCalls(1000);
    const controller = new AbortController();
    const ended = calls.run(1, controller.signal, until);
    expect(calls.size).toBe(1);
    controller.abort('cancelled');
    expect(await ended).toBe('cancelled');
    expect(calls.size).toBe(0);
  });

  it('are said to be cancelled by the client alone, and once they have ended', async () => {
    const heard: unknown[] = [];
    const calls: RunningToolCalls = new RunningToolCalls(1000, (id) => heard.push([id, calls.has(id)]));
    const controller = new AbortController();
    const cancelled = calls.run(1, controller.signal, until);
    const stopped = calls.run(2, NEVER, until);
    controller.abort('cancelled');
    await calls.stop('over');
    await Promise.all([cancelled, stopped]);
    expect(heard).toEqual([[1, false]]);
  });

  it('go on without their connection for a while, and no longer', async () => {
    const calls = new RunningToolCalls(1000);
    const ended = calls.run(1, NEVER, until);
    const other = calls.run(2, NEVER, until);
    calls.orphan([1]);
    vi.advanceTimersByTime(999);
    expect(calls.size).toBe(2);
    vi.advanceTimersByTime(1);
    expect(await ended).toBeInstanceOf(DOMException);
    expect(calls.size).toBe(1);
    await calls.stop('over');
    expect(await other).toBe('over');
  });

  it('are taken over by a client that comes back', async () => {
    const calls = new RunningToolCalls(1000);
    const ended = calls.run(1, NEVER, until);
    calls.orphan([1, 7]);
    expect(calls.adopt()).toEqual([1]);
    vi.advanceTimersByTime(5000);
    expect(calls.size).toBe(1);
    calls.orphan([1]);
    vi.advanceTimersByTime(1000);
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave no clock behind when all of them are stopped', async () => {
    const calls = new RunningToolCalls(1000);
    const ended = calls.run(1, NEVER, until);
    calls.orphan([1]);
    await calls.stop('over');
    expect(await ended).toBe('over');
    expect(vi.getTimerCount()).toBe(0);
  });
});
