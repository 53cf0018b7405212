/** What every writer of requests needs: tools, turns, addresses. */
import type { JsonRecord } from '../support/violation.js';
import type { MediaSpec, PartSpec, RequestSpec, ToolSpec, TurnSpec } from './case-schema.js';

export interface Tool {
  name: string;
  description?: string | undefined;
  schema?: JsonRecord | undefined;
  strict?: boolean | undefined;
}

const text = { type: 'string' };
const object = (properties: JsonRecord): JsonRecord => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** Tools that a case may name instead of defining them. */
const KNOWN_TOOLS: Readonly<Record<string, Tool>> = {
  Bash: { name: 'Bash', description: 'Runs a command', schema: object({ command: text }) },
  Read: { name: 'Read', description: 'Reads a file', schema: object({ path: text }) },
  Weather: { name: 'Weather', description: 'The weather in a city', schema: object({ city: text }) },
  Now: { name: 'Now', description: 'The time', schema: { type: 'object', properties: {} } },
};

export function toolsOf({ tools }: RequestSpec): Tool[] | undefined {
  return tools?.map((tool: ToolSpec) => {
    if (typeof tool !== 'string') return tool;
    const known = KNOWN_TOOLS[tool];
    if (known === undefined) throw new Error(`There is no known tool ${tool}`);
    return known;
  });
}

export type Said =
  | { role: 'user' | 'assistant'; parts: readonly PartSpec[] }
  | { role: 'system'; text: string };

const asParts = (said: string | readonly PartSpec[]): readonly PartSpec[] =>
  typeof said === 'string' ? [said] : said;

export function turnsOf({ turns = ['Hello'] }: RequestSpec): Said[] {
  return turns.map((turn: TurnSpec) => {
    if (typeof turn === 'string') return { role: 'user', parts: [turn] };
    if ('user' in turn) return { role: 'user', parts: asParts(turn.user) };
    if ('assistant' in turn) return { role: 'assistant', parts: asParts(turn.assistant) };
    return { role: 'system', text: turn.system };
  });
}

/** The address of an image or document: a data URL where it is inline. */
export const urlOf = (media: MediaSpec): string =>
  'url' in media ? media.url : `data:${media.type};base64,${media.data}`;

export function cannot(wire: string, what: string): never {
  throw new Error(`A client of ${wire} has no words for ${what}: say which clients the variation is for`);
}
