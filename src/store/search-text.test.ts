import { describe, expect, it } from 'vitest';
import { excerptOf, fold, foldedWords, SPOKEN_LIMITS, spanOf, spokenIn } from './search-text.js';

describe('a place in a text', () => {
  it.each([
    ['Paint the Fence', 'fence', 'Fence'],
    ['ein Spaß', 'ss', 'ß'],
    ['der Maßstab', 'sst', 'ßst'],
    ['e\u0301te\u0301', 'ete', 'e\u0301te\u0301'],
    ['😀 天气预报', '气预', '气预'],
    ['İstanbul', 'istan', 'İstan'],
    ['한국어', fold('국'), '국'],
  ])('of %s, %s', (text, word, found) => {
    const place = spanOf(text, word);
    expect(text.slice(place?.from, place?.to)).toBe(found);
  });

  it.each([
    [`${'ﬀ😀e\u0301'.repeat(1000)}天气`, '天气', '天气'],
    [`${'x'.repeat(511)}𝐀天气`, '天', '天'],
    [`${'天'.repeat(510)}Maßstab`, 'sst', 'ßst'],
  ])('of a long text, %#', (text, word, found) => {
    const place = spanOf(text, word);
    expect(text.slice(place?.from, place?.to)).toBe(found);
  });

  it('is none where the word is not', () => {
    expect(spanOf('fence', 'gate')).toBeUndefined();
    expect(spanOf('Zäune', 'gate')).toBeUndefined();
  });
});

describe('an excerpt of a search hit', () => {
  it('is the whole text on one line where that is short', () => {
    expect(excerptOf(' paint\n\tthe fence\n', 'fence')).toEqual({
      text: 'paint the fence',
      from: 10,
      to: 15,
    });
  });

  it('cuts no character in half', () => {
    const { text, from, to } = excerptOf(`${'😀'.repeat(60)}x${'😀'.repeat(100)}`, 'x');
    expect(text.slice(from, to)).toBe('x');
    // It throws for half a character.
    expect(() => encodeURIComponent(text)).not.toThrow();
  });

  it('marks nothing where the word cannot be found', () => {
    expect(excerptOf('fence', 'gate')).toEqual({ text: 'fence', from: 0, to: 0 });
  });
});

describe('a query', () => {
  it('is its words, each once, and not too many', () => {
    expect(foldedWords(' The  the\u3000门\n"x" \u0301 ')).toEqual(['the', '门', '"x"']);
    expect(foldedWords(Array.from({ length: 99 }, (_, index) => index).join(' '))).toHaveLength(16);
  });
});

describe('what is looked through', () => {
  const spoken = (given: unknown, redact = (words: string) => words) => spokenIn(given, redact);
  const entry = (...content: unknown[]) => ({ kind: 'message', message: { role: 'user', content } });
  const text = (length: number) => ({ type: 'text', text: 'x'.repeat(length) });

  it('is bounded, in all and in the input of a call', () => {
    const { entryChars, inputChars } = SPOKEN_LIMITS;
    expect(spoken(entry(text(entryChars - 10), text(50), text(50)))).toHaveLength(entryChars);
    const input = { content: 'y'.repeat(inputChars * 2), path: 'behind' };
    const said = spoken(entry({ type: 'tool_use', id: 'c', name: 'Write', input }));
    expect(said).toBe(`Write ${'y'.repeat(inputChars)}`);
  });

  it('is redacted before it is cut, in all and in the input of a call', () => {
    const { entryChars, inputChars, secretChars } = SPOKEN_LIMITS;
    const redact = (words: string) => words.replaceAll(/<[a-z ]*>/g, '***');
    const secret = `<${'s'.repeat(200)}>`;
    for (const before of [1, 100, 201]) {
      const long = `${'x'.repeat(entryChars - before)}${secret} tail`;
      expect(spoken(entry({ type: 'text', text: long }), redact)).not.toContain('s');
      expect(spoken(entry(text(10), { type: 'text', text: long }), redact)).not.toContain('s');
      const input = { content: `${'y'.repeat(inputChars - before)}${secret} tail` };
      const said = spoken(entry({ type: 'tool_use', id: 'c', name: 'Write', input }), redact);
      expect(said).toMatch(/^Write y+\*/);
      expect(said).not.toContain('s');
    }
    // So much is taken out in front of it that the end of what was redacted comes into what is kept.
    const many = secret.repeat(1000);
    const cut = `${many.slice(0, entryChars + secretChars - 50)}<${'z'.repeat(100)}>`;
    expect(spoken(entry({ type: 'text', text: `${cut} tail` }), redact)).not.toMatch(/[sz]/);
  });

  it('is nothing of what is no message', () => {
    for (const other of [undefined, null, 'text', [], { kind: 'keep', count: 1 }, { kind: 'message' }]) {
      expect(spoken(other)).toBe('');
    }
    expect(spoken(entry(null, 'text', { type: 'text' }, { type: 'image' }))).toBe('');
  });
});
