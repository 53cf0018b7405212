import { describe, expect, it } from 'vitest';
import { decodeResult } from './decode-result.js';
import { MCP_LIMITS } from './wire/limits.js';

const decode = (
  content: unknown[],
  more: { structuredContent?: Record<string, unknown>; isError?: boolean } = {},
) => decodeResult({ content, ...more }, MCP_LIMITS);
const texts = (...content: unknown[]) =>
  decode(content).content.map((block) => (block.type === 'text' ? block.text : block.type));

describe('content of a result', () => {
  it.each([
    ['text', { type: 'text', text: 'hi' }, 'hi'],
    ['an image', { type: 'image', data: 'aGk=', mimeType: 'image/PNG' }, 'image'],
    [
      'an image of another type',
      { type: 'image', data: 'aGk=', mimeType: 'image/svg+xml' },
      '[an image, image/svg+xml, 3 bytes: models do not take this type]',
    ],
    [
      'an image that is none',
      { type: 'image', data: '<html>', mimeType: 'image/png' },
      '[an image, image/png, whose data is not base64]',
    ],
    [
      'audio',
      { type: 'audio', data: 'A'.repeat(4096), mimeType: 'audio/wav' },
      '[audio, audio/wav, 3 KB: it cannot be shown]',
    ],
    [
      'a text resource',
      { type: 'resource', resource: { uri: 'file:///a', text: 'words' } },
      'Resource file:///a:\nwords',
    ],
    [
      'another blob',
      { type: 'resource', resource: { uri: 'file:///a', blob: 'aGk=' } },
      '[the resource file:///a, application/octet-stream, 3 bytes: not text]',
    ],
    [
      'a link',
      { type: 'resource_link', uri: 'file:///a', name: 'A', description: 'the first' },
      'Resource link file:///a (A; the first)',
    ],
    [
      'an unknown part',
      { type: 'hologram' },
      '[a part of the answer that is not understood: type "hologram"]',
    ],
    ['no part at all', 'x', '[a part of the answer that is not understood: it has no type]'],
  ])('%s', (_name, block, expected) => {
    expect(texts(block)).toEqual([expected]);
  });

  it('shows an image in a resource with its address', () => {
    const block = { type: 'resource', resource: { uri: 'file:///a', blob: 'aGk=', mimeType: 'image/png' } };
    expect(texts(block)).toEqual(['Resource file:///a:', 'image']);
  });

  it('leaves out an image that no model takes', () => {
    const data = 'A'.repeat(8 * 1024 * 1024);
    expect(texts({ type: 'image', data, mimeType: 'image/png' })).toEqual([
      '[an image, image/png, 6144 KB: larger than the 5120 KB that models take]',
    ]);
  });

  it('gives structured content as text only where there is no other', () => {
    const structuredContent = { a: 1 };
    expect(decode([], { structuredContent })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      isError: false,
      structured: { a: 1 },
    });
    expect(decode([{ type: 'text', text: 'one' }], { structuredContent }).content).toHaveLength(1);
  });

  it('ends somewhere', () => {
    const { content } = decode(Array.from({ length: 1000 }, () => ({ type: 'text', text: 'x' })));
    expect(content).toHaveLength(257);
    expect(content.at(-1)).toEqual({ type: 'text', text: '[744 more parts of the answer are left out]' });
  });
});
