import { describe, expect, it } from 'vitest';
import { readRemoteContext, traceparentOf } from './span.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe('the trace context of a client', () => {
  it('is read as it was written', () => {
    expect(readRemoteContext({ traceparent: PARENT, tracestate: 'congo=t61rcWkgMzE, rojo=1' })).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      sampled: true,
      tracestate: 'congo=t61rcWkgMzE,rojo=1',
    });
    expect(readRemoteContext({ traceparent: `00-${TRACE}-${SPAN}-00` })?.sampled).toBe(false);
    expect(readRemoteContext({ traceparent: `01-${TRACE}-${SPAN}-01-later` })?.traceId).toBe(TRACE);
    expect(traceparentOf(TRACE, SPAN, true)).toBe(PARENT);
  });

  it.each([
    ['nothing', undefined],
    ['two of them', [PARENT, PARENT]],
    ['the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['more than the version has', `${PARENT}-more`],
    ['capitals', PARENT.toUpperCase()],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no parent', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['another header behind it', `${PARENT}\r\nx-evil: 1`],
    ['too much', `01-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`],
  ])('is refused: %s', (_what, traceparent) => {
    expect(readRemoteContext({ traceparent })).toBeUndefined();
  });

  it.each([
    ['a line break', 'a=1\r\nx-evil: 1'],
    ['no value', 'a='],
    ['no key', '=1'],
    ['the same key twice', 'a=1,a=2'],
    ['too long', `a=${'x'.repeat(600)}`],
    ['too many', Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',')],
    ['other letters', 'a=ü'],
  ])('goes without a tracestate that is not one: %s', (_what, tracestate) => {
    expect(readRemoteContext({ traceparent: PARENT, tracestate })).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      sampled: true,
    });
  });
});
