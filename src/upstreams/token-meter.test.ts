import { describe, expect, it } from 'vitest';
import type { ConversationRequest } from '../core/conversation.js';
import { TokenMeter } from './token-meter.js';

const request: ConversationRequest = {
  model: 'm',
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'word '.repeat(400) }] }],
  tools: [],
  providerTools: [],
  stopSequences: [],
  stream: true,
  extensions: {},
};

describe('TokenMeter', () => {
  it('comes to agree with what the upstream counts for that model', () => {
    const meter = new TokenMeter();
    const first = meter.estimate('a', request);
    const truth = Math.round(first.raw * 1.6);
    for (let i = 0; i < 10; i++) meter.observe('a', meter.estimate('a', request), truth);
    expect(meter.estimate('a', request).tokens).toBe(truth);
    expect(meter.estimate('b', request)).toEqual(first);
  });

  it('moves gradually and ignores counts of another prompt', () => {
    const meter = new TokenMeter();
    const { raw } = meter.estimate('a', request);
    meter.observe('a', { raw, tokens: raw }, raw);
    meter.observe('a', { raw, tokens: raw }, raw * 2);
    expect(meter.ratio('a')).toBeCloseTo(1.3);
    meter.observe('a', { raw, tokens: raw }, 0);
    meter.observe('a', { raw, tokens: raw }, raw * 100);
    expect(meter.ratio('a')).toBeCloseTo(1.3);
  });
});
