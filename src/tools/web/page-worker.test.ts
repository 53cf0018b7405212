import { describe, expect, it } from 'vitest';
import { PageWorkers } from './page-worker.js';
import { htmlText, nestingDepth, withoutRawElements } from './read-page.js';

const workers = new PageWorkers();
const signal = new AbortController().signal;
const BASE = 'https://site.test/dir/page';

async function markdown(html: string): Promise<string> {
  const outcome = await workers.convert({ kind: 'html', html, address: BASE }, signal, 20_000);
  if (!outcome.done) throw new Error(outcome.why);
  return outcome.text;
}

describe('PageWorkers', () => {
  it('ends when its time is over, and leaves no thread behind', async () => {
    const html = '<div>'.repeat(60_000);
    const outcome = await workers.convert({ kind: 'html', html, address: BASE }, signal, 50);
    expect(outcome).toEqual({ done: false, why: 'time' });
  });

  it('says so when it cannot cope', async () => {
    const bytes = Buffer.from('%PDF-1.4 and nothing more');
    const outcome = await workers.convert({ kind: 'pdf', bytes, maxChars: 1000 }, signal, 20_000);
    expect(outcome).toEqual({ done: false, why: 'failed' });
  });

  it('ends when it is stopped', async () => {
    const controller = new AbortController();
    const work = workers.convert(
      { kind: 'html', html: '<div>'.repeat(60_000), address: BASE },
      controller.signal,
    );
    controller.abort();
    expect(await work).toEqual({ done: false, why: 'aborted' });
  });

  it('lets the event loop go on while it works', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await workers.convert({ kind: 'html', html: '<p>a <b>b</b></p>'.repeat(2000), address: BASE }, signal);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it('runs many at once, each with its own page', async () => {
    const texts = await Promise.all(
      Array.from({ length: 6 }, (_, index) => markdown(`<p>page ${index}</p>`)),
    );
    expect(texts).toEqual(Array.from({ length: 6 }, (_, index) => `page ${index}`));
  });
});

describe('nestingDepth', () => {
  it.each([
    ['<div><div>a</div><div>b</div></div>', 2],
    ['<div>'.repeat(900), 900],
    ['<b>'.repeat(900), 900],
    [`<ul>${'<li>a'.repeat(900)}`, 1],
    ['<p>a'.repeat(900) + '<br>'.repeat(900) + '<img/>'.repeat(900), 0],
    ['<g/>'.repeat(900), 0],
    [`${'</div>'.repeat(10)}<div>`, 1],
    [`<${'a'.repeat(1_000_000)}`, 0],
    ['<a '.repeat(300_000), 0],
  ])('counts what nests, case %#', (html, depth) => {
    expect(nestingDepth(html)).toBe(depth);
  });
});

describe('bare text of HTML', () => {
  it('keeps words and breaks lines at blocks', () => {
    const html =
      '<title>T</title><p>a &amp; b &lt;c&gt; &#8364; &#x20AC;</p><div>d<br>e</div><script>no</script><!-- no -->';
    expect(htmlText(html)).toBe('T\n\na & b <c> € €\n\nd\ne');
  });

  it('cuts scripts that are never closed, and those with tags in them', () => {
    expect(withoutRawElements('a<script>if (a<b) "<p>"</SCRIPT >b<style>x</style>c<script>d')).toBe('abc');
    expect(withoutRawElements('<scripty>a</scripty>')).toBe('<scripty>a</scripty>');
  });

  it.each([
    ['open scripts', '<script'],
    ['open scripts with an end', '<script>'],
    ['open tags', '<a '],
    ['comments', '<!--'],
    ['entities', '&am'],
    ['blocks', '<p '],
  ])('reads hostile text once: %s', (_name, piece) => {
    const text = htmlText(piece.repeat(300_000));
    expect(text.length).toBeLessThanOrEqual(piece.length * 300_000);
  });
});
