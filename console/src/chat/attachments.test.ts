import { describe, expect, it } from 'vitest';
import { checkFiles, contentOf, FILE_LIMITS, kindOf, readFile } from './attachments.js';

const file = (name: string, type: string, size = 10) => ({ name, type, size });

describe('the kind of an attachment', () => {
  it('follows its type, and its name where the type says nothing', () => {
    expect(kindOf(file('a.png', 'image/png'))).toBe('image');
    expect(kindOf(file('a.pdf', 'application/pdf'))).toBe('pdf');
    expect(kindOf(file('a.rs', ''))).toBe('text');
    expect(kindOf(file('a.ts', 'video/mp2t'))).toBe('text');
    expect(kindOf(file('Dockerfile', ''))).toBe('text');
    expect(kindOf(file('notes', 'text/plain'))).toBe('text');
    expect(kindOf(file('a.zip', 'application/zip'))).toBeUndefined();
    expect(kindOf(file('a.tiff', 'image/tiff'))).toBeUndefined();
  });
});

describe('attachments that are checked', () => {
  it('are refused one by one, with the reason', () => {
    const { fine, problems } = checkFiles(
      [
        file('ok.txt', 'text/plain'),
        file('a.zip', 'application/zip'),
        file('none.txt', 'text/plain', 0),
        file('big.png', 'image/png', FILE_LIMITS.image + 1),
      ],
      [],
    );
    expect(fine.map(({ file: { name } }) => name)).toEqual(['ok.txt']);
    expect(problems).toEqual([
      { type: 'type', name: 'a.zip' },
      { type: 'empty', name: 'none.txt' },
      { type: 'size', name: 'big.png', limit: FILE_LIMITS.image },
    ]);
  });

  it('count together with those that are there, and too many are said once', () => {
    const many = Array.from({ length: 30 }, (_, index) => file(`${index}.txt`, 'text/plain'));
    const { fine, problems } = checkFiles(many, [{ bytes: 1 }]);
    expect(fine).toHaveLength(FILE_LIMITS.count - 1);
    expect(problems).toEqual([{ type: 'count', limit: FILE_LIMITS.count }]);
    const pdf = file('a.pdf', 'application/pdf', 15_000_000);
    expect(checkFiles([pdf], [{ bytes: 6_000_000 }]).problems).toEqual([
      { type: 'total', limit: FILE_LIMITS.total },
    ]);
  });
});

describe('attachments that are read', () => {
  it('become blocks of the Messages API', async () => {
    const text = await readFile(new File(['héllo'], 'a.md', { type: '' }), 'text');
    expect(text.block).toEqual({
      type: 'document',
      title: 'a.md',
      source: { type: 'text', media_type: 'text/plain', data: 'héllo' },
    });
    const bytes = new Uint8Array(70_000).map((_, index) => index % 251);
    const image = await readFile(new File([bytes], 'a.png', { type: 'image/png' }), 'image');
    expect(image.block).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: Buffer.from(bytes).toString('base64') },
    });
  });

  it('are refused where a text file is not text', async () => {
    for (const bytes of [new Uint8Array([0xff, 0xfe, 0x41]), new Uint8Array([0x41, 0])]) {
      await expect(readFile(new File([bytes], 'a.log'), 'text')).rejects.toEqual({
        type: 'binary',
        name: 'a.log',
      });
    }
  });
});

describe('the content of a message', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://a.example/' } } as const;

  it('is text alone, or files in front of the text', () => {
    expect(contentOf('hi', [])).toBe('hi');
    expect(contentOf('hi', [image])).toEqual([image, { type: 'text', text: 'hi' }]);
    expect(contentOf(' ', [image])).toEqual([image]);
  });
});
