import { describe, expect, it } from 'vitest';
import { inputToShow, messageToShow, resultToShow } from './preview.js';

const text = (said: string) => ({ type: 'text', text: said }) as const;

describe('the preview of a result', () => {
  it('is shown whole where it is short', () => {
    expect(resultToShow([text('a'), text('b')], { resultChars: 10 })).toEqual({
      content: [text('a'), text('b')],
      truncated: false,
    });
  });

  it('is cut over all of its texts, and says so', () => {
    const { content, truncated } = resultToShow([text('abcdef'), text('ghij')], { resultChars: 8 });
    expect(content).toEqual([text('abcdef'), text('gh […]')]);
    expect(truncated).toBe(true);
  });

  it('has no bytes of images in it', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'x'.repeat(9000) },
    } as const;
    const shown = resultToShow([image], { resultChars: 10 });
    expect(shown.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', size: 9000 } },
    ]);
    expect(shown.truncated).toBe(true);
  });
});

describe('the preview of arguments', () => {
  it('is the arguments themselves where they are short', () => {
    const input = { a: ['b', 1, null, { c: true }] };
    expect(inputToShow(input, 1000)).toEqual({ input, truncated: false });
  });

  it('keeps their shape where a text in them is too long', () => {
    const input = { path: 'a.txt', content: 'x'.repeat(100_000), more: ['y'.repeat(100_000)] };
    const shown = inputToShow(input, 50_000);
    expect(shown.truncated).toBe(true);
    expect(JSON.stringify(shown.input).length).toBeLessThan(50_000);
    expect(shown.input).toMatchObject({ path: 'a.txt', content: expect.stringMatching(/^x+ \[…\]$/) });
  });

  it('is empty where there is too much of everything', () => {
    const input = { many: Array.from({ length: 10_000 }, () => 'abc') };
    expect(inputToShow(input, 1000)).toEqual({ input: {}, truncated: true });
  });
});

it('the preview of a message is cut as a whole, its results with it', () => {
  const shown = messageToShow(
    [
      text('x'.repeat(10)),
      { type: 'tool_result', toolUseId: 't', isError: false, content: [text('y'.repeat(50))] },
    ],
    { messageChars: 30, resultChars: 100 },
  );
  expect(shown).toEqual([
    text('x'.repeat(10)),
    { type: 'tool_result', tool_use_id: 't', is_error: false, content: [text(`${'y'.repeat(20)} […]`)] },
  ]);
});
