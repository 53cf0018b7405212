/** The tool calls of one message, the results that are recorded for them, and those that still miss one. */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { PendingToolCall } from '../../store/sessions.js';
import { answerOf, errorResult, NO_RESULT } from '../history/repair-history.js';
import { resultKey, toolCallsIn } from '../history/visible-history.js';
import type { SessionsStore } from '../session-parts.js';
import type { OutstandingToolCalls } from '../sessions.js';
import type { TurnEndEntry } from './session-row.js';

export interface PendingToolCalls {
  turnEnd: TurnEndEntry;
  /** All calls of the message. */
  calls: readonly ToolUseBlock[];
  /** The calls that the client runs. */
  clients: readonly ToolUseBlock[];
  /** Their rows in the store. */
  recorded: ReadonlyMap<string, PendingToolCall>;
  /** Results from the store and from the end of the turn. */
  results: ReadonlyMap<string, ToolResultBlock>;
}

/** Undefined where the turn ended without calls for the client. */
export async function readPendingToolCalls(
  store: Pick<SessionsStore, 'toolCalls'>,
  session: { id: string; principal: string },
  turnEnd: TurnEndEntry | undefined,
  message: Message | undefined,
): Promise<PendingToolCalls | undefined> {
  if (turnEnd === undefined || turnEnd.open.length === 0) return undefined;
  const calls = toolCallsIn(message);
  const recorded = await recordedToolCalls(store, session, calls);
  const results = new Map(turnEnd.results.map((result) => [result.toolUseId, result]));
  for (const call of recorded.values()) {
    const result = resultOf(call);
    if (result !== undefined) results.set(call.id, result);
  }
  const open = new Set(turnEnd.open);
  return { turnEnd, calls, clients: calls.filter(({ id }) => open.has(id)), recorded, results };
}

export async function recordedToolCalls(
  store: Pick<SessionsStore, 'toolCalls'>,
  { id, principal }: { id: string; principal: string },
  calls: readonly ToolUseBlock[],
): Promise<Map<string, PendingToolCall>> {
  if (calls.length === 0) return new Map();
  const ids = calls.map((call) => call.id);
  const found = (await store.toolCalls.find(principal, ids)).filter(({ session }) => session === id);
  return new Map(found.map((call) => [call.id, call]));
}

function resultOf({ id, result }: PendingToolCall): ToolResultBlock | undefined {
  if (result === undefined) return undefined;
  const { content, isError } = result;
  return { type: 'tool_result', toolUseId: id, content, isError };
}

export function openIn({ clients, results }: PendingToolCalls): ToolUseBlock[] {
  return clients.filter(({ id }) => !results.has(id));
}

/** Calls whose results are recorded and not yet in the transcript. */
export function unusedIn({ recorded }: Pick<PendingToolCalls, 'recorded'>): string[] {
  return [...recorded.values()].filter(({ state }) => state === 'answered').map(({ id }) => id);
}

export function outstandingOf(
  calls: readonly ToolUseBlock[],
  recorded: ReadonlyMap<string, PendingToolCall>,
  known: ReadonlyMap<string, ToolResultBlock> = new Map(),
): OutstandingToolCalls | undefined {
  if (calls.length === 0) return undefined;
  const results = new Map(known);
  const started = new Set<string>();
  for (const { id } of calls) {
    const call = recorded.get(id);
    const result = call && resultOf(call);
    if (result !== undefined) results.set(id, result);
    else if (call?.runBy === 'server' && !results.has(id)) started.add(id);
  }
  return { calls, results, started };
}

/** The message of results for calls that will not run: recorded results, and errors for the others. */
export function settled({ calls, results, started }: OutstandingToolCalls): Message {
  const all = new Map(results);
  for (const id of started) all.set(id, errorResult(id, NO_RESULT.unsure));
  return answerOf({ calls, results: all }, NO_RESULT.stopped, []);
}

export interface ReviewedResults {
  /** The first for their calls. */
  fresh: ToolResultBlock[];
  /** An equal result was recorded before. */
  repeated: ToolResultBlock[];
  /** The client's result differs from the one it sent before. */
  other: ToolResultBlock[];
  /** The gateway had already recorded an error for the overdue call. */
  late: ToolResultBlock[];
  /** The call is not the client's to answer here, or this is its second result. */
  stray: ToolResultBlock[];
}

export function reviewResults(
  pending: PendingToolCalls | undefined,
  given: readonly ToolResultBlock[],
  principal: string,
): ReviewedResults {
  const reviewed: ReviewedResults = { fresh: [], repeated: [], other: [], late: [], stray: [] };
  const seen = new Set<string>();
  for (const result of given) {
    const { toolUseId } = result;
    const known = pending?.results.get(toolUseId);
    const by = pending?.recorded.get(toolUseId)?.result?.recordedBy;
    const isClients = pending?.clients.some(({ id }) => id === toolUseId) === true;
    if (!isClients || seen.has(toolUseId)) reviewed.stray.push(result);
    else if (known === undefined) reviewed.fresh.push(result);
    else if (resultKey(known) === resultKey(result)) reviewed.repeated.push(result);
    else if (by !== undefined && by !== principal) reviewed.late.push(result);
    else reviewed.other.push(result);
    seen.add(toolUseId);
  }
  return reviewed;
}

/** Adds the blocks that are new: a client that sends the whole history repeats the others. */
export function mergeSaid(
  before: readonly Block[],
  more: readonly Block[],
  keyOf: (block: Block) => string | undefined,
): Block[] {
  const seen = new Set(before.map(keyOf));
  return [...before, ...more.filter((block) => !seen.has(keyOf(block)))];
}
