/**
 * The one place where results are cut to what a model can take. A text that is too long keeps its
 * head and its tail; the whole is in a private file of the session that the model can Read.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaSource, TextBlock, ToolResultContent } from '../../core/conversation.js';
import { cleanText, headOf, tailOf, toLineEnd, toLineStart } from './clean-text.js';
import type { RuntimeLog } from './runtime.js';

export const RESULT_LIMITS = {
  /** Characters of text, all blocks together. */
  chars: 30_000,
  images: 20,
  documents: 5,
  /** Of one image or document, as base64. */
  mediaChars: 8 * 1024 * 1024,
  /** Of all of them. */
  totalMediaChars: 24 * 1024 * 1024,
} as const;

/** Of what is kept, the part that stands at the start: the rest is the end, where errors are. */
const HEAD_SHARE = 0.6;
/** A cut moves this far at most to fall between two lines. */
const LINE_SLACK = 200;
/** Kept free for the line that says what was left out. */
const NOTE_ROOM = 500;

const NO_OUTPUT = '(no output)';

interface BoundOptions {
  /** Characters; by default those of the table. */
  limit?: number;
  /** The session's private folder. */
  scratch: () => Promise<string>;
  /** Names the file. */
  tool: string;
  log: RuntimeLog;
}

export async function boundResult(
  content: string | readonly ToolResultContent[],
  options: BoundOptions,
): Promise<ToolResultContent[]> {
  const blocks = typeof content === 'string' ? [textBlock(content)] : content;
  const cleaned = blocks.map((block) =>
    block.type === 'text' ? { ...block, text: cleanText(block.text) } : block,
  );
  const kept = boundMedia(cleaned.filter((block) => block.type !== 'text' || block.text !== ''));
  const bounded = await boundText(kept, options);
  return bounded.length === 0 ? [textBlock(NO_OUTPUT)] : bounded;
}

async function boundText(
  blocks: readonly ToolResultContent[],
  options: BoundOptions,
): Promise<ToolResultContent[]> {
  const limit = options.limit ?? RESULT_LIMITS.chars;
  const texts = blocks.filter((block) => block.type === 'text');
  const total = texts.reduce((sum, { text }) => sum + text.length, 0);
  if (total <= limit) return [...blocks];
  const whole = texts.map(({ text }) => text).join('\n');
  const path = await keepWhole(whole, options);
  const bounded = textBlock(cutMiddle(whole, limit, path));
  const first = texts[0];
  return blocks.flatMap((block): ToolResultContent[] => {
    if (block === first) return [bounded];
    return block.type === 'text' ? [] : [block];
  });
}

/** At most `limit` characters, the line about what was left out included. */
export function cutMiddle(text: string, limit: number, path: string | undefined): string {
  const room = Math.max(0, limit - NOTE_ROOM);
  const head = toLineEnd(headOf(text, Math.ceil(room * HEAD_SHARE)), LINE_SLACK);
  const tail = toLineStart(tailOf(text, room - Math.ceil(room * HEAD_SHARE)), LINE_SLACK);
  const omitted = text.slice(head.length, text.length - tail.length);
  const lines = countLines(omitted);
  const where =
    path === undefined
      ? 'The whole text could not be kept: ask for less.'
      : `The whole text is in ${path}: Read it with offset and limit, or Grep it.`;
  const note = `[${omitted.length} of ${text.length} characters left out here, ${lines} ${lines === 1 ? 'line' : 'lines'}. ${where}]`;
  const join = (part: string): string => (part === '' || part.endsWith('\n') ? part : `${part}\n`);
  return `${join(head)}\n${note}\n\n${tail}`;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text.endsWith('\n') ? lines : lines + 1;
}

/** A full disk must not cost the model the part that it can have. */
async function keepWhole(text: string, { scratch, tool, log }: BoundOptions): Promise<string | undefined> {
  try {
    const name = `${tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)}-${randomBytes(6).toString('hex')}.txt`;
    const path = join(await scratch(), name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    return path;
  } catch (error) {
    log.warn({ err: error, tool }, 'a long result could not be kept whole');
    return undefined;
  }
}

function boundMedia(blocks: readonly ToolResultContent[]): ToolResultContent[] {
  const counts = { image: 0, document: 0 };
  const most = { image: RESULT_LIMITS.images, document: RESULT_LIMITS.documents };
  let total = 0;
  return blocks.map((block) => {
    if (block.type !== 'image' && block.type !== 'document') return block;
    const size = sizeOf(block.source);
    if (size > RESULT_LIMITS.mediaChars) {
      return textBlock(
        `[${describe(block)} left out: ${megabytes(size)} MB, the limit is ${megabytes(RESULT_LIMITS.mediaChars)} MB.]`,
      );
    }
    if (counts[block.type] >= most[block.type]) {
      return textBlock(`[${describe(block)} left out: a result holds at most ${most[block.type]} of them.]`);
    }
    if (total + size > RESULT_LIMITS.totalMediaChars) {
      return textBlock(
        `[${describe(block)} left out: all media of a result hold at most ${megabytes(RESULT_LIMITS.totalMediaChars)} MB.]`,
      );
    }
    counts[block.type] += 1;
    total += size;
    return block;
  });
}

function describe(block: { type: 'image' | 'document'; title?: string }): string {
  return block.title === undefined ? `One ${block.type}` : `The ${block.type} ${block.title}`;
}

function sizeOf(source: MediaSource): number {
  return source.type === 'base64' || source.type === 'text' ? source.data.length : 0;
}

function megabytes(chars: number): string {
  return (chars / (1024 * 1024)).toFixed(1).replace(/\.0$/, '');
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}
