/** Reduces the chunks of a turn. Each chunk changes only the level and the part it is about. */
import type { ActivityWire, BlockWire, TokenCounts } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import type { TurnEventWire, TurnSnapshotWire } from '../../../../src/server/console-api/wire/events.js';
import type { RecordedTurnWire } from '../../../../src/server/console-api/wire/sessions.js';
import { inAgent, inKnownAgent, settle, withParts } from './agents.js';
import { askCard, endCard, isFinal, newCard, progressCard, startCard, timeOf, waitCard } from './cards.js';
import type { TurnView } from './console-state.js';
import {
  addCard,
  addNote,
  addText,
  cardAt,
  cardKey,
  changeCard,
  closeText,
  type Level,
  openText,
  replaced,
  userKey,
} from './parts.js';
import type { CardState, NotePart, Part, SubAgentView, ToolCard } from './view.js';

type Began = Extract<TurnEventWire, { state: 'began' }>;
type Ended = Extract<TurnEventWire, { state: 'ended' }>;
type Of<Type extends ActivityWire['type']> = Extract<ActivityWire, { type: Type }>;

const NO_TOKENS: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
};

/** What becomes of cards that have no end when their turn has one. Questions stay with their approval. */
const LEFT_OVER: Readonly<Record<Ended['end'], Partial<Record<CardState, CardState>>>> = {
  complete: { pending: 'cancelled', running: 'unknown' },
  stopped: { pending: 'cancelled', running: 'unknown' },
  failed: { pending: 'cancelled', running: 'unknown' },
  broken: { running: 'unknown' },
  parked: {},
};

/** Stop reasons that cut the answer short. */
const CUT_SHORT: ReadonlySet<string> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

export function beginTurn(
  began: Pick<Began, 'session' | 'turn' | 'began_at' | 'model' | 'message'>,
): TurnView {
  const { session, turn, model, message } = began;
  return {
    session,
    turn,
    model,
    beganAt: timeOf(began.began_at) ?? 0,
    parts: partsOfPrompt(message, turn),
    usage: NO_TOKENS,
    steps: 0,
    truncated: false,
    ended: undefined,
  };
}

/** A turn from a snapshot, as if it had been watched. */
export function liveTurn(live: TurnSnapshotWire): TurnView {
  let view: TurnView = { ...beginTurn(live), truncated: live.truncated === true };
  for (const chunk of live.chunks) view = applyChunk(view, chunk);
  return view;
}

/** A turn that is over, as it was shown, without its words and results: those are in the transcript. */
export function recordedParts({ id, turn: _, chunks, ended, ...began }: RecordedTurnWire): Level {
  const at = { session: '', turn: id };
  let view = beginTurn({ ...began, ...at, message: [] });
  for (const chunk of chunks) view = applyChunk(view, { ...chunk, ...at });
  if (ended !== null) return endTurn(view, { type: 'turn', state: 'ended', ...at, ...ended }).parts;
  return settle(closeText(view.parts), LEFT_OVER.broken);
}

/** Chunks of another turn, chunks after the end, and unknown types change nothing. */
export function applyChunk(turn: TurnView, chunk: ActivityWire): TurnView {
  if (chunk.turn !== turn.turn || turn.ended !== undefined) return turn;
  const { agent } = chunk;
  const parts =
    agent === null
      ? onLevel(turn.parts, chunk, turn.turn)
      : inAgent(turn.parts, agent, (view) => onAgent(view, chunk));
  if (chunk.type === 'model_start' && agent === null) return { ...turn, parts, steps: turn.steps + 1 };
  if (chunk.type === 'usage') return { ...turn, parts, usage: sum(turn.usage, chunk.usage) };
  return parts === turn.parts ? turn : { ...turn, parts };
}

export function endTurn(turn: TurnView, { end, stop_reason, error }: Ended): TurnView {
  if (turn.ended !== undefined) return turn;
  const note = noteOfEnd({ end, stop_reason, error });
  const parts = settle(closeText(turn.parts), LEFT_OVER[end] ?? {});
  return {
    ...turn,
    parts: note === undefined ? parts : addNote(parts, note, turn.turn),
    ended: { end, error: error?.message, stopReason: stop_reason ?? undefined },
  };
}

/** Puts what is known of a question on the card of its call. */
export function askInTurn(turn: TurnView, approval: ApprovalWire): TurnView {
  const change = (level: Level): Level =>
    changeCard(level, approval.tool_use_id, (card) => askCard(card, approval));
  const parts =
    approval.agent === null
      ? change(turn.parts)
      : (inKnownAgent(turn.parts, approval.agent, (view) => withParts(view, change(view.parts))) ??
        turn.parts);
  return parts === turn.parts ? turn : { ...turn, parts };
}

/** Results of calls that the client ran have no name of their own: they belong to cards of the transcript. */
function partsOfPrompt(message: readonly BlockWire[], name: string): Level {
  let level: Level = [];
  const said: BlockWire[] = [];
  for (const block of message) {
    if (block.type !== 'tool_result') said.push(block);
    else level = addCard(level, withResult(newCard(block.tool_use_id, ''), block));
  }
  if (said.length === 0) return level;
  return [...level, { kind: 'user', key: userKey(name), turn: undefined, content: said }];
}

export function withResult(card: ToolCard, block: Extract<BlockWire, { type: 'tool_result' }>): ToolCard {
  return {
    ...card,
    state: block.is_error ? 'error' : 'success',
    result: block.content,
    truncated: false,
    progress: undefined,
  };
}

function onLevel(level: Level, chunk: ActivityWire, name: string): Level {
  switch (chunk.type) {
    case 'text':
    case 'thinking':
      return addText(level, chunk.type, chunk.text, name);
    case 'tool_use':
      return onToolUse(level, chunk);
    case 'tool_input_delta':
      return changeCard(level, chunk.tool_use_id, (card) =>
        card.input === undefined && !isFinal(card)
          ? { ...card, inputText: card.inputText + chunk.delta }
          : card,
      );
    case 'tool_start':
      return changeOrAdd(level, chunk, (card) => startCard(card, chunk));
    case 'tool_waiting':
      return changeOrAdd(level, chunk, (card) => waitCard(card, chunk));
    case 'tool_progress':
      return changeCard(level, chunk.tool_use_id, (card) => progressCard(card, chunk));
    case 'tool_result':
      return changeOrAdd(level, chunk, (card) => endCard(card, chunk));
    case 'handed_back':
      return chunk.tool_use_ids.reduce(
        (parts, id) =>
          changeCard(parts, id, (card) => (isFinal(card) ? card : { ...card, state: 'handed-back' })),
        closeText(level),
      );
    case 'dropped':
      return openText(level.filter((part) => !isDropped(part, chunk)));
    case 'model_start':
    case 'usage':
      return closeText(level);
    case 'compacted':
      return addNote(
        level,
        { type: 'compacted', before: chunk.tokens_before, after: chunk.tokens_after },
        name,
      );
    case 'max_turns':
      return addNote(level, { type: 'max-turns', turns: chunk.turns }, name);
    default:
      return level;
  }
}

function onToolUse(level: Level, chunk: Of<'tool_use'>): Level {
  const { tool_use_id: id, name } = chunk;
  const at = cardAt(level, chunk.complete && chunk.was !== undefined ? chunk.was : id);
  const part = level[at];
  // A call that is over and comes again is another one under the same id.
  const open = part?.kind === 'tool' && !isFinal(part.card) ? part : undefined;
  if (!chunk.complete) return open === undefined ? addCard(level, newCard(id, name)) : level;
  const { input } = chunk;
  if (open === undefined) return addCard(level, { ...newCard(id, name), input });
  const card = { ...open.card, id, name, input, inputText: '' };
  const key = open.card.id === id ? open.key : cardKey(level, id);
  return replaced(level, at, { ...open, key, card });
}

function isDropped(part: Part, { tool_use_ids }: Of<'dropped'>): boolean {
  return (
    part.kind === 'tool' &&
    tool_use_ids.includes(part.card.id) &&
    !isFinal(part.card) &&
    part.card.startedAt === undefined
  );
}

function changeOrAdd(
  level: Level,
  { tool_use_id: id, name }: { tool_use_id: string; name: string },
  change: (card: ToolCard) => ToolCard,
): Level {
  if (cardAt(level, id) >= 0) return changeCard(level, id, change);
  return addCard(level, change(newCard(id, name)));
}

function onAgent(view: SubAgentView, chunk: ActivityWire): SubAgentView {
  switch (chunk.type) {
    case 'agent_start':
      return view.ended === undefined ? view : { ...view, ended: undefined };
    case 'agent_end': {
      const { turns, usage, cut_short } = chunk;
      const closed = closeText(view.parts);
      const parts =
        cut_short === null ? closed : addNote(closed, { type: 'cut-short', reason: cut_short }, view.id);
      return { ...view, parts, ended: { turns, usage, cutShort: cut_short ?? undefined } };
    }
    default:
      return withParts(view, onLevel(view.parts, chunk, view.id));
  }
}

function sum(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
  };
}

function noteOfEnd({
  end,
  stop_reason,
  error,
}: Pick<Ended, 'end' | 'stop_reason' | 'error'>): NotePart['note'] | undefined {
  switch (end) {
    case 'stopped':
      return { type: 'stopped' };
    case 'broken':
      return { type: 'interrupted' };
    case 'failed':
      return { type: 'failed', message: error?.message ?? '' };
    case 'complete':
      return stop_reason !== null && CUT_SHORT.has(stop_reason)
        ? { type: 'cut-short', reason: stop_reason }
        : undefined;
    default:
      return undefined;
  }
}
