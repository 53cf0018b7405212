import { describe, expect, it } from 'vitest';
import { hostToShow, safeLink } from './links.js';

describe('links that may be followed', () => {
  it('are those of the web and of mail', () => {
    for (const href of ['https://a.example/x', 'HTTP://a.example', 'mailto:a@b.example']) {
      expect(safeLink(href)).toBeInstanceOf(URL);
    }
  });

  it('are not scripts, data, files or places in this page', () => {
    const hrefs = [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://a.example/1',
      '#/inbox',
      '/api/rules',
      '//evil.example',
      'relative',
      'https://',
    ];
    for (const href of hrefs) expect(safeLink(href), href).toBeUndefined();
  });
});

describe('the host beside a link', () => {
  const shown = (text: string, href: string): string | undefined => hostToShow(text, new URL(href));

  it('is shown where the text names another one', () => {
    expect(shown('https://bank.example/login', 'https://evil.example/')).toBe('evil.example');
    expect(shown('go to bank.example now', 'http://evil.example:8080/')).toBe('evil.example:8080');
    expect(shown('https://bank.example', 'https://bank.example@evil.example/')).toBe('evil.example');
    expect(shown('bаnk.example', 'https://bank.example/')).toBe('bank.example');
    expect(shown('a@bank.example', 'mailto:b@evil.example')).toBe('b@evil.example');
  });

  it('is not shown where nothing is hidden', () => {
    expect(shown('the docs', 'https://a.example/')).toBeUndefined();
    expect(shown('https://www.a.example/x.html', 'https://a.example/x.html')).toBeUndefined();
    expect(shown('www.a.example', 'https://a.example/')).toBeUndefined();
    expect(shown('a@b.example', 'mailto:a@b.example')).toBeUndefined();
  });
});
