/**
 * HTML to Markdown. The function runs in a worker, to which only its text is handed: it must not
 * use anything from outside of itself but its arguments.
 */

/** As much of a DOM as is used here. */
interface HtmlNode {
  nodeName: string;
  parentNode: HtmlNode | null;
  nextSibling: HtmlNode | null;
  firstChild: HtmlNode | null;
  childNodes: ArrayLike<HtmlNode>;
  textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): ArrayLike<HtmlNode>;
}

interface Rule {
  filter: string | string[] | ((node: HtmlNode) => boolean);
  replacement(content: string, node: HtmlNode): string;
}

type Plugin = (service: Converter) => void;

interface Converter {
  addRule(key: string, rule: Rule): Converter;
  use(plugins: Plugin[]): Converter;
  turndown(html: string): string;
}

export type ConverterClass = new (options: Record<string, string>) => Converter;

export interface GfmPlugins {
  strikethrough: Plugin;
  taskListItems: Plugin;
  highlightedCodeBlock: Plugin;
}

interface ConvertedHtml {
  title: string;
  markdown: string;
}

/** Throws RangeError for HTML that is nested too deeply to walk. */
export function convertHtml(
  Turndown: ConverterClass,
  gfm: GfmPlugins,
  html: string,
  address: string,
): ConvertedHtml {
  const dropped = [
    'audio',
    'canvas',
    'datalist',
    'embed',
    'iframe',
    'noscript',
    'object',
    'script',
    'select',
    'style',
    'svg',
    'template',
    'textarea',
    'video',
  ];
  const hiding =
    /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:;|$|!)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!))/i;
  let base = address;
  let title = '';

  const absolute = (given: string | null): string | undefined => {
    const text = (given ?? '').trim();
    if (text === '' || text.startsWith('#') || !URL.canParse(text, base)) return undefined;
    const url = new URL(text, base);
    if (url.protocol !== 'http:' && url.protocol !== 'https:' && url.protocol !== 'mailto:') return undefined;
    return url.href.replace(/[()]/g, (mark) => (mark === '(' ? '%28' : '%29'));
  };
  const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

  /** A table around tables lays a page out: its cells are blocks, not columns. */
  const layouts = new WeakMap<HtmlNode, boolean>();
  const tableOf = (node: HtmlNode): HtmlNode | undefined => {
    let up = node.parentNode;
    while (up !== null && up.nodeName !== 'TABLE') up = up.parentNode;
    return up ?? undefined;
  };
  const isLayout = (table: HtmlNode | undefined): boolean => {
    if (table === undefined) return true;
    let known = layouts.get(table);
    if (known === undefined) {
      known = table.getElementsByTagName('table').length > 0;
      layouts.set(table, known);
    }
    return known;
  };
  const started = new WeakSet<HtmlNode>();
  const numbers = new WeakMap<HtmlNode, number>();

  const rules: Record<string, Rule> = {
    listItem: {
      filter: 'li',
      replacement(content, node) {
        const list = node.parentNode;
        let prefix = '- ';
        if (list?.nodeName === 'OL') {
          const first = Number.parseInt(list.getAttribute('start') ?? '', 10);
          const number = numbers.get(list) ?? (Number.isNaN(first) ? 1 : first);
          numbers.set(list, number + 1);
          prefix = `${number}. `;
        }
        const text = content
          .replace(/^\n+/, '')
          .replace(/\s+$/, '')
          .replace(/^(\[[ x]\]) +/, '$1 ');
        const indented = text.replace(/\n/g, `\n${' '.repeat(prefix.length)}`);
        return `${prefix}${indented}${node.nextSibling === null ? '' : '\n'}`;
      },
    },
    pre: {
      filter: 'pre',
      replacement(_content, node) {
        const code = (node.textContent ?? '').replace(/\n$/, '');
        if (code.trim() === '') return '';
        const names = `${node.getAttribute('class') ?? ''} ${
          node.firstChild?.nodeName === 'CODE' ? (node.firstChild.getAttribute('class') ?? '') : ''
        }`;
        const language = /\b(?:language|lang|highlight-source)-([\w+#-]+)/.exec(names)?.[1] ?? '';
        const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
        const fence = '`'.repeat(longest + 1);
        return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
      },
    },
    link: {
      filter: 'a',
      replacement(content, node) {
        const text = oneLine(content);
        const href = absolute(node.getAttribute('href'));
        // A link around blocks would lose them as one line.
        if (href === undefined || text === '' || /\n\s*\n/.test(content.trim())) return content;
        return `[${text}](${href})`;
      },
    },
    image: {
      filter: 'img',
      replacement(_content, node) {
        const alt = oneLine(node.getAttribute('alt') ?? '').replace(/[[\]]/g, '\\$&');
        if (alt === '') return '';
        const src = absolute(node.getAttribute('src'));
        return src === undefined ? alt : `![${alt}](${src})`;
      },
    },
    cell: {
      filter: ['td', 'th'],
      replacement(content, node) {
        if (isLayout(tableOf(node))) return `\n\n${content}\n\n`;
        return ` ${oneLine(content).replace(/\|/g, '\\|')} |`;
      },
    },
    row: {
      filter: 'tr',
      replacement(content, node) {
        const table = tableOf(node);
        if (table === undefined || isLayout(table)) return `\n\n${content}\n\n`;
        const row = `\n|${content.replace(/\n/g, ' ')}`;
        if (started.has(table)) return row;
        started.add(table);
        const cells = Array.from(node.childNodes).filter(({ nodeName }) => /^T[DH]$/.test(nodeName)).length;
        return `${row}\n|${' --- |'.repeat(Math.max(1, cells))}`;
      },
    },
    tableParts: { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content },
    table: { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` },
    caption: { filter: 'caption', replacement: (content) => `${oneLine(content)}\n` },
    title: {
      filter: 'title',
      replacement(_content, node) {
        if (title === '') title = oneLine(node.textContent ?? '').slice(0, 300);
        return '';
      },
    },
    base: {
      filter: 'base',
      replacement(_content, node) {
        base = absolute(node.getAttribute('href')) ?? base;
        return '';
      },
    },
    dropped: { filter: dropped, replacement: () => '' },
    hidden: {
      filter: (node) =>
        node.getAttribute('hidden') !== null ||
        node.getAttribute('aria-hidden') === 'true' ||
        hiding.test(node.getAttribute('style') ?? ''),
      replacement: () => '',
    },
  };

  const service = new Turndown({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '_',
  });
  // Its tables are left out: they take quadratic time, minutes for ten thousand rows.
  service.use([gfm.strikethrough, gfm.taskListItems, gfm.highlightedCodeBlock]);
  for (const [name, rule] of Object.entries(rules)) service.addRule(name, rule);
  const markdown = service.turndown(html);
  return { title, markdown: markdown.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n') };
}
