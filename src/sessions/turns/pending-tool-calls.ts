/** The calls of one message that wait for the client, and what has come of them so far. */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { PendingToolCall } from '../../store/tool-calls.js';
import { callsIn, resultKey } from '../matching/visible-history.js';
import type { TurnEndMark } from '../persistence/session-row.js';
import type { SessionsStore } from '../session-parts.js';

export interface Batch {
  mark: TurnEndMark;
  /** All calls of the message. */
  calls: readonly ToolUseBlock[];
  /** Those that the client runs. */
  clients: readonly ToolUseBlock[];
  /** What is recorded about them. */
  recorded: ReadonlyMap<string, PendingToolCall>;
  /** Results that are there, in any way. */
  results: ReadonlyMap<string, ToolResultBlock>;
}

/** Undefined where nothing waited at the mark. */
export async function readBatch(
  store: Pick<SessionsStore, 'toolCalls'>,
  session: { id: string; principal: string },
  mark: TurnEndMark | undefined,
  message: Message | undefined,
): Promise<Batch | undefined> {
  if (mark === undefined || mark.open.length === 0) return undefined;
  const calls = callsIn(message);
  const recorded = await recordedCalls(store, session, calls);
  const results = new Map(mark.results.map((result) => [result.toolUseId, result]));
  for (const call of recorded.values()) {
    const result = resultOf(call);
    if (result !== undefined) results.set(call.id, result);
  }
  const open = new Set(mark.open);
  return { mark, calls, clients: calls.filter(({ id }) => open.has(id)), recorded, results };
}

export async function recordedCalls(
  store: Pick<SessionsStore, 'toolCalls'>,
  { id, principal }: { id: string; principal: string },
  calls: readonly ToolUseBlock[],
): Promise<Map<string, PendingToolCall>> {
  if (calls.length === 0) return new Map();
  const ids = calls.map((call) => call.id);
  const found = (await store.toolCalls.find(principal, ids)).filter(({ session }) => session === id);
  return new Map(found.map((call) => [call.id, call]));
}

export function resultOf({ id, result }: PendingToolCall): ToolResultBlock | undefined {
  if (result === undefined) return undefined;
  const { content, isError } = result;
  return { type: 'tool_result', toolUseId: id, content, isError };
}

export function openIn({ clients, results }: Batch): ToolUseBlock[] {
  return clients.filter(({ id }) => !results.has(id));
}

/** Results that are recorded and that no step has used. */
export function unusedIn({ recorded }: Pick<Batch, 'recorded'>): string[] {
  return [...recorded.values()].filter(({ state }) => state === 'answered').map(({ id }) => id);
}

export interface ReviewedResults {
  /** The first for their calls. */
  fresh: ToolResultBlock[];
  /** The same was recorded before. */
  repeated: ToolResultBlock[];
  /** Another one of the client's was recorded before. */
  other: ToolResultBlock[];
  /** Came when the gateway had already answered for the client. */
  late: ToolResultBlock[];
  /** For calls that are not the client's to answer here, or a second one. */
  stray: ToolResultBlock[];
}

export function reviewResults(
  batch: Batch | undefined,
  given: readonly ToolResultBlock[],
  principal: string,
): ReviewedResults {
  const reviewed: ReviewedResults = { fresh: [], repeated: [], other: [], late: [], stray: [] };
  const seen = new Set<string>();
  for (const result of given) {
    const { toolUseId } = result;
    const known = batch?.results.get(toolUseId);
    const by = batch?.recorded.get(toolUseId)?.result?.recordedBy;
    const isClients = batch?.clients.some(({ id }) => id === toolUseId) === true;
    if (!isClients || seen.has(toolUseId)) reviewed.stray.push(result);
    else if (known === undefined) reviewed.fresh.push(result);
    else if (resultKey(known) === resultKey(result)) reviewed.repeated.push(result);
    else if (by !== undefined && by !== principal) reviewed.late.push(result);
    else reviewed.other.push(result);
    seen.add(toolUseId);
  }
  return reviewed;
}

/** What was said, once: a client that tells the whole again says the same again. */
export function mergeSaid(
  before: readonly Block[],
  more: readonly Block[],
  keyOf: (block: Block) => string | undefined,
): Block[] {
  const seen = new Set(before.map(keyOf));
  return [...before, ...more.filter((block) => !seen.has(keyOf(block)))];
}
