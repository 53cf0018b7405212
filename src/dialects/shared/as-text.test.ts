import { describe, expect, it } from 'vitest';
import { isAnthropicFile, omittedText, plainText, resultText, textOfOpaque } from './as-text.js';

describe('documents', () => {
  it('that are text are read', () => {
    expect(plainText({ type: 'text', mediaType: 'text/plain', data: 'a' })).toBe('a');
    const data = Buffer.from('{"a":1}').toString('base64');
    expect(plainText({ type: 'base64', mediaType: 'application/json', data })).toBe('{"a":1}');
    expect(plainText({ type: 'base64', mediaType: 'application/pdf', data })).toBeUndefined();
    expect(plainText({ type: 'url', url: 'https://example.com' })).toBeUndefined();
  });

  it('that cannot be sent are named', () => {
    expect(omittedText({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: '' } })).toBe(
      '[image omitted: image/png]',
    );
    expect(omittedText({ type: 'document', source: { type: 'url', url: 'https://example.com/a' } })).toBe(
      '[document omitted at https://example.com/a]',
    );
  });

  it('of one provider are known by their ids', () => {
    expect(isAnthropicFile('file_011')).toBe(true);
    expect(isAnthropicFile('file-abc')).toBe(false);
  });
});

describe('blocks of one wire', () => {
  const opaque = (kind: string, value: Record<string, unknown>) =>
    textOfOpaque({ type: 'opaque', dialect: 'anthropic-messages', kind, value });

  it('that are words are said', () => {
    expect(opaque('tool_reference', { tool_name: 'mail' })).toBe('[The tool mail can be called now.]');
    expect(opaque('search_result', { title: 'T', source: 'S', content: [{ type: 'text', text: 'C' }] })).toBe(
      'T\nS\nC',
    );
    expect(opaque('server_tool_use', {})).toBeUndefined();
  });
});

it.each([
  ['no file', true, 'Error: no file'],
  ['Error: no file', true, 'Error: no file'],
  ['<tool_use_error>x</tool_use_error>', true, '<tool_use_error>x</tool_use_error>'],
  ['', true, 'Error: the tool failed without a message.'],
  ['fine', false, 'fine'],
])('the result %j (failed: %s) is %j', (text, failed, said) => {
  expect(resultText(text, failed)).toBe(said);
});
