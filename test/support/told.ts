/**
 * What a model was told, in one form for every wire and every agent: messages of the two sides in
 * turn, with tools by the names that their owners gave them.
 */
import type { SeenRequest, SeenTurn } from '../clients/read-request.js';

export type ToldBlock =
  | { type: 'text'; text: string }
  /** The address, a data URL where it is inline. */
  | { type: 'image'; url: string }
  | { type: 'call'; id: string; name: string; input: unknown }
  | { type: 'result'; id: string; text: string; images: number; isError: boolean };

export interface ToldMessage {
  role: 'user' | 'assistant';
  blocks: ToldBlock[];
}

export type ToldCall = Extract<ToldBlock, { type: 'call' }>;
export type ToldResult = Extract<ToldBlock, { type: 'result' }>;

/** Of the in-process MCP server by which Claude Code is offered what is not its own. */
const GATEWAY_PREFIX = 'mcp__gateway__';

/** Newer names of the same tools. */
const RENAMED: Readonly<Record<string, string>> = { Task: 'Agent' };

/** The name by which the model knows a tool. */
export function offeredName(name: string, offered: readonly string[]): string {
  const names = [name, `${GATEWAY_PREFIX}${name}`, RENAMED[name] ?? name];
  return names.find((each) => offered.includes(each)) ?? name;
}

/** The name by which its owner knows a tool. */
export function plainName(name: string): string {
  if (name.startsWith(GATEWAY_PREFIX)) return name.slice(GATEWAY_PREFIX.length);
  return Object.entries(RENAMED).find(([, renamed]) => renamed === name)?.[0] ?? name;
}

/** An agent's own words to the model between those of the user. */
const ASIDE = /^\s*<system-reminder>/;

function blocksOf(turn: SeenTurn): ToldBlock[] {
  switch (turn.role) {
    case 'system':
      return [];
    case 'user':
      return [
        ...turn.texts.filter((text) => !ASIDE.test(text)).map((text) => ({ type: 'text' as const, text })),
        ...turn.images.map((url) => ({ type: 'image' as const, url })),
      ];
    case 'assistant':
      return [
        ...turn.texts.map((text) => ({ type: 'text' as const, text })),
        ...turn.calls.map((call) => ({ type: 'call' as const, ...call, name: plainName(call.name) })),
      ];
    case 'tool':
      return turn.results.map((result) => ({ type: 'result' as const, ...result }));
  }
}

/** What one side says in several messages is one message, as some wires have it. */
export function toldOf({ turns }: SeenRequest): ToldMessage[] {
  const told: ToldMessage[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(turn);
    if (blocks.length === 0) continue;
    const last = told.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else told.push({ role, blocks });
  }
  return told;
}

const blocksIn = (told: readonly ToldMessage[]): ToldBlock[] => told.flatMap(({ blocks }) => blocks);

export const toolCallsIn = (told: readonly ToldMessage[]): ToldCall[] =>
  blocksIn(told).filter((block) => block.type === 'call');

export const resultsIn = (told: readonly ToldMessage[]): ToldResult[] =>
  blocksIn(told).filter((block) => block.type === 'result');

/** One line for each block, for comparing whole conversations: `user: hi`, `call get_weather {"city":"Paris"}`. */
export function outline(told: readonly ToldMessage[]): string[] {
  const names = new Map(toolCallsIn(told).map(({ id, name }) => [id, name]));
  return told.flatMap(({ role, blocks }) => blocks.map((block) => lineOf(block, role, names)));
}

function lineOf(block: ToldBlock, role: ToldMessage['role'], names: ReadonlyMap<string, string>): string {
  switch (block.type) {
    case 'text':
      return `${role}: ${block.text}`;
    case 'image':
      return `${role}: <image>`;
    case 'call':
      return `call ${block.name} ${JSON.stringify(block.input)}`;
    case 'result':
      return `result of ${names.get(block.id)}: ${block.text}${' <image>'.repeat(block.images)}`;
  }
}
