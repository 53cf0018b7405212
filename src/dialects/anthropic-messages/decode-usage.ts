import type { Usage } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { countOf } from '../shared/read.js';

/** The counts that `value` gives; the wire's input_tokens already leaves out what came from the cache. */
export function decodeUsage(value: unknown): Partial<Usage> | undefined {
  if (!isObject(value)) return undefined;
  const usage: Partial<Usage> = {};
  const input = countOf(value['input_tokens']);
  if (input !== undefined) usage.inputTokens = input;
  const output = countOf(value['output_tokens']);
  if (output !== undefined) usage.outputTokens = output;
  const read = countOf(value['cache_read_input_tokens']);
  if (read !== undefined) usage.cacheReadTokens = read;
  const written = countOf(value['cache_creation_input_tokens']);
  if (written !== undefined) usage.cacheWriteTokens = written;
  const details = value['output_tokens_details'];
  const thought = isObject(details) ? countOf(details['thinking_tokens']) : undefined;
  if (thought !== undefined) usage.reasoningTokens = thought;
  return usage;
}
