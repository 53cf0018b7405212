/** What a reader of chunks knows, whichever way it was told: pieces put together, cards by their ids. */
import type { ActivityWire } from '../../src/activity/wire.js';

export interface KnownCard {
  id: string;
  name: string;
  inputText: string;
  input: unknown;
  state: string;
  title: string | undefined;
  because: string | null | undefined;
  result: unknown;
}

export type KnownPart = { agent: string | null } & (
  | { kind: 'text' | 'thinking'; text: string }
  | { kind: 'card'; card: KnownCard }
  | { kind: 'note'; chunk: object }
);

export function knownOf(chunks: readonly ActivityWire[]): KnownPart[] {
  const parts: KnownPart[] = [];
  for (const chunk of chunks) learn(parts, chunk);
  return parts;
}

function learn(parts: KnownPart[], chunk: ActivityWire): void {
  const agent = chunk.agent?.id ?? null;
  const own = parts.filter((part) => part.agent === agent);
  const cardOf = (id: string): KnownCard => {
    for (const part of own) if (part.kind === 'card' && part.card.id === id) return part.card;
    const card: KnownCard = {
      ...{ id, name: '', inputText: '', input: undefined, state: 'pending' },
      ...{ title: undefined, because: undefined, result: undefined },
    };
    parts.push({ kind: 'card', agent, card });
    return card;
  };
  switch (chunk.type) {
    case 'text':
    case 'thinking': {
      const last = own.at(-1);
      if (last?.kind === chunk.type) last.text += chunk.text;
      else parts.push({ kind: chunk.type, agent, text: chunk.text });
      break;
    }
    case 'tool_use': {
      const card = cardOf(chunk.complete ? (chunk.was ?? chunk.tool_use_id) : chunk.tool_use_id);
      card.name = chunk.name;
      if (!chunk.complete) break;
      Object.assign(card, { id: chunk.tool_use_id, inputText: '', input: chunk.input });
      break;
    }
    case 'tool_input_delta':
      cardOf(chunk.tool_use_id).inputText += chunk.delta;
      break;
    case 'dropped':
      for (const id of chunk.tool_use_ids) {
        const at = parts.findIndex((part) => part.kind === 'card' && part.card.id === id);
        if (at >= 0) parts.splice(at, 1);
      }
      break;
    case 'tool_waiting':
      Object.assign(cardOf(chunk.tool_use_id), { state: 'waiting', title: chunk.title });
      break;
    case 'tool_start':
      Object.assign(cardOf(chunk.tool_use_id), {
        ...{ state: 'running', title: chunk.title, because: chunk.because },
      });
      break;
    case 'tool_result':
      Object.assign(cardOf(chunk.tool_use_id), { state: chunk.outcome, result: chunk.content });
      break;
    case 'tool_progress':
      break;
    default: {
      // Of an event, not of the chunk in it.
      const { id: _id, prev: _prev, ...rest }: ActivityWire & { id?: string; prev?: string | null } = chunk;
      parts.push({ kind: 'note', agent, chunk: rest });
    }
  }
}
