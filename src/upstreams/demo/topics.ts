/** What a sentence is about when no single word says it: the query, the message, the command. */
import { POLITE_PREFIXES, PROGRAMS, WORD_PROGRAMS } from './vocabulary.js';
import { hasHan, isConceptWord, segment, setOf, stem } from './words.js';

const POLITE = new RegExp(
  `^(?:${[...POLITE_PREFIXES]
    .sort((a, b) => b.length - a.length)
    .join('|')
    .replaceAll("'", "['’]")})\\b[,:]?\\s*`,
  'i',
);

/** Words between the verb and its object. */
const SEARCH_OBJECT =
  /^(?:(?:the|on|in|my|a|an)\s+)*(?:web|internet|online|google|wikipedia|net|codebase|repo(?:sitory)?|project|code|docs?|documentation|database)(?:\s+search)?\b\s*/i;
const OBJECT_LINK =
  /^(?:up|out|for|about|on|of|that|to|regarding|me|information|info|articles?|results?|the\s+following|is|are)\b[:,]?\s*/i;

const SAID: readonly RegExp[] = [
  /\b(?:saying|that\s+says|which\s+says|with\s+(?:the\s+)?(?:content|contents|text|message|body|words?)|containing|(?:and|to)\s+say|reading)\b(?:\s+(?:of|that|is))?[:,]?\s+(.+)$/is,
  /(?:内容(?:为|是)?|写着|写上|写入内容|说|告诉(?:他|她|它|我|你)?|正文(?:为|是)?)[：:，,\s]*([\s\S]+)$/,
  /^[^:：\n]{3,120}(?:：\s*|:\s+)([\s\S]+)$/,
];

const TITLED: readonly RegExp[] = [
  /\b(?:titled|entitled|named|called|with\s+(?:the\s+)?(?:title|subject|name))\b[:,]?\s+("[^"]+"|'[^']+'|“[^”]+”)/is,
  /\b(?:titled|entitled|named|called|with\s+(?:the\s+)?(?:title|subject|name))\b[:,]?\s+(.+?)(?=\s+(?:with|and|in|to|for|at|that|saying|containing)\b|[,.;!?]|$)/is,
  /(?:标题|主题|名字|名称|名|叫)(?:为|是|叫)?[：:\s]*([^，,。；;\s]+)/,
];

const REPLACED: readonly RegExp[] = [
  /\b(?:replace|change|rename|substitute)\s+(.+?)\s+(?:with|to|by|into|for)\s+(.+?)(?=\s+(?:in|inside|within|of|on)\s+\S+|[,.;!?]?\s*$)/is,
  /(?:把|将)\s*(.+?)\s*(?:替换成|替换为|替换|改成|改为|换成)\s*(.+?)(?=[，,。；;]|$)/s,
];

const PROGRAM_NAMES = setOf(PROGRAMS);
const WORD_PROGRAM_NAMES = setOf(WORD_PROGRAMS);

const NO_WORDS: ReadonlySet<string> = new Set();

/** The sentence without politeness and without the words that name the tool. */
export function topicOf(text: string, toolWords = NO_WORDS): string {
  return hasHan(text) && !/^[\s"'“]*[A-Za-z]{2,}\s+[A-Za-z]{2,}/.test(text)
    ? chineseTopic(text)
    : englishTopic(text, toolWords);
}

/** "Use the echo tool to …". */
const USES_TOOL =
  /^(?:use|using|call|invoke)\s+(?:the\s+)?[\w-]+(?:\s+(?:tool|function))?\s+(?:to|and|with|for)\s+/i;
/** "a todo to buy bread", "an email about the trip": the noun is the tool's own. */
const OWN_OBJECT =
  /^(?:(?:a|an|the|my)\s+)?(?:new\s+)?([a-z]+)\s+(?:to|for|that|about|saying|of|with)\s+(?=\S)/i;

function englishTopic(text: string, toolWords: ReadonlySet<string>): string {
  let rest = withoutPoliteness(text).replace(USES_TOOL, '');
  const verb = /^(?:look(?:ing)?\s+up|[A-Za-z]+)/i.exec(rest)?.[0];
  const isVerb = verb !== undefined && (isConceptWord(verb.replace(/\s+/, '')) || toolWords.has(stem(verb)));
  if (isVerb && rest.length > verb.length) {
    rest = rest.slice(verb.length).trimStart();
    rest = rest.replace(SEARCH_OBJECT, '');
    const own = OWN_OBJECT.exec(rest);
    if (own?.[1] !== undefined && toolWords.has(stem(own[1]))) rest = rest.slice(own[0].length);
    for (;;) {
      const shorter = rest.replace(OBJECT_LINK, '');
      if (shorter === rest || shorter === '') break;
      rest = shorter;
    }
  }
  return trimmed(rest) || trimmed(text);
}

function chineseTopic(text: string): string {
  const parts = segment(text);
  let from = 0;
  for (const part of parts) {
    const isLead = part.kind === 'filler' || part.kind === 'concept' || part.kind === 'preposition';
    if (!isLead && part.text.trim() !== '') break;
    from = part.end;
  }
  let to = text.length;
  for (const part of parts.toReversed()) {
    const isTail = /^[吗嗎呢吧啊呀了。？！?!.，,\s]+$/.test(part.text);
    if (!isTail || part.start <= from) break;
    to = part.start;
  }
  return trimmed(text.slice(from, to)) || trimmed(text);
}

export function withoutPoliteness(text: string): string {
  let rest = text.trim();
  for (;;) {
    const shorter = rest.replace(POLITE, '').replace(/^(?:请|麻烦|帮我|帮忙|给我)+/, '');
    if (shorter === rest || shorter === '') return rest;
    rest = shorter;
  }
}

/** Without end punctuation, brackets and blanks around. */
export function trimmed(text: string): string {
  return text
    .trim()
    .replace(/[\s,.;:!?，。；：！？、]+$/u, '')
    .replace(/^[\s,;:，；：、]+/u, '')
    .replace(/\s+please$/i, '');
}

/** The first words of a text, as a title. */
export function headline(text: string): string {
  const plain = topicOf(
    text
      .replace(/<\/?[a-z][\w-]*>/gi, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  const words = plain.split(' ').slice(0, 8).join(' ');
  const short = trimmed(words.length > 60 ? words.slice(0, 60) : words).replace(/[\ud800-\udbff]$/, '');
  return short.charAt(0).toUpperCase() + short.slice(1);
}

/** "… saying hello there", 内容为…; undefined where nothing is quoted that way. */
export function saidIn(text: string): string | undefined {
  return firstGroup(text, SAID);
}

export function titledIn(text: string): string | undefined {
  return firstGroup(text, TITLED);
}

function firstGroup(text: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = trimmed(unquoted(pattern.exec(text)?.[1] ?? ''));
    if (found !== '') return found;
  }
  return undefined;
}

/** "replace A with B" → A, B. */
export function replacedIn(text: string): { from: string; to: string } | undefined {
  for (const pattern of REPLACED) {
    const [, from, to] = pattern.exec(text) ?? [];
    if (from !== undefined && to !== undefined)
      return { from: unquoted(from.trim()), to: unquoted(trimmed(to)) };
  }
  return undefined;
}

/** The shell command in "run npm test please"; undefined where none is named. */
export function commandIn(text: string): string | undefined {
  const plain = withoutPoliteness(text);
  if (beginsWithProgram(plain)) return trimmed(plain);
  const behind =
    /\b(?:run|execute|exec)\b(?:\s+(?:the\s+)?(?:shell\s+|bash\s+)?(?:command|script))?[:：]?\s+(.+)$/is.exec(
      plain,
    )?.[1] ?? /(?:运行|执行)(?:一下)?(?:命令)?[:：]?\s*(.+)$/s.exec(plain)?.[1];
  if (behind === undefined) return undefined;
  const command = trimmed(
    unquoted(behind.replace(/\s+(?:in|using|with)\s+(?:the\s+)?(?:shell|bash|terminal)\b.*$/is, '')).replace(
      /(?:命令|指令)$/,
      '',
    ),
  );
  // "run the tests" names no command.
  return command === '' || /^(?:the|a|an|my|all|it|this|that|一下)\b/i.test(command) ? undefined : command;
}

export function beginsWithProgram(text: string): boolean {
  const [, program = '', rest = ''] = /^([\w.-]+)(.*)/s.exec(withoutPoliteness(text)) ?? [];
  if (PROGRAM_NAMES.has(program)) return true;
  return WORD_PROGRAM_NAMES.has(program) && /^\s+(?:-|\.{0,2}\/|~|\*)/.test(rest);
}

const QUOTE_PAIRS: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['‘', '’'],
  ['「', '」'],
];

export function unquoted(text: string): string {
  const plain = text.trim();
  for (const [open, close] of QUOTE_PAIRS) {
    if (plain.length > 2 && plain.startsWith(open) && plain.endsWith(close)) return plain.slice(1, -1);
  }
  return plain;
}
