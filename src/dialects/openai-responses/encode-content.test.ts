import { describe, expect, it } from 'vitest';
import type { Block } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { ToolNames } from '../shared/tool-names.js';
import { encodePart } from './encode-content.js';
import { nameLimits } from './wire.js';

function encode(block: Block, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const context = {
    quirks: { ...STANDARD_QUIRKS, ...quirks },
    losses,
    names: new ToolNames(nameLimits(64)),
    held: false,
  };
  return { parts: encodePart(block, 'p', context), losses: losses.list().length };
}

const pdf = { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' } as const;
const file = (fileId: string) => ({ type: 'file', fileId }) as const;

describe('parts', () => {
  it.each<[Block, unknown]>([
    [
      { type: 'text', text: 'a' },
      { type: 'input_text', text: 'a' },
    ],
    [
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ],
    [
      { type: 'image', source: file('file-1'), extensions: { 'openai-responses': { detail: 'high' } } },
      { type: 'input_image', file_id: 'file-1', detail: 'high' },
    ],
    [
      {
        type: 'image',
        source: { type: 'base64', mediaType: 'image/png', data: 'AA' },
        extensions: { 'openai-chat': { detail: 'low' } },
      },
      { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
    ],
    [
      { type: 'document', source: pdf },
      { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,AAAA' },
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, title: 'a' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    ],
    [
      { type: 'document', source: file('file-1') },
      { type: 'input_file', file_id: 'file-1' },
    ],
    [
      { type: 'document', source: { type: 'text', mediaType: 'text/plain', data: 'words' }, title: 'notes' },
      { type: 'input_text', text: 'notes\n\nwords' },
    ],
  ])('%j', (block, part) => {
    expect(encode(block)).toEqual({ parts: [part], losses: 0 });
  });

  it.each<[Block, Partial<Quirks>, string]>([
    [{ type: 'image', source: file('file_011CNha') }, {}, '[image omitted]'],
    [{ type: 'image', source: file('file-1') }, { images: false }, '[image omitted]'],
    [{ type: 'document', source: pdf }, { documents: false }, '[document omitted: application/pdf]'],
    [{ type: 'document', source: file('file_011CNha') }, {}, '[document omitted]'],
  ])('%j is named where it cannot be sent (%j)', (block, quirks, words) => {
    expect(encode(block, quirks)).toEqual({ parts: [{ type: 'input_text', text: words }], losses: 1 });
  });

  it('a found tool is said in words', () => {
    const reference: Block = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'tool_reference',
      value: { tool_name: 'mail' },
    };
    expect(encode(reference).parts).toEqual([
      { type: 'input_text', text: '[The tool mail can be called now.]' },
    ]);
  });
});
