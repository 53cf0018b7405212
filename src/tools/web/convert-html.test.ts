import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type ConverterClass, convertHtml, type GfmPlugins } from './convert-html.js';

const load = createRequire(import.meta.url);
const Turndown: ConverterClass = load('turndown');
const gfm: GfmPlugins = load('@joplin/turndown-plugin-gfm');

const convert = (html: string) => convertHtml(Turndown, gfm, html, 'https://site.test/dir/page');

describe('convertHtml', () => {
  it.each([
    ['<h2>Two</h2><p>a <b>b</b> <i>c</i> <del>d</del></p>', '## Two\n\na **b** _c_ ~~d~~'],
    ['<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>', '- a\n- b\n  - c'],
    ['<ol start="3"><li>a</li><li>b</li></ol>', '3. a\n4. b'],
    ['<ol><li><p>a</p></li><li><p>b</p></li></ol>', '1. a\n2. b'],
    ['<pre><code class="language-ts">let a = 1;\n</code></pre>', '```ts\nlet a = 1;\n```'],
    ['<pre>has ``` in it</pre>', '````\nhas ``` in it\n````'],
    ['<a href="../up">up</a>', '[up](https://site.test/up)'],
    [
      '<a href="#top">top</a> <a href="javascript:x()">run</a> <a href="data:text/html,x">data</a>',
      'top run data',
    ],
    ['<a href="/a_(b)">x</a>', '[x](https://site.test/a_%28b%29)'],
    ['<base href="https://cdn.test/"><a href="x">x</a>', '[x](https://cdn.test/x)'],
    ['<img src="a.png" alt="A"><img src="b.png">', '![A](https://site.test/dir/a.png)'],
    ['<img src="data:image/png;base64,xxxx" alt="inline">', 'inline'],
    [
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1|2</td><td>x<br>y</td></tr></tbody></table>',
      '| A | B |\n| --- | --- |\n| 1\\|2 | x y |',
    ],
    [
      '<table><tr><td>a</td><td></td></tr><tr><td>c</td><td>d</td></tr></table>',
      '| a |  |\n| --- | --- |\n| c | d |',
    ],
    [
      '<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>',
      '| a | b |\n| --- | --- |',
    ],
    ['<ul><li><input type="checkbox" checked> done</li></ul>', '- [x] done'],
    ['<blockquote><p>q</p></blockquote>', '> q'],
  ])('%s', (html, expected) => {
    expect(convert(html).markdown).toBe(expected);
  });

  it('takes a large table in its stride', () => {
    const rows = '<tr><td>a</td><td>b</td></tr>'.repeat(2000);
    expect(convert(`<table>${rows}</table>`).markdown.split('\n')).toHaveLength(2001);
  });

  it('finds the title', () => {
    const page = convert(
      '<html><head><title> A\n title </title></head><body><p>x</p><title>other</title></body></html>',
    );
    expect(page).toEqual({ title: 'A title', markdown: 'x' });
  });
});
