/**
 * Aligns two records of one turn: the transcript, which has the finished steps, and the events. Either
 * may be incomplete: the transcript ends after the last stored step, the events begin where the
 * gateway restarted or where a snapshot was cut. Calls match by their ids, texts between two calls by
 * their content. Nothing is duplicated and nothing is left out.
 */

import { isFinal } from './cards.js';
import { isSaid } from './parts.js';
import type { Part, TextPart, ThinkingPart, ToolCard } from './view.js';

export function alignTurn(history: readonly Part[], live: readonly Part[]): readonly Part[] {
  if (history.length === 0) return live;
  if (live.length === 0) return history;
  const merged: Part[] = [];
  let [fromHistory, fromLive] = [0, 0];
  for (const [at, part] of history.entries()) {
    if (part.kind !== 'tool') continue;
    const found = indexOfCall(live, part.card.id, fromLive);
    const twin = live[found];
    if (twin?.kind !== 'tool') continue;
    merged.push(...alignBetween(history.slice(fromHistory, at), live.slice(fromLive, found)));
    merged.push({ ...twin, key: part.key, card: mergeCards(part.card, twin.card) });
    fromHistory = at + 1;
    fromLive = found + 1;
  }
  merged.push(...alignBetween(history.slice(fromHistory), live.slice(fromLive)));
  return merged;
}

/** Like `alignTurn`, for what was recorded: what became of a call that had no end then, the transcript knows. */
export function alignRecord(history: readonly Part[], recorded: readonly Part[]): readonly Part[] {
  const states = new Map(
    history.flatMap((part) => (part.kind === 'tool' ? [[part.card.id, part.card.state]] : [])),
  );
  return alignTurn(
    history,
    recorded.map((part) => {
      const state = part.kind === 'tool' && !isFinal(part.card) ? states.get(part.card.id) : undefined;
      return part.kind === 'tool' && state !== undefined ? { ...part, card: { ...part.card, state } } : part;
    }),
  );
}

/** The transcript has what was said and given in full; the events know how it came about. */
export function mergeCards(written: ToolCard, watched: ToolCard): ToolCard {
  const known = written.result !== undefined;
  return {
    ...watched,
    name: watched.name === '' ? written.name : watched.name,
    // An unfinished card of the transcript only says that it has no result.
    state: known && !isFinal(watched) ? written.state : watched.state,
    input: written.input ?? watched.input,
    inputText: written.input === undefined ? watched.inputText : '',
    result: written.result ?? watched.result,
    truncated: known ? false : watched.truncated,
    progress: known ? undefined : watched.progress,
    approval: watched.approval ?? written.approval,
    because: watched.because ?? written.because,
  };
}

function indexOfCall(parts: readonly Part[], id: string, from: number): number {
  for (let at = from; at < parts.length; at++) {
    const part = parts[at];
    if (part?.kind === 'tool' && part.card.id === id) return at;
  }
  return -1;
}

function alignBetween(history: readonly Part[], live: readonly Part[]): Part[] {
  if (history.length === 0) return [...live];
  const merged: Part[] = [];
  let from = 0;
  for (const part of history) {
    const found = live.findIndex((each, at) => at >= from && isTwin(part, each));
    const twin = live[found];
    if (twin === undefined) {
      merged.push(part);
      continue;
    }
    merged.push(...live.slice(from, found), mergeTwins(part, twin));
    from = found + 1;
  }
  merged.push(...live.slice(from));
  return merged;
}

export function isTwin(a: Part, b: Part): boolean {
  if (a.kind === 'tool' || b.kind === 'tool') return false;
  if (a.kind === 'user' || b.kind === 'user') return a.kind === b.kind;
  if (a.kind === 'note' || b.kind === 'note')
    return a.kind === 'note' && b.kind === 'note' && a.note.type === b.note.type;
  if (!isSaid(a) || !isSaid(b) || a.kind !== b.kind) return false;
  const [left, right] = [a.text.trim(), b.text.trim()];
  return left !== '' && right !== '' ? left.startsWith(right) || right.startsWith(left) : left === right;
}

function mergeTwins(written: Part, watched: Part): Part {
  if (written.kind === 'user') return { ...written, key: watched.key };
  if (!isSaid(written) || !isSaid(watched)) return watched;
  return longer(written, watched);
}

function longer(written: TextPart | ThinkingPart, watched: TextPart | ThinkingPart): Part {
  return watched.text.trim().length >= written.text.trim().length
    ? watched
    : { ...written, key: watched.key };
}
