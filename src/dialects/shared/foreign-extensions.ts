/** Fields of another dialect that this wire has no place for: a loss, unless leaving them out changes nothing. */
import {
  DIALECT_NAMES,
  type DialectName,
  type Extensions,
  type JsonObject,
} from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

/** Fields that steer the provider's bookkeeping or caching and never the answer. */
const WITHOUT_MEANING: Record<DialectName, ReadonlySet<string>> = {
  'anthropic-messages': new Set([
    'betas',
    'cache_control',
    'caller',
    'citations',
    'diagnostics',
    'eager_input_streaming',
    'metadata',
    'inference_geo',
    'user_profile_id',
    'workspace_id',
  ]),
  'openai-chat': new Set([
    'detail',
    'metadata',
    'prompt_cache_retention',
    'safety_identifier',
    'store',
    'stream_options',
  ]),
  'openai-responses': new Set([
    'client_metadata',
    'detail',
    'id',
    'include',
    'metadata',
    'prompt_cache_retention',
    'safety_identifier',
    'status',
    'store',
    'stream_options',
  ]),
};

/** Values that say the same as leaving the field out. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['frequency_penalty', 0],
  ['n', 1],
  ['presence_penalty', 0],
  ['top_logprobs', 0],
  ['truncation', 'disabled'],
]);

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

/** Adds a loss for each field in `extensions` that only another dialect than `own` understands. */
export function loseForeign(
  path: string,
  extensions: Extensions | undefined,
  own: DialectName,
  losses: LossLog,
): void {
  if (extensions === undefined) return;
  for (const dialect of DIALECT_NAMES) {
    const fields = dialect === own ? undefined : extensions[dialect];
    for (const key in fields) {
      // A `$` marks what a decoder notes for its own encoder; the client never sent it.
      if (key.startsWith('$') || WITHOUT_MEANING[dialect].has(key) || isDefault(key, fields[key])) continue;
      losses.add(path === '' ? key : `${path}.${key}`, `only ${dialect} has it`);
    }
  }
}

function isDefault(key: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return true;
  if (typeof value !== 'object') return DEFAULTS.get(key) === value;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
