/**
 * Markdown to nodes for the page. HTML that a model writes is shown as text; what marked makes of the
 * rest goes through DOMPurify, which knows only the tags and attributes below and gives nodes, so that
 * no HTML is ever set from here. Loaded when the first text is shown: both are large.
 */
import purify, { type Config } from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import remend from 'remend';
import { hostToShow, safeLink } from './links.js';

interface RenderWords {
  copy: string;
  code: string;
  image: string;
  done: string;
  open: string;
}

/** Tags without attributes that change nothing but how a word looks. */
const HARMLESS = /^<\/?(?:br|kbd|sub|sup|mark|b|i|u|s|em|strong|del|ins|code|small)[ \t]*\/?>$/i;

const PURIFY: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code'],
    ...['em', 'strong', 'del', 'ins', 'b', 'i', 'u', 's', 'kbd', 'sub', 'sup', 'mark', 'small', 'bdi'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'span', 'div', 'section', 'button'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'start', 'align', 'class', 'tabindex', 'type', 'target', 'rel'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: true,
  // All others have to look like an address.
  ADD_URI_SAFE_ATTR: ['start', 'align', 'tabindex', 'type', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true,
};

/** Cached results, because texts come into view repeatedly while scrolling. */
const CACHE = { entries: 1_000, characters: 4_000_000 } as const;

purify.addHook('afterSanitizeAttributes', (node) => {
  // Nothing here gives these to a link of a model: they are set whatever was there.
  if (node.tagName === 'A' && node.hasAttribute('href')) {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  if (node.tagName === 'BUTTON') node.setAttribute('type', 'button');
});

class Renderer {
  readonly #marked: Marked;
  readonly #cache = new Map<string, DocumentFragment>();
  #cached = 0;

  constructor(words: RenderWords) {
    this.#marked = makeMarked(words);
  }

  /** Nodes without other references. */
  render(source: string, streaming: boolean): Node {
    if (streaming) return purify.sanitize(this.#parse(complete(source)), PURIFY);
    const known = this.#cache.get(source);
    const nodes = known ?? purify.sanitize(this.#parse(source), PURIFY);
    this.#keep(source, nodes, known !== undefined);
    return nodes.cloneNode(true);
  }

  #parse(source: string): string {
    try {
      return this.#marked.parse(source, { async: false });
    } catch {
      // Its author expects nothing to be thrown but for nesting that no stack holds.
      return `<p class="md-plain">${escaped(source)}</p>`;
    }
  }

  #keep(source: string, nodes: DocumentFragment, known: boolean): void {
    this.#cache.delete(source);
    this.#cache.set(source, nodes);
    if (!known) this.#cached += source.length;
    for (const [oldest] of this.#cache) {
      if (this.#cache.size <= CACHE.entries && this.#cached <= CACHE.characters) break;
      this.#cache.delete(oldest);
      this.#cached -= oldest.length;
    }
  }
}

const renderers = new Map<RenderWords, Renderer>();

/** One for each language; `words` has to be the same object each time. */
export function rendererFor(words: RenderWords): Renderer {
  const known = renderers.get(words);
  if (known !== undefined) return known;
  const made = new Renderer(words);
  renderers.set(words, made);
  return made;
}

export type { Renderer };

/** Ends what a model has only begun: bold, code, a link without its address. */
function complete(source: string): string {
  return remend(source, { linkMode: 'text-only', katex: false, htmlTags: false });
}

function makeMarked(words: RenderWords): Marked {
  return new Marked({
    gfm: true,
    breaks: false,
    renderer: {
      html: ({ text, block }: Tokens.HTML | Tokens.Tag) => {
        if (HARMLESS.test(text.trim())) return text.trim().toLowerCase();
        return block === true ? `<p class="md-plain">${escaped(text.trim())}</p>` : escaped(text);
      },
      heading({ tokens, depth }: Tokens.Heading) {
        // The page has its own first-level heading; those of an answer are below it.
        const level = Math.min(depth + 1, 6);
        return `<h${level} class="md-h${depth}">${this.parser.parseInline(tokens)}</h${level}>`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inside = this.parser.parseInline(tokens);
        return linkTo(href, inside, textOf(tokens));
      },
      image: ({ href, text }: Tokens.Image) => {
        const name = `<span class="md-image">${escaped(words.image)}${text === '' ? '' : `: ${escaped(text)}`}</span>`;
        return safeLink(href) === undefined ? name : `${name} ${linkTo(href, escaped(href), href)}`;
      },
      code: ({ text, lang }: Tokens.Code) => codeBox(text, lang ?? '', words),
      checkbox: ({ checked }: Tokens.Checkbox) =>
        `<span class="md-check" aria-label="${escaped(checked ? words.done : words.open)}">${checked ? '☑' : '☐'}</span> `,
      table(token: Tokens.Table) {
        const cell = (tag: 'td' | 'th', each: Tokens.TableCell): string => {
          const align = each.align === null ? '' : ` align="${each.align}"`;
          return `<${tag}${align}>${this.parser.parseInline(each.tokens)}</${tag}>`;
        };
        const head = token.header.map((each) => cell('th', each)).join('');
        const rows = token.rows.map((row) => `<tr>${row.map((each) => cell('td', each)).join('')}</tr>`);
        return `<div class="md-table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
      },
    },
  });
}

/** `inside` is HTML, `text` what it says. */
function linkTo(href: string, inside: string, text: string): string {
  const url = safeLink(href);
  if (url === undefined) return `<span class="md-dead" title="${escaped(href)}">${inside}</span>`;
  const host = hostToShow(text, url);
  const shown = host === undefined ? '' : ` <span class="md-host">(${escaped(host)})</span>`;
  return `<a href="${escaped(url.href)}" title="${escaped(url.href)}"><bdi>${inside}</bdi></a>${shown}`;
}

function codeBox(text: string, info: string, words: RenderWords): string {
  const [language = ''] = info.trim().split(/\s/, 1);
  const name = escaped(language === '' ? words.code : language.slice(0, 40));
  return (
    `<div class="md-code"><div class="md-code-bar"><span>${name}</span>` +
    `<button type="button" class="md-copy">${escaped(words.copy)}</button></div>` +
    `<section tabindex="0" aria-label="${name}"><pre><code>${escaped(text)}</code></pre></section></div>`
  );
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && Array.isArray(token.tokens)) return textOf(token.tokens);
      return 'text' in token && typeof token.text === 'string' ? token.text : '';
    })
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
