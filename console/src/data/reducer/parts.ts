/**
 * One level of a conversation (the main agent's, or a sub-agent's) as a list of parts. A part keeps
 * its key from the first event on, and has the same key in the transcript: a card the id of its call, a
 * text the key of the preceding card and its index after that.
 */

import type { BlockWire } from '../../../../src/activity/wire.js';
import type { NotePart, Part, TextPart, ThinkingPart, ToolCard, ToolPart } from './view.js';

export type Level = readonly Part[];

/** `name`: the prefix where no card precedes. */
export function keyAfter(level: Level, name: string): string {
  let place = 0;
  for (let at = level.length - 1; at >= 0; at--) {
    const part = level[at];
    if (part === undefined || part.kind === 'user' || part.kind === 'media') continue;
    if (part.kind === 'tool') return `${part.key}~${place}`;
    if (!isSaid(part) || !isBlank(part)) place += 1;
  }
  return `${name}~${place}`;
}

/** Upstreams use an id twice now and then. */
export function cardKey(level: Level, id: string): string {
  let count = 0;
  for (const part of level) if (part.kind === 'tool' && part.card.id === id) count += 1;
  return count === 0 ? id : `${id}#${count}`;
}

export function userKey(name: string): string {
  return `${name}~user`;
}

/** The newest part with a call of this id; -1 where there is none. */
export function cardAt(level: Level, id: string): number {
  for (let at = level.length - 1; at >= 0; at--) {
    const part = level[at];
    if (part?.kind === 'tool' && part.card.id === id) return at;
  }
  return -1;
}

export function replaced(level: Level, at: number, part: Part): Level {
  const next = [...level];
  next[at] = part;
  return next;
}

/** `change` gives the same card where nothing changes. */
export function changeCard(level: Level, id: string, change: (card: ToolCard) => ToolCard): Level {
  const at = cardAt(level, id);
  const part = level[at];
  if (part?.kind !== 'tool') return level;
  const card = change(part.card);
  return card === part.card ? level : replaced(level, at, { ...part, card });
}

/** The last text is complete. */
export function closeText(level: Level): Level {
  return streamText(level, false);
}

/** The part after the last text was removed, so more of the text may come. */
export function openText(level: Level): Level {
  return streamText(level, true);
}

function streamText(level: Level, streaming: boolean): Level {
  const last = level.at(-1);
  if (last === undefined || !isSaid(last) || last.streaming === streaming) return level;
  return replaced(level, level.length - 1, { ...last, streaming });
}

export function addText(level: Level, kind: 'text' | 'thinking', text: string, name: string): Level {
  if (text === '') return level;
  const last = level.at(-1);
  if (last !== undefined && last.kind === kind && last.streaming)
    return replaced(level, level.length - 1, { ...last, text: last.text + text });
  const closed = closeText(level);
  const key = keyAfter(closed, name);
  const part: TextPart | ThinkingPart =
    kind === 'text'
      ? { kind, key, text, streaming: true }
      : { kind, key, text, streaming: true, redacted: false };
  return [...closed, part];
}

export function addNote(level: Level, note: NotePart['note'], name: string): Level {
  const closed = closeText(level);
  return [...closed, { kind: 'note', key: keyAfter(closed, name), note }];
}

export function addCard(level: Level, card: ToolCard): Level {
  const closed = closeText(level);
  const part: ToolPart = { kind: 'tool', key: cardKey(closed, card.id), card };
  return [...closed, part];
}

export function isSaid(part: Part): part is TextPart | ThinkingPart {
  return part.kind === 'text' || part.kind === 'thinking';
}

/** Nothing that a page would draw. */
export function isBlank(part: TextPart | ThinkingPart): boolean {
  return !/\S/.test(part.text) && !(part.kind === 'thinking' && part.redacted);
}

/** A result of the main agent's that `written` does not have yet. */
export function lacksMedia(heard: readonly Part[], written: readonly Part[]): boolean {
  const wanted = heard.flatMap((part) =>
    part.kind === 'tool' && part.card.result?.some(isWithoutBytes) === true ? [part.card.id] : [],
  );
  if (wanted.length === 0) return false;
  const there = new Set(
    written.flatMap((part) => (part.kind === 'tool' && part.card.result !== undefined ? [part.card.id] : [])),
  );
  return wanted.some((id) => !there.has(id));
}

function isWithoutBytes(block: BlockWire): boolean {
  if (block.type !== 'image' && block.type !== 'document') return false;
  const { source } = block;
  return (source.type === 'base64' || source.type === 'text') && source.href === undefined;
}
