/** The items that a conversation of `/v1/responses` is made of. */
import type { JsonObject } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';

/** `input` as items: a text is one message. */
export function itemsOf(input: unknown): JsonObject[] {
  if (Array.isArray(input)) return input.filter(isObject);
  if (typeof input !== 'string' || input === '') return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

export function outputItems({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** Without what is kept for the gateway's own use. */
export function withoutEncrypted(item: JsonObject): JsonObject {
  if (item['type'] !== 'reasoning') return item;
  const { encrypted_content: _kept, ...rest } = item;
  return rest;
}

/** Not encrypted: it says what the conversation said, to who has it already. The prefix tells it from a provider's. */
const OWN_SUMMARY = 'tg1.';

/** A summary of what was said, as an item that stands for it. */
export function sealSummary(summary: string): JsonObject {
  return {
    type: 'compaction',
    encrypted_content: `${OWN_SUMMARY}${Buffer.from(summary).toString('base64url')}`,
  };
}

/** `items` with the gateway's own summaries as messages, which every upstream can read; undefined where there is none. */
export function openSummaries(items: readonly unknown[]): unknown[] | undefined {
  if (!items.some((item) => summaryIn(item) !== undefined)) return undefined;
  return items.map((item) => {
    const summary = summaryIn(item);
    if (summary === undefined) return item;
    const text = `Summary of the conversation before this point:\n\n${summary}`;
    return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  });
}

function summaryIn(item: unknown): string | undefined {
  if (!isObject(item) || item['type'] !== 'compaction') return undefined;
  const { encrypted_content: sealed } = item;
  if (typeof sealed !== 'string' || !sealed.startsWith(OWN_SUMMARY)) return undefined;
  return Buffer.from(sealed.slice(OWN_SUMMARY.length), 'base64url').toString('utf8');
}
