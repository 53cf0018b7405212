/** Results out of a provider's JSON, which is not trusted to have any shape. */
import { isObject } from '../../../core/is-object.js';
import { ToolError } from '../../runtime/tool.js';
import type { SearchHit } from './provider.js';

const LONGEST = { title: 300, snippet: 2000, url: 2048 };

interface HitFields {
  title: string;
  url: string;
  snippet: string;
}

/** `path`: where the list is in the answer. Entries without a usable address are passed over. */
export function readHits(
  answer: unknown,
  path: readonly string[],
  fields: HitFields,
  provider: string,
): SearchHit[] {
  const list = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), answer);
  // Without any results the list may be missing, but the answer is still an object.
  if (list === undefined && isObject(answer)) return [];
  if (!Array.isArray(list)) {
    throw new ToolError(
      `The search failed: ${provider} answered in a form that is not known. The operator must check tools.web_search.`,
    );
  }
  return list.flatMap((entry: unknown) => {
    if (!isObject(entry)) return [];
    const url = entry[fields.url];
    if (typeof url !== 'string' || url.length > LONGEST.url || !/^https?:\/\//i.test(url)) return [];
    if (!URL.canParse(url)) return [];
    const title = plain(entry[fields.title], LONGEST.title);
    return [
      { title: title === '' ? url : title, url, snippet: plain(entry[fields.snippet], LONGEST.snippet) },
    ];
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  '#39': "'",
  '#x27': "'",
};

/** One line of text: providers mark the words that matched with tags. */
function plain(value: unknown, limit: number): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, limit * 2)
    .replace(/<\/?(?:strong|b|em|i|mark|span|br)\b[^<>]{0,200}>/gi, '')
    .replace(/&([a-z]{2,5}|#39|#x27);/gi, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, limit);
}
