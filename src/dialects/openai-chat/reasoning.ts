/**
 * Reasoning beside `content`. The official wire has no field for it; servers send it as
 * `reasoning_content`, as `reasoning`, or as `reasoning_details`, a list that also carries the
 * proof which must come back. Towards a client the gateway writes `reasoning_content`, and
 * `reasoning_details` where there is proof, so that a client that sends the message back as it
 * came restores the thinking whole.
 */
import type { Block, JsonObject, RedactedThinkingBlock, ThinkingBlock } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { openSignature, sealSignature } from '../shared/sealed-signature.js';
import { DIALECT } from './wire.js';

/** Thinking of Claude, signed by Anthropic, also through another provider. */
const ANTHROPIC_FORMAT = 'anthropic-claude-v1';
/** Proof that is sealed for another wire. */
const SEALED_FORMAT = 'toolgate-v1';

type Reasoning = ThinkingBlock | RedactedThinkingBlock;

/** A message of a client's history: its reasoning as blocks, from the field that says most. */
export function decodeReasoning(message: JsonObject): Reasoning[] {
  const details = message['reasoning_details'];
  if (Array.isArray(details) && details.length > 0) return decodeDetails(details);
  const blocks = message['thinking_blocks'];
  if (Array.isArray(blocks) && blocks.length > 0) return decodeThinkingBlocks(blocks);
  const text = message['reasoning_content'] || message['reasoning'];
  return typeof text === 'string' && text !== '' ? [{ type: 'thinking', thinking: text }] : [];
}

/** LiteLLM's form: Anthropic's own blocks. */
function decodeThinkingBlocks(blocks: readonly unknown[]): Reasoning[] {
  const out: Reasoning[] = [];
  for (const block of blocks) {
    if (!isObject(block)) continue;
    const { thinking, signature, data } = block;
    if (typeof thinking === 'string') out.push(thinkingBlock(thinking, signature));
    else if (typeof data === 'string') out.push({ type: 'redacted_thinking', data });
  }
  return out;
}

function thinkingBlock(thinking: string, signature: unknown): ThinkingBlock {
  if (typeof signature !== 'string' || signature === '') return { type: 'thinking', thinking };
  return { type: 'thinking', thinking, signature };
}

export function decodeDetails(details: readonly unknown[]): Reasoning[] {
  const out: Reasoning[] = [];
  const foreign: JsonObject[] = [];
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const { signature, data } = detail;
    if (!isOurs(detail)) foreign.push(detail);
    else if (typeof data === 'string') out.push({ type: 'redacted_thinking', data });
    else out.push(thinkingBlock(textOf(detail), signature));
  }
  if (foreign.length > 0) {
    out.push(thinkingBlock(foreign.map(textOf).join(''), seal(foreign)));
  }
  return out;
}

/** Details that are blocks of the neutral model as they stand; the others only their maker understands. */
function isOurs(detail: JsonObject): boolean {
  const { format, type } = detail;
  if (format === ANTHROPIC_FORMAT || format === SEALED_FORMAT) return type !== 'reasoning.summary';
  return type === 'reasoning.text' && (format === undefined || format === null || format === 'unknown');
}

function textOf(detail: JsonObject): string {
  const text = detail['text'] ?? detail['summary'];
  return typeof text === 'string' ? text : '';
}

/** Undefined where there is nothing to prove: the text alone says it all. */
function seal(details: readonly JsonObject[]): string | undefined {
  const proven = details.some((detail) => detail['data'] !== undefined || detail['signature'] !== undefined);
  return proven ? sealSignature(DIALECT, JSON.stringify(details)) : undefined;
}

/**
 * `client`: everything, to be sent back. `upstream`: without what is sealed for another wire.
 * `from` is how many entries stand before these.
 */
export function encodeDetails(
  blocks: readonly Block[],
  reader: 'client' | 'upstream',
  from = 0,
): JsonObject[] {
  const details: JsonObject[] = [];
  for (const block of blocks) {
    const entry: JsonObject = { index: from + details.length };
    if (block.type === 'thinking') {
      const { thinking: text, signature } = block;
      const opened = signature === undefined ? undefined : openSignature(signature);
      if (opened?.origin === DIALECT) {
        details.push(...parseDetails(opened.payload));
        continue;
      }
      const proof = opened === undefined || reader === 'client' ? signature : undefined;
      if (text === '' && proof === undefined) continue;
      details.push({ type: 'reasoning.text', text, ...proven(proof, opened !== undefined), ...entry });
    } else if (block.type === 'redacted_thinking') {
      const sealed = openSignature(block.data) !== undefined;
      if (sealed && reader === 'upstream') continue;
      const format = sealed ? SEALED_FORMAT : ANTHROPIC_FORMAT;
      details.push({ type: 'reasoning.encrypted', data: block.data, format, ...entry });
    }
  }
  return details;
}

function proven(signature: string | undefined, sealed: boolean): JsonObject {
  if (signature === undefined) return {};
  return { signature, format: sealed ? SEALED_FORMAT : ANTHROPIC_FORMAT };
}

function parseDetails(payload: string): JsonObject[] {
  try {
    const details: unknown = JSON.parse(payload);
    return Array.isArray(details) ? details.filter(isObject) : [];
  } catch {
    return [];
  }
}

/** `reasoning_details` as a stream brings them: pieces of text, then proof. */
export class DetailStream {
  /** Pieces of what only its maker understands, put together. */
  #foreign: JsonObject[] = [];
  #openIndex: unknown;

  /** `visible`: their text is the reasoning, for no other field brought it. */
  push(details: readonly unknown[], visible: boolean, out: ModelEvent[]): void {
    for (const detail of details) {
      if (!isObject(detail)) continue;
      if (!isOurs(detail)) {
        const text = textOf(detail);
        if (visible && text !== '') out.push({ type: 'thinking', text });
        this.#collect(detail);
      } else this.#pass(detail, visible, out);
    }
  }

  #pass(detail: JsonObject, visible: boolean, out: ModelEvent[]): void {
    const { data, signature, index } = detail;
    if (typeof data === 'string') {
      out.push({ type: 'block', block: { type: 'redacted_thinking', data } });
      return;
    }
    const text = textOf(detail);
    if (visible && text !== '') {
      if (this.#openIndex !== undefined && this.#openIndex !== index) out.push({ type: 'break' });
      this.#openIndex = index;
      out.push({ type: 'thinking', text });
    }
    if (typeof signature !== 'string' || signature === '') return;
    out.push({ type: 'signature', signature }, { type: 'break' });
    this.#openIndex = undefined;
  }

  #collect(piece: JsonObject): void {
    const last = this.#foreign.at(-1);
    const same = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index'];
    if (!same || (piece['id'] !== undefined && piece['id'] !== null && last['id'] !== piece['id'])) {
      this.#foreign.push({ ...piece });
      return;
    }
    for (const key in piece) {
      const value = piece[key];
      if (value === undefined || value === null) continue;
      const before = last[key];
      const grows = key === 'text' || key === 'summary' || key === 'data';
      last[key] = grows && typeof before === 'string' && typeof value === 'string' ? before + value : value;
    }
  }

  /** The reasoning is over: its proof, if there was any, closes the thinking that is open. */
  flush(out: ModelEvent[]): void {
    if (this.#foreign.length === 0) return;
    const signature = seal(this.#foreign);
    this.#foreign = [];
    if (signature !== undefined) out.push({ type: 'signature', signature }, { type: 'break' });
  }
}
