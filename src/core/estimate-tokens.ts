/**
 * An estimate of the tokens of a request, for context meters and `count_tokens` where the upstream
 * cannot be asked. It leans to the high side: a client that believes too small a number compacts
 * its conversation too late. The request path pays for it, so long texts are sampled and JSON is
 * walked as it is instead of being written out.
 *
 * The weights were fitted to the byte-pair vocabulary o200k_base on English prose, code in several
 * languages, JSON, logs, base64 and prose in Chinese and nine other languages, and raised by some
 * six per cent. Chinese and Japanese lie between the vocabularies in use (0.6 to 1.1 a character).
 */
import type {
  Block,
  ConversationRequest,
  DocumentBlock,
  JsonObject,
  MediaSource,
  Message,
  ToolDefinition,
} from './conversation.js';
import { imageSize } from './image-size.js';
import { Memo } from './shared-values.js';
import { shownTools } from './tool-references.js';

/** Weights are hundredths of a token. */
const UNIT = 100;

const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const MARK = 5;
const OTHER = 6;

/** What a character (column) adds after another (row): a token begins where the kind changes. */
const ASCII_WEIGHTS: readonly (readonly number[])[] = [
  // LOWER, UPPER, DIGIT, SPACE, NEWLINE, MARK
  [12, 95, 113, 10, 89, 54],
  [12, 45, 138, 2, 80, 20],
  [89, 138, 35, 13, 27, 100],
  [64, 10, 121, 3, 42, 102],
  [55, 77, 76, 59, 12, 50],
  [85, 78, 99, 29, 14, 24],
  [61, 72, 80, 4, 30, 20],
];

/** Characters beyond ASCII, by the first range whose end they do not exceed. Ranges are whole rows of 16. */
const WIDE_WEIGHTS: readonly { to: number; weight: number; next: number }[] = [
  { to: 0x24f, weight: 138, next: LOWER }, // accented Latin: splits the word it stands in
  { to: 0x36f, weight: 100, next: OTHER },
  { to: 0x52f, weight: 38, next: OTHER }, // Greek, Cyrillic
  { to: 0x1fff, weight: 56, next: OTHER }, // Hebrew, Arabic, Indic, Thai …
  { to: 0x24ff, weight: 80, next: OTHER }, // dashes, quotes, arrows, mathematics
  { to: 0x259f, weight: 38, next: OTHER }, // box drawing, in runs
  { to: 0x303f, weight: 80, next: OTHER }, // symbols, CJK punctuation
  { to: 0x33ff, weight: 90, next: OTHER }, // kana
  { to: 0x9fff, weight: 94, next: OTHER }, // Han
  { to: 0xd7ff, weight: 90, next: OTHER }, // Hangul
  { to: 0xdfff, weight: 110, next: OTHER }, // half a surrogate pair: emoji, rare Han
  { to: 0xffff, weight: 90, next: OTHER },
];

/**
 * Reading a character costs nanoseconds, and a request has 50,000 of them. So `whole` characters
 * are read one by one, the next texts in windows that lie close, all others in windows far apart.
 * What a window misses averages out over the many of a long request.
 */
const SAMPLING = { whole: 1_200, close: 800, closeStride: 128, farStride: 640, maxWindows: 1_024 } as const;
const WINDOW = 24;
/** The window of a text up to `SHORT`, once the budget is spent: there are hundreds of them in schemas. */
const SHORT_WINDOW = 12;
const SHORT = 160;
/** A text that is estimated alone is read whole up to here. */
const WHOLE_TEXT = 8_000;

/** Deeper JSON is not counted: no schema is, and the stack is not the client's to use up. */
const MAX_DEPTH = 48;

/** What the upstream's own template adds, in tokens. */
const OVERHEAD = {
  request: 4,
  message: 4,
  block: 1,
  toolUse: 10,
  toolResult: 8,
  toolDefinition: 9,
  toolsPreamble: 24,
} as const;

/** Images cost by area, after the provider has scaled them down. */
const IMAGE = { pixelsPerToken: 750, longestEdge: 1568, min: 85, unknown: 1600 } as const;

/** A page of a PDF is sent as its text and its picture, and takes some 35 KB of file. */
const DOCUMENT = { bytesPerToken: 18, min: 1500, max: 300_000 } as const;

const CLASS_OF = new Uint8Array(128).fill(MARK);
for (let code = 97; code <= 122; code++) CLASS_OF[code] = LOWER;
for (let code = 65; code <= 90; code++) CLASS_OF[code] = UPPER;
for (let code = 48; code <= 57; code++) CLASS_OF[code] = DIGIT;
CLASS_OF[32] = SPACE;
CLASS_OF[9] = SPACE;
CLASS_OF[10] = NEWLINE;
CLASS_OF[13] = NEWLINE;

const COST = new Uint8Array(64);
for (const [row, weights] of ASCII_WEIGHTS.entries()) COST.set(weights, row << 3);

const WIDE_COST = new Uint8Array(0x1000);
const WIDE_NEXT = new Uint8Array(0x1000);
for (let row = WIDE_WEIGHTS.length - 1; row >= 0; row--) {
  const range = WIDE_WEIGHTS[row];
  if (range === undefined) continue;
  WIDE_COST.fill(range.weight, 0, (range.to + 1) >> 4);
  WIDE_NEXT.fill(range.next, 0, (range.to + 1) >> 4);
}

/** Tokens of a text alone; 0 for none. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(textWeight(text, { whole: WHOLE_TEXT, close: Number.POSITIVE_INFINITY }) / UNIT);
}

/** Tokens of the whole prompt: system, messages, tools, output format. */
export function estimateRequestTokens(request: ConversationRequest): number {
  const sampling: Sampling = { whole: SAMPLING.whole, close: SAMPLING.close };
  let weight = OVERHEAD.request * UNIT;
  if (request.system.length > 0) weight += OVERHEAD.message * UNIT;
  for (const block of request.system) weight += textWeight(block.text, sampling);
  for (const message of request.messages) {
    weight += sampling.close > 0 ? messageWeight(message, sampling) : laterWeight(message);
  }
  if (request.tools.length > 0) weight += OVERHEAD.toolsPreamble * UNIT;
  for (const tool of shownTools(request)) weight += toolWeight(tool, sampling);
  for (const tool of request.providerTools)
    weight += OVERHEAD.toolDefinition * UNIT + jsonWeight(tool.value, 0, sampling);
  if (request.format?.type === 'json_schema') weight += jsonWeight(request.format.schema, 0, sampling);
  return Math.ceil(weight / UNIT);
}

/** Tokens that the definitions of tools take in every prompt. */
export function estimateToolTokens(tools: readonly ToolDefinition[]): number {
  const sampling: Sampling = { whole: SAMPLING.whole, close: SAMPLING.close };
  let weight = OVERHEAD.toolsPreamble * UNIT;
  for (const tool of tools) weight += toolWeight(tool, sampling);
  return Math.ceil(weight / UNIT);
}

function messageWeight({ content }: Message, sampling: Sampling): number {
  let weight = OVERHEAD.message * UNIT;
  for (const block of content) weight += blockWeight(block, sampling);
  return weight;
}

const laterWeights = new Memo<Message, { weight: number }>({ last: true });

/** Behind what is read closely: the same whatever came before it, so that a history is weighed once. */
function laterWeight(message: Message): number {
  const known = laterWeights.get(message);
  if (known !== undefined) return known.weight;
  return laterWeights.keep(message, { weight: messageWeight(message, { whole: 0, close: 0 }) }).weight;
}

function blockWeight(block: Block, sampling: Sampling): number {
  const own = OVERHEAD.block * UNIT;
  switch (block.type) {
    case 'text':
      return own + textWeight(block.text, sampling);
    case 'thinking':
      return own + textWeight(block.thinking, sampling);
    case 'redacted_thinking':
      return own + textWeight(block.data, sampling);
    case 'image':
      return own + imageTokens(block.source) * UNIT;
    case 'document':
      return own + documentWeight(block, sampling);
    case 'tool_use':
      return (
        OVERHEAD.toolUse * UNIT + textWeight(block.name, sampling) + jsonWeight(block.input, 0, sampling)
      );
    case 'tool_result': {
      let weight = OVERHEAD.toolResult * UNIT;
      for (const part of block.content) weight += blockWeight(part, sampling);
      return weight;
    }
    case 'opaque':
      return own + jsonWeight(block.value, 0, sampling);
  }
}

function toolWeight(tool: ToolDefinition, sampling: Sampling): number {
  let weight = OVERHEAD.toolDefinition * UNIT + textWeight(tool.name, sampling);
  if (tool.description !== undefined) weight += textWeight(tool.description, sampling);
  if (tool.inputSchema !== undefined) weight += jsonWeight(tool.inputSchema, 0, sampling);
  return weight;
}

function imageTokens(source: MediaSource): number {
  if (source.type !== 'base64') return IMAGE.unknown;
  const size = imageSize(source.data);
  if (size === undefined) return IMAGE.unknown;
  const scale = Math.min(1, IMAGE.longestEdge / Math.max(size.width, size.height));
  const tokens = Math.ceil((size.width * scale * size.height * scale) / IMAGE.pixelsPerToken);
  return Math.min(IMAGE.unknown, Math.max(IMAGE.min, tokens));
}

function documentWeight(block: DocumentBlock, sampling: Sampling): number {
  const title = block.title === undefined ? 0 : textWeight(block.title, sampling);
  const { source } = block;
  if (source.type === 'text') return title + textWeight(source.data, sampling);
  if (source.type !== 'base64') return title + DOCUMENT.min * UNIT;
  const bytes = source.data.length * 0.75;
  const bytesPerToken = source.mediaType.startsWith('text/') ? 3.5 : DOCUMENT.bytesPerToken;
  const min = source.mediaType.startsWith('text/') ? 0 : DOCUMENT.min;
  return title + Math.min(DOCUMENT.max, Math.max(min, bytes / bytesPerToken)) * UNIT;
}

/** As compact JSON: a key costs its text and `":"`, a value its text and `,`. */
function jsonWeight(value: unknown, depth: number, sampling: Sampling): number {
  switch (typeof value) {
    case 'string':
      return value.length <= SHORT_WINDOW ? wordWeight(value) : textWeight(value, sampling);
    case 'number':
      return Number.isInteger(value) && value < 1000 && value > -1000 ? UNIT : 3 * UNIT;
    case 'boolean':
      return UNIT;
    case 'object':
      if (value === null) return UNIT;
      if (depth >= MAX_DEPTH) return UNIT;
      if (isFields(value)) return objectWeight(value, depth, sampling);
      return Array.isArray(value) ? arrayWeight(value, depth, sampling) : 0;
    default:
      return 0;
  }
}

function isFields(value: object): value is JsonObject {
  return !Array.isArray(value);
}

function arrayWeight(items: readonly unknown[], depth: number, sampling: Sampling): number {
  let weight = UNIT;
  for (const item of items) weight += UNIT + jsonWeight(item, depth + 1, sampling);
  return weight;
}

/** Keys and short values are of one kind, so their length says enough. */
function wordWeight(word: string): number {
  return 55 + 11 * word.length;
}

function objectWeight(fields: JsonObject, depth: number, sampling: Sampling): number {
  let weight = UNIT;
  for (const key in fields)
    weight += 2 * UNIT + wordWeight(key) + jsonWeight(fields[key], depth + 1, sampling);
  return weight;
}

/** How many characters may still be read one by one, and then in close windows. */
interface Sampling {
  whole: number;
  close: number;
}

function textWeight(text: string, sampling: Sampling): number {
  const length = text.length;
  if (length <= sampling.whole || length <= SHORT_WINDOW) {
    sampling.whole -= length;
    return rangeWeight(text, 0, length);
  }
  const isClose = sampling.close > 0;
  const window = isClose || length > SHORT ? Math.min(WINDOW, length) : SHORT_WINDOW;
  const spacing = isClose ? SAMPLING.closeStride : SAMPLING.farStride;
  const windows = Math.min(SAMPLING.maxWindows, Math.ceil(length / spacing));
  sampling.close -= windows * window;
  const stride = (length - window) / windows;
  let weight = 0;
  for (let index = 0; index < windows; index++) {
    const from = Math.floor((index + 0.5) * stride);
    weight += rangeWeight(text, from, from + window);
  }
  return (weight / (windows * window)) * length;
}

function rangeWeight(text: string, from: number, to: number): number {
  let before = NEWLINE;
  if (from > 0) {
    const code = text.charCodeAt(from - 1);
    before = (code < 128 ? CLASS_OF[code] : WIDE_NEXT[code >> 4]) ?? OTHER;
  }
  let weight = 0;
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index);
    if (code < 128) {
      const kind = CLASS_OF[code] ?? MARK;
      weight += COST[(before << 3) | kind] ?? 0;
      before = kind;
    } else {
      weight += WIDE_COST[code >> 4] ?? 0;
      before = WIDE_NEXT[code >> 4] ?? OTHER;
    }
  }
  return weight;
}
