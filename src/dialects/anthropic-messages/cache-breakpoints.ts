/** Cache breakpoints for clients whose wire has none: without one, nothing is cached and all is paid again. */
import type { JsonObject } from '../../core/conversation.js';
import type { WireMessage } from './encode-history.js';
import { CACHE_BREAKPOINTS, CACHE_CONTROL } from './wire.js';

/** Blocks that may carry one. */
const CACHEABLE: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

/**
 * Behind the tools, behind the system prompt, and behind the last two user messages: the last is
 * what the next request reads, the one before it is what this request reads.
 */
export function placeBreakpoints(
  tools: readonly JsonObject[],
  system: readonly JsonObject[],
  messages: readonly WireMessage[],
): void {
  // A provider's own tool is the client's object and is left as it is.
  const places = [tools.findLast((tool) => 'input_schema' in tool), system.at(-1)];
  for (let index = messages.length - 1; index >= 0 && places.length < CACHE_BREAKPOINTS; index -= 1) {
    const message = messages[index];
    if (message?.role === 'user') places.push(message.content.findLast(({ type }) => CACHEABLE.has(type)));
  }
  for (const place of places) {
    if (place !== undefined) place['cache_control'] = CACHE_CONTROL;
  }
}

/** The client has set its own, in a dialect that lets them through. */
export function hasBreakpoint(
  tools: readonly JsonObject[],
  system: readonly JsonObject[],
  messages: readonly WireMessage[],
): boolean {
  const marked = (each: JsonObject): boolean => each['cache_control'] !== undefined;
  return tools.some(marked) || system.some(marked) || messages.some(({ content }) => content.some(marked));
}
