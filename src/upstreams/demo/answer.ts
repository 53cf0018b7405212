/** What the demo model says: from tool results where there are any, honestly nothing much otherwise. */
import type { Block, ConversationRequest, JsonObject, ToolResultBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { type Expression, findExpressions, formatNumber } from './arithmetic.js';
import { askOf, fillArguments } from './fill-arguments.js';
import { isShallow } from './schema.js';
import { featuresOf, hanChunks, headline, isStopWord, languageOf } from './words.js';

/** Every sentence, in both languages; `{}` are filled in order. */
const PHRASES = {
  honest: [
    'No model is connected: this is the demo model built into the gateway. It works by fixed rules: it can call the tools that you offer, read their results and do arithmetic, and it cannot answer this.',
    '当前没有连接任何模型：这是网关内置的演示模型，只按固定规则工作。它可以调用你提供的工具、读取工具结果、做算术，但无法回答这个问题。',
  ],
  connect: [
    ' To connect a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY and start the gateway again, run `toolgate init` to write a configuration, or point `upstreams.local` in toolgate.yaml at a local server such as Ollama (http://127.0.0.1:11434/v1).',
    '要连接真正的模型：设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY 后重新启动网关，或运行 `toolgate init` 生成配置文件，或把 toolgate.yaml 里的 `upstreams.local` 指向本地服务，例如 Ollama（http://127.0.0.1:11434/v1）。',
  ],
  noTool: [' None of the tools on offer ({}) fits this request.', '所提供的工具（{} 个）都不适合这个请求。'],
  arithmetic: ['{} = {}', '{} 等于 {}。'],
  calculated: ['The result of {} is {}.', '{} 的结果是 {}。'],
  returned: ['{} returned: {}', '{}返回：{}'],
  failed: ['{} failed: {}', '{}出错：{}'],
  call: ['{} ({})', '{}（{}）'],
  join: [' and ', '，以及'],
  nothing: ['nothing', '没有内容'],
  inAll: ['{}… ({} characters in all)', '{}…（共 {} 个字符）'],
  noValue: ['{} has no value.', '{} 没有确定的值。'],
} as const satisfies Record<string, readonly [en: string, zh: string]>;

type Say = (name: keyof typeof PHRASES, ...values: readonly (string | number)[]) => string;

/** A call with its result. */
interface Exchange {
  name: string;
  input: JsonObject;
  result: ToolResultBlock;
}

/** What the conversation comes to. */
export interface Situation {
  request: ConversationRequest;
  /** What the user said last, in their own words; empty where they said nothing. */
  words: string;
  /** In the user's language. */
  say: Say;
  /** The calls since then that have results. */
  exchanges: readonly Exchange[];
}

/** What clients put between a user's words. */
const CLIENT_TAGS =
  'system-reminder local-command-stdout local-command-stderr local-command-caveat command-name command-message ide_opened_file ide_selection task-notification user-prompt-submit-hook environment_context user_instructions';

function ownWords(content: readonly Block[]): string {
  let words = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  for (const tag of CLIENT_TAGS.split(' ')) {
    const [before = '', ...opened] = words.split(`<${tag}`);
    const after = opened.map((text) => {
      const close = text.indexOf(`</${tag}>`);
      return close < 0 ? `<${tag}${text}` : text.slice(close + tag.length + 3);
    });
    words = before + after.join('');
  }
  return words.trim();
}

/** Longer messages are read at both ends: people put the question before or after what they paste. */
const READ = { head: 1_500, tail: 500 } as const;
const MAX_EXCHANGES = 64;

export function readConversation(request: ConversationRequest): Situation {
  const { messages } = request;
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && ownWords(content) !== '');
  const { content = [] } = messages[at] ?? messages.findLast(({ role }) => role === 'user') ?? {};
  const said = ownWords(content);
  const isLong = said.length > READ.head + READ.tail;
  const words = isLong ? `${said.slice(0, READ.head)}\n${said.slice(-READ.tail)}` : said;
  const column = languageOf(words) === 'en' ? 0 : 1;
  const calls = messages.flatMap((message) => message.content.filter((block) => block.type === 'tool_use'));
  const results = messages
    .slice(Math.max(0, at))
    .flatMap((message) => message.content.filter((block) => block.type === 'tool_result'));
  return {
    request,
    words,
    say: (name, ...values) => {
      const rest = values.values();
      return PHRASES[name][column].replaceAll('{}', () => String(rest.next().value));
    },
    exchanges: results.slice(-MAX_EXCHANGES).map((result) => {
      const { name = 'tool', input = {} } = calls.findLast(({ id }) => id === result.toolUseId) ?? {};
      return { name, input, result };
    }),
  };
}

const TITLE =
  /\b(?:generate|write|create)\b[^.\n]{0,80}\btitle\b|summari[sz]e\s+this\s+(?:coding\s+)?conversation\s+in\s+under|(?:生成|写|起)[^。\n]{0,12}标题/i;
const SUMMARY =
  /\bcreate\s+a\s+(?:detailed\s+)?summary\s+of\b|^summari[sz]e\s+(?:the|our|this)\s+conversation/i;

/** What clients ask on the side, without their user, calls no tool: what to type next, a title, a summary. */
export function answerAside({ request, words, say }: Situation): string | undefined {
  if (words.startsWith('[SUGGESTION MODE')) return '';
  if (SUMMARY.test(words)) return say('honest');
  const prompt = [...request.system.map(({ text }) => text), words.slice(0, 300)].join('\n');
  if (request.tools.length > 0 || !TITLE.test(prompt)) return undefined;
  const subject = TITLE.test(words) ? words.replace(/^[^:：]*[:：]\s*(?:user:\s*)?/i, '') : words;
  return /json/i.test(prompt) ? JSON.stringify({ title: headline(subject) }) : headline(subject);
}

/** The answer where no tool is called. */
export function answer(situation: Situation): string {
  const { request, words, exchanges } = situation;
  const { format } = request;
  if (format?.type === 'json_schema') {
    const { input } = fillArguments(format.schema, askOf(words), format.name ?? '');
    return JSON.stringify(input) ?? 'null';
  }
  const text =
    answerAside(situation) ?? (exchanges.length > 0 ? fromResults(situation) : withoutTools(situation));
  return format === undefined || isObject(parsed(text)) ? text : JSON.stringify({ answer: text });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fromResults({ exchanges, say }: Situation): string {
  const lines = exchanges.map(({ name, input, result }) => {
    const subject = subjectOf(input);
    const text = summarise(result, say);
    const call = subject === '' ? name : say('call', name, subject);
    if (result.isError || /^(?:error|exception|fatal|错误|失败)\b/i.test(text))
      return say('failed', call, text);
    const isSum = featuresOf([name, ...Object.keys(input)].join(' ')).get('calculate') === 1;
    if (isSum && subject !== '' && !text.includes('\n')) return say('calculated', subject, text);
    return say('returned', call, text.includes('\n') ? `\n${text}` : text);
  });
  return lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join('\n');
}

/** Never half of a surrogate pair. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** The values of the call, short: "123 + 456", "Paris, celsius". */
function subjectOf(input: JsonObject): string {
  const values = Object.values(input).filter((value) => value !== null && value !== '' && isShallow(value));
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const text = texts.join(', ').replace(/\s+/g, ' ');
  return text.length > 120 ? `${cut(text, 120)}…` : text;
}

const LIMITS = { characters: 600, lines: 12 } as const;

/** A result in few words: long texts cut, pictures named, the one value of an object taken out. */
function summarise({ content }: ToolResultBlock, say: Say): string {
  const parts = content.map((block) => {
    if (block.type !== 'text') return block.type === 'opaque' ? block.kind : block.type;
    const text = block.text.trim();
    const value = /^\{[^{[]{1,600}\}$/.test(text) ? parsed(text) : undefined;
    const [only, ...more] = isObject(value) ? Object.values(value) : [];
    if (only !== undefined && more.length === 0) return String(only);
    const start = cut(text.split('\n', LIMITS.lines).join('\n'), LIMITS.characters);
    return start === text ? text : say('inAll', start, text.length);
  });
  return parts.filter((part) => part !== '').join(say('join')) || say('nothing');
}

function withoutTools({ request, words, say }: Situation): string {
  const sum = onlyExpression(words);
  if (sum !== undefined && !Number.isFinite(sum.value)) return say('noValue', sum.text);
  if (sum !== undefined) return say('arithmetic', sum.text, formatNumber(sum.value));
  const offered = request.toolChoice?.type === 'none' ? 0 : request.tools.length;
  return say('honest') + (offered > 0 ? say('noTool', offered) : '') + say('connect');
}

/** Where the words ask for one expression, and speak of nothing else. */
function onlyExpression(words: string): Expression | undefined {
  const [only, ...more] = findExpressions(words);
  if (only === undefined || more.length > 0) return undefined;
  const around = `${words.slice(0, only.start)} ${words.slice(only.end)}`;
  const others = around.match(/[A-Za-z]+|\d+/g)?.filter((word) => !isStopWord(word)) ?? [];
  const isOfSums = others.every((word) => featuresOf(word).get('calculate') === 1);
  return isOfSums && hanChunks(around).length === 0 ? only : undefined;
}
