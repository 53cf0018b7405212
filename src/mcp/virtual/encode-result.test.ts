import { describe, expect, it } from 'vitest';
import type { ToolResultContent } from '../../core/conversation.js';
import { encodeResult } from './tool-server.js';

const resultOf = (content: readonly ToolResultContent[], more: object = {}) =>
  encodeResult(
    {
      type: 'tool-result',
      id: 'call_1',
      name: 'Read',
      content,
      isError: false,
      durationMs: 1,
      outcome: 'done',
      ...more,
    },
    40,
  );

describe('a result as MCP content', () => {
  it('keeps texts, images and documents', () => {
    const { content, isError, _meta } = resultOf([
      { type: 'text', text: '你好' },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', mediaType: 'application/pdf', data: 'BBBB' } },
      { type: 'document', source: { type: 'text', mediaType: 'text/plain', data: 'words' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]);
    expect(content).toEqual([
      { type: 'text', text: '你好' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'toolgate:document/3', mimeType: 'application/pdf', blob: 'BBBB' },
      },
      { type: 'text', text: 'words' },
      { type: 'text', text: expect.stringContaining('https://example.com/a.png') },
    ]);
    expect([isError, _meta]).toEqual([false, { 'toolgate/outcome': 'done' }]);
  });

  it('says first what ran where a person changed it, and not without end', () => {
    const { content } = resultOf([{ type: 'text', text: 'out' }], { input: { command: 'x'.repeat(100) } });
    expect(content[0]).toMatchObject({
      text: expect.stringMatching(/^A person changed .*: \{"command":"x{28}$/),
    });
    expect(content[1]).toEqual({ type: 'text', text: 'out' });
  });
});
