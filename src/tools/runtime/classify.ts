/** A call's input, parsed, and what the tool says of it. */
import type { JsonObject } from '../../core/conversation.js';
import { parseInput } from './parse-input.js';
import type { Tool } from './tool.js';

/** Parsed, and with the tool's own account of it; false where the tool has none. */
export interface Classified {
  input: unknown;
  readOnly: boolean;
  concurrencySafe: boolean;
  needsPermissions: boolean;
}

export function classify(tool: Tool, raw: unknown): Classified | { problem: string } {
  const parsed = parseInput(tool, raw);
  if (!parsed.ok) return { problem: parsed.message };
  const { input } = parsed;
  return {
    input,
    readOnly: tool.isReadOnly(input) === true,
    concurrencySafe: tool.isConcurrencySafe(input) === true,
    needsPermissions: tool.needsPermissions(input) !== false,
  };
}

/** What the model sent, without what is a person's to say. */
export function withoutPersonFields({ personFields = [] }: Tool, raw: JsonObject): JsonObject {
  if (!personFields.some((name) => Object.hasOwn(raw, name))) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !personFields.includes(name)));
}
