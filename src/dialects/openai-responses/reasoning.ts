/**
 * Reasoning items. What proves reasoning differs from wire to wire, and clients of this one keep
 * only `encrypted_content` (Codex drops even the text), so what the gateway puts there is an
 * envelope with everything that the next request needs: the text, and the signature of its producer.
 */
import type { Block, JsonObject, RedactedThinkingBlock, ThinkingBlock } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { openSignature, sealSignature } from '../shared/sealed-signature.js';
import { DIALECT, extend } from './wire.js';

/** No provider's own content has a dot in it. */
const ENVELOPE = 'tgr1.';

type Reasoning = ThinkingBlock | RedactedThinkingBlock;

/** What an upstream of this wire gave and wants back. */
interface OwnProof {
  id: string;
  encrypted: string;
}

/** An item of a client's history. */
export function decodeReasoning(item: JsonObject): Reasoning {
  const encrypted = item['encrypted_content'];
  const text = reasoningText(item);
  if (typeof encrypted !== 'string' || encrypted === '') {
    return extend<ThinkingBlock>({ type: 'thinking', thinking: text }, { $item: item });
  }
  const opened = openEnvelope(encrypted);
  if (opened !== undefined) return opened;
  const { id } = item;
  const signature = sealProof({ id: typeof id === 'string' ? id : '', encrypted });
  return extend<ThinkingBlock>({ type: 'thinking', thinking: text, signature }, { $item: item });
}

/** What is shown of the reasoning: the summary, or where there is none, the text itself. */
function reasoningText(item: JsonObject): string {
  return textOfParts(item['summary']) || textOfParts(item['content']);
}

function textOfParts(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  const texts: string[] = [];
  for (const part of parts) {
    if (isObject(part) && typeof part['text'] === 'string' && part['text'] !== '') texts.push(part['text']);
  }
  return texts.join('\n\n');
}

/** `encrypted_content` for a client: whatever has to come back. */
export function sealReasoning(block: Reasoning): string {
  const content =
    block.type === 'redacted_thinking'
      ? { redacted: block.data }
      : { thinking: block.thinking, signature: block.signature };
  return ENVELOPE + Buffer.from(JSON.stringify(content), 'utf8').toString('base64url');
}

/** Undefined for a provider's own content. */
function openEnvelope(encrypted: string): Reasoning | undefined {
  if (!encrypted.startsWith(ENVELOPE)) return undefined;
  const content = parseObject(Buffer.from(encrypted.slice(ENVELOPE.length), 'base64url').toString('utf8'));
  if (content === undefined) return undefined;
  const { thinking, signature, redacted } = content;
  if (typeof redacted === 'string') return { type: 'redacted_thinking', data: redacted };
  if (typeof thinking !== 'string') return undefined;
  return { type: 'thinking', thinking, ...(typeof signature === 'string' ? { signature } : {}) };
}

export function sealProof({ id, encrypted }: OwnProof): string {
  return sealSignature(DIALECT, JSON.stringify({ id, encrypted_content: encrypted }));
}

/** The proof of an upstream of this wire; undefined for any other. */
export function openProof(signature: string | undefined): OwnProof | undefined {
  const opened = signature === undefined ? undefined : openSignature(signature);
  if (opened?.origin !== DIALECT) return undefined;
  const content = parseObject(opened.payload);
  const encrypted = content?.['encrypted_content'];
  const id = content?.['id'];
  if (typeof encrypted !== 'string') return undefined;
  return { id: typeof id === 'string' ? id : '', encrypted };
}

/**
 * The item for an upstream: as the client had it, or rebuilt around its own proof. Undefined where
 * nothing proves it. `held`: the upstream keeps the conversation and knows items by their ids.
 */
export function encodeReasoning(block: Block, held: boolean): JsonObject | undefined {
  if (block.type !== 'thinking') return undefined;
  const item = block.extensions?.[DIALECT]?.['$item'];
  const proof = openProof(block.signature);
  if (isObject(item) && (proof !== undefined || (held && typeof item['id'] === 'string'))) return item;
  if (proof === undefined) return undefined;
  return {
    type: 'reasoning',
    ...(proof.id === '' ? {} : { id: proof.id }),
    summary: block.thinking === '' ? [] : [{ type: 'summary_text', text: block.thinking }],
    encrypted_content: proof.encrypted,
  };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
