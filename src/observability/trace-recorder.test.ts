import { describe, expect, it } from 'vitest';
import { decodeChunk, encodeChunk, TraceBudget, TraceRecorder, TraceSampler } from './trace-recorder.js';

describe('TraceRecorder', () => {
  it('gives the four sides of a request in order', () => {
    const recorder = new TraceRecorder(new TraceBudget(10_000));
    recorder.inbound('/v1/messages', { 'x-app': 'cli' }, Buffer.from('{"model":"a"}'));
    recorder.outbound('one', 'http://one/v1', '{"model":"b"}');
    recorder.upstreamHead(500, {});
    recorder.upstreamChunk(Buffer.from('no'));
    recorder.outbound('two', 'http://two/v1', Buffer.from('{"model":"c"}'));
    recorder.upstreamHead(200, { 'content-type': 'text/event-stream' });
    recorder.upstreamChunk(Buffer.from('data: 1\n'));
    recorder.upstreamChunk(Buffer.from('\n'));
    recorder.emitted('event: x\n\n');
    expect(recorder.finish()).toEqual({
      version: 1,
      cut: false,
      inbound: { path: '/v1/messages', headers: { 'x-app': 'cli' }, body: '{"model":"a"}' },
      attempts: [
        {
          upstream: 'one',
          url: 'http://one/v1',
          body: '{"model":"b"}',
          status: 500,
          headers: {},
          chunks: ['no'],
        },
        {
          upstream: 'two',
          url: 'http://two/v1',
          body: '{"model":"c"}',
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          chunks: ['data: 1\n', '\n'],
        },
      ],
      emitted: ['event: x\n\n'],
    });
  });

  it('holds no more than the budget of all recorders, says so, and gives it back', () => {
    const budget = new TraceBudget(10);
    const first = new TraceRecorder(budget);
    first.emitted('12345678');
    const second = new TraceRecorder(budget);
    second.emitted('12345678');
    expect(second.finish()).toMatchObject({ cut: true, emitted: [] });
    expect(first.finish()).toMatchObject({ cut: false, emitted: ['12345678'] });
    const third = new TraceRecorder(budget);
    third.emitted('1234567890');
    expect(third.finish()).toMatchObject({ cut: false });
  });

  it.each([
    ['text', Buffer.from('北京')],
    ['half a character', Buffer.from('北京').subarray(0, 4)],
    ['what looks like the mark', Buffer.from('base64:hm')],
  ])('carries %s round', (_name, bytes) => {
    expect(decodeChunk(encodeChunk(bytes))).toEqual(bytes);
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
