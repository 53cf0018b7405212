/**
 * The arguments of a call as the model wrote them. A call that runs on the server is stricter than
 * one that is passed on: a text that breaks off inside a string would write half a file.
 */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { completeJson, JsonObjectScanner } from '../../core/json-text.js';

export type ParsedToolArguments =
  | { ok: true; input: JsonObject }
  /** `cut`: the text breaks off; otherwise it is no JSON. */
  | { ok: false; cut: boolean };

/** `cutOff`: the answer ended at a limit, so that the last call may not be whole. */
export function parseToolArguments(text: string, cutOff: boolean): ParsedToolArguments {
  const trimmed = text.trim();
  if (trimmed === '') return cutOff ? { ok: false, cut: true } : { ok: true, input: {} };
  if (!trimmed.startsWith('{')) return parseOther(trimmed, cutOff);
  const scanner = new JsonObjectScanner();
  const used = scanner.push(trimmed);
  if (scanner.tooDeep) return { ok: false, cut: false };
  if (scanner.whole) {
    // Of two objects, it is unknown which was meant.
    const another = trimmed.slice(used).trimStart().startsWith('{');
    return (another ? undefined : asObject(trimmed.slice(0, used))) ?? { ok: false, cut: false };
  }
  if (cutOff) return { ok: false, cut: true };
  const missing = completeJson(trimmed);
  // Only brackets are missing: what is there is whole.
  if (missing !== undefined && /^[\]}]+$/.test(missing)) {
    const completed = asObject(trimmed + missing);
    if (completed !== undefined) return completed;
  }
  return { ok: false, cut: missing !== undefined };
}

function asObject(text: string): ParsedToolArguments | undefined {
  const value = parse(text);
  return isObject(value) ? { ok: true, input: value } : undefined;
}

/** `null` is no argument, a string may hold the object; the tool's own schema judges anything else. */
function parseOther(text: string, cutOff: boolean): ParsedToolArguments {
  const value = parse(text);
  if (value === undefined) return { ok: false, cut: cutOff };
  if (value === null) return { ok: true, input: {} };
  const inner = typeof value === 'string' ? parse(value) : undefined;
  return { ok: true, input: isObject(inner) ? inner : { value } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
