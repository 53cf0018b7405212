/**
 * Names of tools for models: `mcp__server__tool`, of the characters and the length that models
 * take. Which name a tool gets depends on the set of tools and not on their order, so that rules
 * and conversations that name it stay true.
 */
import { createHash } from 'node:crypto';

export const MAX_NAME_CHARS = 128;
const HASH_CHARS = 8;

/** By the server's own name of each tool. The server's part is never cut: rules go by it. */
export function nameTools(server: string, tools: readonly string[]): Map<string, string> {
  const prefix = `mcp__${server}__`;
  const plain = new Map(tools.map((tool) => [tool, prefix + safe(tool)]));
  const claims = new Map<string, number>();
  for (const name of plain.values()) claims.set(name, (claims.get(name) ?? 0) + 1);
  const names = new Map<string, string>();
  for (const [tool, name] of plain) {
    const keepsOwn = name === prefix + tool;
    const fits = name.length <= MAX_NAME_CHARS;
    const contested = (claims.get(name) ?? 0) > 1;
    names.set(tool, fits && (keepsOwn || !contested) ? name : withHash(name, tool));
  }
  return names;
}

function safe(tool: string): string {
  return tool.replace(/[^A-Za-z0-9_-]/g, '_') || '_';
}

function withHash(name: string, tool: string): string {
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}
