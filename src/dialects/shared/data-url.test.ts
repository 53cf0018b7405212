import { describe, expect, it } from 'vitest';
import { dataUrl, sourceOfUrl } from './data-url.js';

describe('data URLs', () => {
  it('are read as what they hold', () => {
    expect(sourceOfUrl('data:image/PNG;base64,AAAA')).toEqual({
      type: 'base64',
      mediaType: 'image/png',
      data: 'AAAA',
    });
    expect(sourceOfUrl('data:;base64,AAAA')).toMatchObject({ mediaType: 'application/octet-stream' });
  });

  it.each(['https://example.com/a.png', 'data:text/plain,hello', 'data:'])('%s stays a URL', (url) => {
    expect(sourceOfUrl(url)).toEqual({ type: 'url', url });
  });

  it('come back', () => {
    const source = sourceOfUrl(dataUrl('image/webp', 'BBBB'));
    expect(source).toEqual({ type: 'base64', mediaType: 'image/webp', data: 'BBBB' });
  });
});
