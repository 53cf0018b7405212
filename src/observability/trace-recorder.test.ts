import { describe, expect, it } from 'vitest';
import { PIECE_BYTES, TraceBudget, TraceRecorder, TraceSampler } from './trace-recorder.js';

describe('TraceRecorder', () => {
  it('gives the four sides of a request in order', () => {
    const recorder = new TraceRecorder(new TraceBudget(10_000));
    recorder.inbound('/v1/messages', { 'x-app': 'cli' }, Buffer.from('{"model":"a"}'));
    recorder.outbound({
      upstream: 'one',
      dialect: 'openai-chat',
      url: 'http://one/v1',
      body: '{"model":"b"}',
    });
    recorder.upstreamHead(500, {});
    recorder.upstreamChunk(Buffer.from('no'));
    const body = Buffer.from('{"model":"c"}');
    recorder.outbound({ upstream: 'two', dialect: 'openai-chat', url: 'http://two/v1', body });
    recorder.upstreamHead(200, { 'content-type': 'text/event-stream' });
    recorder.upstreamChunk(Buffer.from('data: 1\n'));
    recorder.emitted('event: x\n\n');
    recorder.upstreamChunk(Buffer.from('\n'));
    const ms = expect.any(Number);
    expect(recorder.finish()).toEqual({
      size: 60,
      cut: false,
      inbound: { path: '/v1/messages', headers: { 'x-app': 'cli' }, body: Buffer.from('{"model":"a"}') },
      attempts: [
        {
          upstream: 'one',
          wire: 'openai-chat',
          url: 'http://one/v1',
          body: '{"model":"b"}',
          status: 500,
          headers: {},
        },
        {
          upstream: 'two',
          wire: 'openai-chat',
          url: 'http://two/v1',
          body,
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
        },
      ],
      timeline: [
        { ms, from: 'upstream', attempt: 0, data: Buffer.from('no') },
        { ms, from: 'upstream', attempt: 1, data: Buffer.from('data: 1\n') },
        { ms, from: 'gateway', data: 'event: x\n\n' },
        { ms, from: 'upstream', attempt: 1, data: Buffer.from('\n') },
      ],
    });
  });

  it('holds no more than the budget of all recorders, says so, and gives it back', () => {
    const budget = new TraceBudget(PIECE_BYTES + 10);
    const first = new TraceRecorder(budget);
    first.emitted('12345678');
    const second = new TraceRecorder(budget);
    second.emitted('12345678');
    expect(second.finish()).toMatchObject({ cut: true, timeline: [] });
    expect(first.finish()).toMatchObject({ cut: false, timeline: [{ data: '12345678' }] });
    const third = new TraceRecorder(budget);
    third.emitted('1234567890');
    expect(third.finish()).toMatchObject({ cut: false });
  });

  it('counts small pieces by the memory that they take, and the size of a trace by its bytes', () => {
    const budget = new TraceBudget(10 * PIECE_BYTES);
    const recorder = new TraceRecorder(budget);
    for (let piece = 0; piece < 20; piece += 1) recorder.emitted('.');
    const { cut, size, timeline } = recorder.finish();
    expect({ cut, size, pieces: timeline.length }).toEqual({ cut: true, size: 9, pieces: 9 });
    expect(budget.take(10 * PIECE_BYTES)).toBe(true);
  });

  it('takes nothing of the budget once it is over', () => {
    const budget = new TraceBudget(PIECE_BYTES + 10);
    const first = new TraceRecorder(budget);
    first.finish();
    first.upstreamChunk(Buffer.from('1234567890'));
    const second = new TraceRecorder(budget);
    second.emitted('1234567890');
    expect(second.finish()).toMatchObject({ cut: false });
  });
});

describe('TraceSampler', () => {
  it('records a person whole and a flood in part', () => {
    let now = 0;
    const sampler = new TraceSampler(() => now);
    const burst = Array.from({ length: 100 }, () => sampler.begin()).filter((each) => each !== undefined);
    expect(burst).toHaveLength(30);
    now += 1000;
    expect([1, 2, 3].map(() => sampler.begin() !== undefined)).toEqual([true, true, false]);
  });
});
