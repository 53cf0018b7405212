/** A conversation to look at: its transcript, with the turn that runs, or was watched, in its place. */
import type { ApprovalWire } from '../../../../src/server/wire/approvals.js';
import type { BlockWire } from '../../../../src/server/wire/shared.js';
import type { TurnView } from '../console-state.js';
import type { Part, ToolCard } from '../view.js';
import { alignTurn, isTwin, mergeCards } from './align.js';
import { mergeApproval } from './approvals.js';
import { type HistoryTurn, isShown, withUniqueKey } from './history.js';
import { isSaid } from './parts.js';

/** How the gateway marks a text that it has cut. */
const CUT = ' […]';

/** `live`: what was heard of the newest turn; undefined where the transcript says all. */
export function drawTurns(turns: readonly HistoryTurn[], live: TurnView | undefined): readonly Part[] {
  if (live === undefined) return turns.flatMap(({ parts }) => parts);
  const twin = twinOf(turns, live);
  const before = (twin === undefined ? turns : turns.slice(0, -1)).flatMap(({ parts }) => parts);
  const own = alignTurn(twin?.parts ?? [], live.parts).filter(isShown);
  const seen = new Set(before.map(({ key }) => key));
  return [...before, ...own.map((part) => withUniqueKey(part, seen))];
}

/** The newest turn of the transcript, where it is the one that was heard. */
export function twinOf(turns: readonly HistoryTurn[], live: TurnView): HistoryTurn | undefined {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const prompt = live.parts.find(({ kind }) => kind === 'user');
  // It goes on with results, or what was said is further up than what was fetched.
  const said = last.parts.find(({ kind }) => kind === 'user');
  if (prompt?.kind !== 'user' || said?.kind !== 'user' || sharesCall(last.parts, live.parts)) return last;
  if (!isSame(said.content, prompt.content)) return undefined;
  // The same words again, behind an answer that is whole, begin another turn.
  return !last.closed || sharesText(last.parts, live.parts) ? last : undefined;
}

/** What is known of calls beside their results: kept from turns that were watched. */
export function withCards(
  turns: readonly HistoryTurn[],
  cards: ReadonlyMap<string, ToolCard>,
): HistoryTurn[] {
  return turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => withCard(part, cards)) }));
}

function withCard(part: Part, cards: ReadonlyMap<string, ToolCard>): Part {
  if (part.kind !== 'tool') return part;
  const watched = cards.get(part.card.id);
  return watched === undefined ? part : { ...part, card: mergeCards(part.card, watched) };
}

/** The question about each call of the main agent: the one that waits, else the newest. */
export function questionsOf(
  ...lists: readonly (Iterable<ApprovalWire> | undefined)[]
): ReadonlyMap<string, ApprovalWire> {
  const byId = new Map<string, ApprovalWire>();
  for (const list of lists)
    for (const approval of list ?? []) {
      const known = byId.get(approval.id);
      byId.set(approval.id, known === undefined ? approval : mergeApproval(known, approval));
    }
  const byCall = new Map<string, ApprovalWire>();
  for (const approval of byId.values()) {
    if (approval.agent !== null) continue;
    const known = byCall.get(approval.tool_use_id);
    if (known === undefined || comesBefore(known, approval)) byCall.set(approval.tool_use_id, approval);
  }
  return byCall;
}

function comesBefore(a: ApprovalWire, b: ApprovalWire): boolean {
  if (a.state === 'pending' || b.state === 'pending') return b.state === 'pending';
  return Date.parse(a.created_at) <= Date.parse(b.created_at);
}

function sharesCall(written: readonly Part[], watched: readonly Part[]): boolean {
  const ids = new Set(written.flatMap((part) => (part.kind === 'tool' ? [part.card.id] : [])));
  return watched.some((part) => part.kind === 'tool' && ids.has(part.card.id));
}

function sharesText(written: readonly Part[], watched: readonly Part[]): boolean {
  const texts = written.filter(isSaid);
  return watched.some((part) => isSaid(part) && texts.some((text) => isTwin(text, part)));
}

function isSame(written: readonly BlockWire[], heard: readonly BlockWire[]): boolean {
  const [a, b] = [textOf(written), textOf(heard)];
  const others = (blocks: readonly BlockWire[]) => blocks.filter(({ type }) => type !== 'text').length;
  if (others(written) !== others(heard)) return false;
  return b.endsWith(CUT) ? a.startsWith(b.slice(0, -CUT.length)) : a === b;
}

function textOf(blocks: readonly BlockWire[]): string {
  return blocks
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim();
}
