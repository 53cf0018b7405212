/** What the demo model says: from tool results where there are any, honestly nothing much otherwise. */
import type { ConversationRequest } from '../../core/conversation.js';
import { findExpressions, formatNumber } from './expression.js';
import { PHRASES_OF, type Phrases } from './phrases.js';
import type { Exchange, Situation } from './read-conversation.js';
import { describeMedia, summarise } from './results.js';
import { isShallow } from './schema.js';
import { featuresOf, isConceptWord, isStopWord, segment, splitIdentifier } from './words.js';

const MAX_SUBJECT = 120;

export function answerFromResults({ exchanges, language }: Situation): string {
  const phrases = PHRASES_OF[language];
  const lines = exchanges.map((exchange) => answerLine(exchange, phrases));
  return lines.length === 1 ? (lines[0] ?? '') : lines.map((line) => `- ${line}`).join('\n');
}

function answerLine({ name, input, result }: Exchange, phrases: Phrases): string {
  const subject = subjectOf(input);
  const { text, isError } = summarise(result, phrases);
  if (isError) return phrases.failed(name, subject, text);
  const isLine = !text.includes('\n') && text.length <= 200;
  const about = featuresOf(splitIdentifier(name).join(' '));
  if (subject !== '' && isLine && (about.get('calculate') === 1 || 'expression' in input)) {
    return phrases.calculated(subject, text.replace(/[.。]$/, ''));
  }
  const [place] = Object.values(input).filter((value) => typeof value === 'string');
  if (place !== undefined && isLine && about.get('weather') === 1)
    return phrases.weather(place.slice(0, MAX_SUBJECT), text);
  return phrases.returned(name, subject, text.includes('\n') ? `\n${text}` : text).replace(/ \n/, '\n');
}

/** The values of the call, short: "123 + 456", "Paris, celsius". */
function subjectOf(input: Exchange['input']): string {
  const values = Object.values(input)
    .filter((value) => value !== null && value !== undefined && value !== '')
    .map((value) => (typeof value === 'object' ? compact(value) : String(value)).replace(/\s+/g, ' '));
  const text = values.join(', ');
  return text.length > MAX_SUBJECT ? `${text.slice(0, MAX_SUBJECT).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

function compact(value: unknown): string {
  return isShallow(value) ? JSON.stringify(value) : '…';
}

export function answerWithoutTools(situation: Situation, request: ConversationRequest): string {
  const phrases = PHRASES_OF[situation.language];
  const sum = directArithmetic(situation.words);
  if (sum !== undefined) return phrases.arithmetic(sum.text, sum.value);
  const parts: string[] = [];
  if (isGreeting(situation.words)) parts.push(phrases.greeting);
  if (situation.media.length > 0) {
    parts.push(
      phrases.received(situation.media.map((block) => describeMedia(block, phrases)).join(phrases.join)),
    );
  }
  parts.push(phrases.honest);
  if (request.tools.length > 0 && request.toolChoice?.type !== 'none')
    parts.push(phrases.noTool(request.tools.length));
  if (request.serverTools.length > 0) {
    parts.push(phrases.serverTools(request.serverTools.map((tool) => tool.name).join(', ')));
  }
  parts.push(phrases.connect);
  return parts.join(situation.language === 'zh' ? '' : ' ');
}

const GREETING =
  /^\s*(?:hi|hello|hey|good\s+(?:morning|afternoon|evening)|greetings|howdy|你好|您好|嗨|哈喽|早上好|下午好|晚上好)(?![\p{L}])/iu;

function isGreeting(words: string): boolean {
  return GREETING.test(words) || /^(?:你好|您好|早上好|下午好|晚上好)/.test(words.trim());
}

export interface Computed {
  text: string;
  /** Undefined where there is no finite one. */
  value: string | undefined;
  number: number;
}

/** The one expression that a message asks for; undefined where it speaks of anything else. */
export function directArithmetic(words: string): Computed | undefined {
  const found = findExpressions(words);
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  const around = `${words.slice(0, only.start)} ${words.slice(only.end)}`;
  for (const match of around.matchAll(/[A-Za-z]+|\p{Script=Han}+|\d+/gu)) {
    if (!isAroundArithmetic(match[0])) return undefined;
  }
  const value = Number.isFinite(only.value) ? formatNumber(only.value) : undefined;
  return { text: only.text, value, number: only.value };
}

function isAroundArithmetic(word: string): boolean {
  if (/^\d/.test(word)) return false;
  if (/^[A-Za-z]/.test(word))
    return isStopWord(word) || /^(?:equals?|result|value|s)$/i.test(word) || isMath(word);
  return segment(word).every(
    ({ kind, text }) => kind === 'filler' || isMath(text) || /^(?:等于|结果|等|于|多少)+$/.test(text),
  );
}

function isMath(word: string): boolean {
  return isConceptWord(word) && featuresOf(word).get('calculate') === 1;
}
