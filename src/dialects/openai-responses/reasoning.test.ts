import { describe, expect, it } from 'vitest';
import type { ThinkingBlock } from '../../core/conversation.js';
import { decodeReasoning, encodeReasoning, openProof, sealProof, sealReasoning } from './reasoning.js';

const item = (more: object) => ({ type: 'reasoning', summary: [], ...more });

describe('an item of history', () => {
  it('of an upstream keeps its proof and itself', () => {
    const given = item({
      id: 'rs_1',
      encrypted_content: 'gAAA',
      summary: [{ type: 'summary_text', text: 'a' }],
    });
    const block = decodeReasoning(given);
    expect(block).toMatchObject({ type: 'thinking', thinking: 'a' });
    expect(openProof(block.type === 'thinking' ? block.signature : '')).toEqual({
      id: 'rs_1',
      encrypted: 'gAAA',
    });
    expect(encodeReasoning(block, false)).toBe(given);
  });

  it('of the gateway gives back what was sealed', () => {
    for (const block of [
      { type: 'thinking', thinking: 'a\n\né', signature: 'c2ln' },
      { type: 'thinking', thinking: 'a' },
      { type: 'thinking', thinking: '', signature: sealProof({ id: 'rs_1', encrypted: 'gAAA' }) },
      { type: 'redacted_thinking', data: 'xyz' },
    ] as const) {
      expect(decodeReasoning(item({ encrypted_content: sealReasoning(block) }))).toEqual(block);
    }
  });

  it('shows its summary, or the thinking itself where there is none', () => {
    const parts = (...texts: string[]) => texts.map((text) => ({ type: 'x', text }));
    expect(decodeReasoning(item({ summary: parts('a', '', 'b'), content: parts('c') }))).toMatchObject({
      thinking: 'a\n\nb',
    });
    expect(decodeReasoning(item({ content: parts('c') }))).toMatchObject({ thinking: 'c' });
    expect(decodeReasoning({ type: 'reasoning' })).toMatchObject({ thinking: '' });
  });

  it('with a broken envelope proves nothing to anyone', () => {
    const block = decodeReasoning(item({ id: 'rs_1', encrypted_content: 'tgr1.!!!' }));
    expect(block).toMatchObject({ type: 'thinking' });
  });
});

describe('an item for an upstream', () => {
  it('without proof is only for one that keeps the conversation', () => {
    const given = item({ id: 'rs_1' });
    const block = decodeReasoning(given);
    expect(encodeReasoning(block, false)).toBeUndefined();
    expect(encodeReasoning(block, true)).toBe(given);
  });

  it('is never made of what another wire proved', () => {
    const block: ThinkingBlock = { type: 'thinking', thinking: 'a', signature: 'c2ln' };
    expect(encodeReasoning(block, true)).toBeUndefined();
    expect(encodeReasoning({ type: 'redacted_thinking', data: 'x' }, true)).toBeUndefined();
  });
});
