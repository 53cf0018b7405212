/** The three wires by the short names that case files use, and values that differ from pair to pair. */
import type { DialectName } from '../../src/core/conversation.js';

export const WIRES = ['messages', 'chat', 'responses'] as const;
export type WireName = (typeof WIRES)[number];

export const DIALECT_OF: Readonly<Record<WireName, DialectName>> = {
  messages: 'anthropic-messages',
  chat: 'openai-chat',
  responses: 'openai-responses',
};

/** Where clients of the wire send their requests. */
export const CLIENT_PATHS: Readonly<Record<WireName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};

/** A client of one wire on an upstream of another, or of the same. */
export interface Pair {
  client: WireName;
  upstream: WireName;
}

export const PAIRS: readonly Pair[] = WIRES.flatMap((client) =>
  WIRES.map((upstream) => ({ client, upstream })),
);

export const pairName = ({ client, upstream }: Pair): string => `${client}>${upstream}`;

const WIRE = '(?:messages|chat|responses)';
const KEY = new RegExp(`^(?:\\*|${WIRE}|${WIRE}>|${WIRE}>${WIRE})$`);

/**
 * An object that gives a value for each wire: `chat` is for upstreams of it, `chat>` for clients of
 * it, `messages>chat` for the one pair, `*` for the rest.
 */
export function isSelection(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => KEY.test(key));
}

export type PerPair<T> = T | Readonly<Record<string, T>>;

/** The value for this pair, the most specific one; undefined where there is none for it. */
export function select<T>(value: PerPair<T> | undefined, pair: Pair): T | undefined {
  if (!isPerPair(value)) return value;
  return value[pairName(pair)] ?? value[pair.upstream] ?? value[`${pair.client}>`] ?? value['*'];
}

function isPerPair<T>(value: PerPair<T> | undefined): value is Readonly<Record<string, T>> {
  return isSelection(value);
}
