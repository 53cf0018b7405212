import { describe, expect, it } from 'vitest';
import type { Block } from '../../core/conversation.js';
import { sealSignature } from '../shared/sealed-signature.js';
import { decodeDetails, decodeReasoning, encodeDetails } from './reasoning.js';

describe('decodeReasoning', () => {
  it('takes the field that says most', () => {
    expect(decodeReasoning({ reasoning_content: 'a', reasoning: 'b' })).toEqual([
      { type: 'thinking', thinking: 'a' },
    ]);
    expect(decodeReasoning({ reasoning_content: '', reasoning: 'b' })).toEqual([
      { type: 'thinking', thinking: 'b' },
    ]);
    expect(
      decodeReasoning({
        reasoning_content: 'a',
        reasoning_details: [{ type: 'reasoning.text', text: 'a', signature: 's' }],
      }),
    ).toEqual([{ type: 'thinking', thinking: 'a', signature: 's' }]);
    expect(decodeReasoning({ reasoning_content: null })).toEqual([]);
  });

  it('reads blocks as LiteLLM writes them', () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
    ];
    expect(decodeReasoning({ thinking_blocks })).toEqual(thinking_blocks);
  });
});

describe('details', () => {
  const signed: Block[] = [
    { type: 'thinking', thinking: 'a', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'cmVk' },
    { type: 'thinking', thinking: 'b' },
    { type: 'thinking', thinking: 'c', signature: sealSignature('openai-responses', '{"id":"rs_1"}') },
  ];

  it('come back from a client as the blocks they were', () => {
    expect(decodeDetails(encodeDetails(signed, 'client'))).toEqual(signed);
  });

  it('tell an upstream nothing that is sealed for another wire', () => {
    const details = encodeDetails(signed, 'upstream');
    expect(details.map(({ text, signature, data }) => text ?? data ?? signature)).toEqual([
      'a',
      'cmVk',
      'b',
      'c',
    ]);
    expect(JSON.stringify(details)).not.toContain('tg1.');
  });

  it('of another maker go through a client and come back to the upstream as they were', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'I think', format: 'openai-responses-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
    ];
    const blocks = decodeDetails(details);
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'I think', signature: expect.stringMatching(/^tg1\./) },
    ]);
    expect(encodeDetails(blocks, 'upstream')).toEqual(details);
    expect(encodeDetails(blocks, 'client')).toEqual(details);
  });

  it('without proof are only text', () => {
    expect(decodeDetails([{ type: 'reasoning.summary', summary: 'x', format: 'google-gemini-v1' }])).toEqual([
      { type: 'thinking', thinking: 'x' },
    ]);
  });

  it('survive a broken seal', () => {
    const block: Block = {
      type: 'thinking',
      thinking: 'a',
      signature: sealSignature('openai-chat', 'not json'),
    };
    expect(encodeDetails([block], 'upstream')).toEqual([]);
  });
});
