/** The parts of a conversation: its transcript, with the live turn in place of its stored copy. */
import type { BlockWire } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import { alignTurn, isTwin } from './align.js';
import { mergeApproval } from './approvals.js';
import type { TurnView } from './console-state.js';
import { type HistoryTurn, isShown, uniqueKey } from './history.js';
import { isSaid } from './parts.js';
import type { Part } from './view.js';

/** How the gateway marks a text that it has cut. */
const CUT = ' […]';

/** `live`: the newest turn as the events reported it; undefined where the transcript has all of it. */
export function drawTurns(turns: readonly HistoryTurn[], live: TurnView | undefined): readonly Part[] {
  const all = partsOf(turns);
  if (live === undefined) return all;
  const twin = twinOf(turns, live);
  const before = twin === undefined ? all : all.slice(0, all.length - twin.parts.length);
  const own = alignTurn(twin?.parts ?? [], live.parts).filter(isShown);
  const taken = keysOf(turns, twin);
  const seen = new Set<string>();
  return [
    ...before,
    ...own.map((part) => {
      const key = uniqueKey(part.key, taken, seen);
      return key === part.key ? part : { ...part, key };
    }),
  ];
}

/** A turn that runs is drawn anew with every frame; those in front of it are not. */
const rows = new WeakMap<readonly HistoryTurn[], readonly Part[]>();
const keys = new WeakMap<readonly HistoryTurn[], { without: HistoryTurn | undefined; all: Set<string> }>();

function partsOf(turns: readonly HistoryTurn[]): readonly Part[] {
  const row = rows.get(turns) ?? turns.flatMap(({ parts }) => parts);
  rows.set(turns, row);
  return row;
}

function keysOf(turns: readonly HistoryTurn[], without: HistoryTurn | undefined): ReadonlySet<string> {
  const known = keys.get(turns);
  if (known !== undefined && known.without === without) return known.all;
  const all = new Set<string>();
  for (const turn of turns) if (turn !== without) for (const { key } of turn.parts) all.add(key);
  keys.set(turns, { without, all });
  return all;
}

/** The newest turn of the transcript, where it is the live one. */
export function twinOf(turns: readonly HistoryTurn[], live: TurnView): HistoryTurn | undefined {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const prompt = live.parts.find(({ kind }) => kind === 'user');
  // The turn continues with results, or its prompt is in an earlier page than the fetched ones.
  const said = last.parts.find(({ kind }) => kind === 'user');
  if (prompt?.kind !== 'user' || said?.kind !== 'user' || sharesCall(last.parts, live.parts)) return last;
  if (!isSame(said.content, prompt.content)) return undefined;
  // The same prompt after a complete answer begins another turn.
  return !last.closed || sharesText(last.parts, live.parts) ? last : undefined;
}

/** The approval of each call of the main agent: the pending one, else the newest. */
export function approvalsByCall(
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
