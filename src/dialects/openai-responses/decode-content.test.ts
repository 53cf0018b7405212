import { describe, expect, it } from 'vitest';
import { decodeContent } from './decode-content.js';

const OWN = 'openai-responses';

describe('parts', () => {
  it.each([
    [
      { type: 'input_text', text: 'a' },
      { type: 'text', text: 'a' },
    ],
    [
      { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
      { type: 'text', text: 'a' },
    ],
    [
      { type: 'output_text', text: 'a', annotations: [{ type: 'url_citation' }] },
      { type: 'text', text: 'a', extensions: { [OWN]: { $annotations: [{ type: 'url_citation' }] } } },
    ],
    [
      { type: 'refusal', refusal: 'no' },
      { type: 'text', text: 'no', extensions: { [OWN]: { $refusal: true } } },
    ],
    [
      { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
      {
        type: 'image',
        source: { type: 'url', url: 'https://example.com/a.png' },
        extensions: { [OWN]: { detail: 'high' } },
      },
    ],
    [
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } },
    ],
    [
      { type: 'input_image', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      { type: 'input_image', file_id: 'file-1' },
      { type: 'image', source: { type: 'file', fileId: 'file-1' } },
    ],
    [
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      {
        type: 'document',
        source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
        title: 'a.pdf',
      },
    ],
    [
      { type: 'input_file', file_data: 'AAAA' },
      { type: 'document', source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
    ],
    [
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
    [
      { type: 'input_file', file_id: 'file-1' },
      { type: 'document', source: { type: 'file', fileId: 'file-1' } },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'x' } },
      {
        type: 'opaque',
        dialect: OWN,
        kind: 'input_audio',
        value: { type: 'input_audio', input_audio: { data: 'x' } },
      },
    ],
  ])('%j', (part, block) => {
    expect(decodeContent([part], 'input.0')).toEqual([block]);
  });

  it('of a text are that text, and of none none', () => {
    expect(decodeContent('a', 'input.0')).toEqual([{ type: 'text', text: 'a' }]);
    expect(decodeContent('', 'input.0')).toEqual([]);
  });

  it.each([
    [{ type: 'input_text' }, 'input.0.content.0.text'],
    [{ type: 'input_image' }, 'input.0.content.0.image_url'],
    [{ type: 'input_file' }, 'input.0.content.0'],
    ['text', 'input.0.content.0'],
  ])('%j is refused at %s', (part, param) => {
    expect(() => decodeContent([part], 'input.0')).toThrow(expect.objectContaining({ param }));
  });
});
