/** Fields of another dialect that this wire has no place for: a loss, unless leaving them out changes nothing. */
import {
  DIALECT_NAMES,
  type DialectName,
  type Extensions,
  type JsonObject,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { LossLog } from '../../core/losses.js';

/** Fields of blocks, tools and items about caching, identity and display: no answer depends on them. */
const WITHOUT_MEANING: Record<DialectName, ReadonlySet<string>> = {
  'anthropic-messages': new Set(['cache_control', 'caller', 'citations', 'eager_input_streaming']),
  'openai-chat': new Set(['detail']),
  'openai-responses': new Set(['detail', 'id', 'status']),
};

type Served = (value: unknown) => boolean;

const always: Served = () => true;
/** `include_usage` is given on every wire; padding against eavesdroppers is not. */
const noPadding: Served = (value) => !isObject(value) || value['include_obfuscation'] !== true;

/**
 * Fields of a request that the gateway itself sees to, whichever upstream answers: what is stored,
 * repeated in the answer or sent as a header. Every other one is carried, refused or named.
 */
const SERVED: Record<DialectName, Readonly<Record<string, Served>>> = {
  'anthropic-messages': {
    // The SDK's way to write the header.
    betas: always,
    compaction: (value) => isObject(value) && value['type'] === 'summarize',
    thread: (value) => isObject(value) && value['type'] === 'continue',
  },
  'openai-chat': {
    // Both have a neutral meaning, and an encoder without room for it records a loss.
    safety_identifier: always,
    top_k: always,
    stream_options: noPadding,
  },
  'openai-responses': {
    client_metadata: always,
    conversation: always,
    include: (value) => Array.isArray(value) && value.every((each) => each === ENCRYPTED_REASONING),
    metadata: always,
    previous_response_id: always,
    safety_identifier: always,
    store: always,
    stream_options: noPadding,
  },
};

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Values that say the same as leaving the field out. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['frequency_penalty', 0],
  ['n', 1],
  ['presence_penalty', 0],
  ['speed', 'standard'],
  ['top_logprobs', 0],
  ['truncation', 'disabled'],
]);

/** Values of the same kind that are lists. */
const DEFAULT_LISTS: ReadonlyMap<string, string> = new Map([
  ['allowed_callers', '["direct"]'],
  ['modalities', '["text"]'],
]);

/** Fields that mean something though nothing is in them. */
const MEANT_WHEN_EMPTY: ReadonlySet<string> = new Set(['web_search_options']);

/** Puts back what only this wire has, and reports what only another one has. */
export function restorerOf(dialect: DialectName) {
  return (
    wire: JsonObject,
    extensions: Extensions | undefined,
    path: string,
    losses: LossLog,
  ): JsonObject => {
    if (extensions === undefined) return wire;
    const own = extensions[dialect];
    for (const key in own) if (!key.startsWith('$')) wire[key] ??= own[key];
    loseForeign(path, extensions, dialect, losses);
    return wire;
  };
}

/**
 * Adds a loss for each field in `extensions` that only another dialect than `own` understands. A
 * `path` of nothing is the request itself.
 */
export function loseForeign(
  path: string,
  extensions: Extensions | undefined,
  own: DialectName | undefined,
  losses: LossLog,
  reason?: string,
): void {
  if (extensions === undefined) return;
  for (const dialect of DIALECT_NAMES) {
    const fields = dialect === own ? undefined : extensions[dialect];
    for (const key in fields) {
      // A `$` marks what a decoder notes for its own encoder; the client never sent it.
      if (key.startsWith('$') || isDefault(key, fields[key])) continue;
      if (path === '' ? isServed(dialect, key, fields[key]) : WITHOUT_MEANING[dialect].has(key)) continue;
      losses.add(path === '' ? key : `${path}.${key}`, reason ?? `only ${dialect} has it`);
    }
  }
}

function isServed(dialect: DialectName, key: string, value: unknown): boolean {
  const served = SERVED[dialect];
  return Object.hasOwn(served, key) && served[key]?.(value) === true;
}

function isDefault(key: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return true;
  if (typeof value !== 'object') return DEFAULTS.get(key) === value;
  if (Array.isArray(value)) return value.length === 0 || DEFAULT_LISTS.get(key) === JSON.stringify(value);
  return Object.keys(value).length === 0 && !MEANT_WHEN_EMPTY.has(key);
}
