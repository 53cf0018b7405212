/**
 * `context_management` of the Messages API on an upstream without it: old tool results, old calls and old thinking
 * are left out of what the model reads, and the answer says how much. It is worked out anew for each request, from
 * the conversation that the client sends.
 */
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { estimateRequestTokens } from '../../core/estimate-tokens.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { UpstreamAnswer } from '../../upstreams/upstream.js';
import { type Ask, summariseFirst, writeSummary } from './written-summary.js';

const WIRE = 'anthropic-messages';
const TOOL_USES = 'clear_tool_uses_20250919';
const THINKING = 'clear_thinking_20251015';
const COMPACT = 'compact_20260112';

/** What Anthropic's documentation gives where a request does not say. */
const DEFAULTS = {
  triggerTokens: 100_000,
  compactTokens: 150_000,
  keepToolUses: 3,
  keepThinkingTurns: 1,
} as const;
/** There are three kinds. */
const MOST_EDITS = 8;
const CLEARED = '[This result was cleared to save room. Make the call again if it is needed.]';

/** The conversation has grown so long that a summary is to take its place before the model answers. */
interface DueCompaction {
  /** The answer is the summary alone. */
  pauses: boolean;
  summary: NonNullable<ConversationRequest['summary']>;
}

interface EditedRequest {
  request: ConversationRequest;
  compaction?: DueCompaction;
  /** What the client is told of it. */
  event: ModelEvent;
}

/** Asks the model with what is left of the conversation, or for a summary of it. */
export async function askShortened(request: ConversationRequest, ask: Ask): Promise<UpstreamAnswer> {
  if (request.summary !== undefined) return writeSummary(request, ask);
  const edited = editContext(request);
  if (edited === undefined) return ask(request);
  const { compaction, event } = edited;
  const answer = await (compaction === undefined
    ? ask(edited.request)
    : compaction.pauses
      ? writeSummary({ ...edited.request, summary: compaction.summary }, ask)
      : summariseFirst(edited.request, compaction.summary, ask));
  return { ...answer, batches: withEdits(answer.batches, event) };
}

/** Undefined where the client asks for none. Throws GatewayError for an edit that is wrong. Edits that are not known here stay in the request. */
function editContext(request: ConversationRequest): EditedRequest | undefined {
  const { context_management: config, diagnostics, ...others } = request.extensions[WIRE] ?? {};
  if (!isObject(config) && !isObject(diagnostics)) return undefined;
  const given: readonly unknown[] = isObject(config) && Array.isArray(config['edits']) ? config['edits'] : [];
  // Each walks through the whole conversation.
  if (given.length > MOST_EDITS) throw wrong(`${given.length} of them`, `at most ${MOST_EDITS}`);
  const applied: JsonObject[] = [];
  const unknown: unknown[] = [];
  let edited = request;
  let compaction: DueCompaction | undefined;
  for (const edit of given) {
    if (isObject(edit) && edit['type'] === COMPACT) {
      compaction = dueCompaction(edited, edit);
      continue;
    }
    const run = isObject(edit) ? EDITS.get(edit['type']) : undefined;
    if (run === undefined || !isObject(edit)) {
      unknown.push(edit);
      continue;
    }
    const done = run(edited, edit);
    if (done === undefined) continue;
    const cleared = estimateRequestTokens(edited) - estimateRequestTokens(done.request);
    if (cleared < number(edit['clear_at_least'], 'clear_at_least', 0)) continue;
    edited = done.request;
    applied.push({ type: edit['type'], ...done.counts, cleared_input_tokens: cleared });
  }
  const left = unknown.length === 0 ? {} : { context_management: { edits: unknown } };
  const told = {
    ...(isObject(config) && { context_management: { applied_edits: applied } }),
    // Another wire says how much of a prompt was cached, and never why the rest was not.
    ...(isObject(diagnostics) && { diagnostics: { cache_miss_reason: { type: 'unavailable' } } }),
  };
  return {
    request: { ...edited, extensions: { ...edited.extensions, [WIRE]: { ...others, ...left } } },
    ...(compaction === undefined ? {} : { compaction }),
    event: { type: 'extensions', extensions: { [WIRE]: told } },
  };
}

/** The same request without what the edit clears, and what that was; undefined where there is nothing to clear. */
type Edit = (
  request: ConversationRequest,
  edit: JsonObject,
) => { request: ConversationRequest; counts: JsonObject } | undefined;

const EDITS: ReadonlyMap<unknown, Edit> = new Map([
  [TOOL_USES, clearToolUses],
  [THINKING, clearThinking],
]);

function clearToolUses(request: ConversationRequest, edit: JsonObject): ReturnType<Edit> {
  const uses = answeredCalls(request.messages);
  if (!isReached(edit['trigger'], request, uses.length)) return undefined;
  const excluded = names(edit['exclude_tools']);
  const old = uses.slice(0, Math.max(0, uses.length - number(edit['keep'], 'keep', DEFAULTS.keepToolUses)));
  const cleared = new Map(old.filter(({ name }) => !excluded.has(name)).map((call) => [call.id, call.name]));
  if (cleared.size === 0) return undefined;
  const { clear_tool_inputs: inputs } = edit;
  const ofTools = names(inputs);
  const clearsInput = (name: string): boolean => inputs === true || ofTools.has(name);
  const clear = (block: Block): Block => {
    if (block.type === 'tool_result' && cleared.has(block.toolUseId)) return withoutContent(block);
    return block.type === 'tool_use' && cleared.has(block.id) && clearsInput(block.name)
      ? { ...block, input: {} }
      : block;
  };
  return {
    request: { ...request, messages: request.messages.map((message) => withBlocks(message, clear)) },
    counts: { cleared_tool_uses: cleared.size },
  };
}

/** Those whose results the model has read, the oldest first. */
function answeredCalls(messages: readonly Message[]): ToolUseBlock[] {
  const blocks = messages.flatMap(({ content }) => content);
  const results = new Set(blocks.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])));
  return blocks.filter((block): block is ToolUseBlock => block.type === 'tool_use' && results.has(block.id));
}

const withoutContent = (result: ToolResultBlock): ToolResultBlock => ({
  ...result,
  content: [{ type: 'text', text: CLEARED }],
});

function dueCompaction(request: ConversationRequest, edit: JsonObject): DueCompaction | undefined {
  if (!isReached(edit['trigger'], request, 0, DEFAULTS.compactTokens)) return undefined;
  const { instructions, pause_after_compaction: pauses } = edit;
  return {
    pauses: pauses === true,
    summary: typeof instructions === 'string' && instructions.trim() !== '' ? { instructions } : {},
  };
}

function isReached(
  trigger: unknown,
  request: ConversationRequest,
  toolUses: number,
  otherwise: number = DEFAULTS.triggerTokens,
): boolean {
  const kind = isObject(trigger) ? trigger['type'] : 'input_tokens';
  if (kind === 'tool_uses') return toolUses > number(trigger, 'trigger', 0);
  if (kind !== 'input_tokens') throw wrong('trigger.type', '"input_tokens" or "tool_uses"');
  return estimateRequestTokens(request) > number(trigger, 'trigger', otherwise);
}

/** A turn of the assistant is everything between two messages in which a person speaks. */
function clearThinking(request: ConversationRequest, edit: JsonObject): ReturnType<Edit> {
  const { keep } = edit;
  if (keep === 'all' || (isObject(keep) && keep['type'] === 'all')) return undefined;
  const turns = thinkingTurns(request.messages);
  const kept = number(keep, 'keep', DEFAULTS.keepThinkingTurns);
  if (kept < 1) throw wrong('keep.value', 'at least 1');
  const old = turns.slice(0, Math.max(0, turns.length - kept));
  if (old.length === 0) return undefined;
  const cleared = new Set(old.flat());
  const messages = request.messages.flatMap((message) => {
    if (!cleared.has(message)) return [message];
    const content = message.content.filter((block) => !isThinking(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { request: { ...request, messages }, counts: { cleared_thinking_turns: old.length } };
}

function thinkingTurns(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  let turn: Message[] | undefined;
  for (const message of messages) {
    if (message.role === 'user' && message.content.some(({ type }) => type !== 'tool_result'))
      turn = undefined;
    if (message.role !== 'assistant' || !message.content.some(isThinking)) continue;
    if (turn === undefined) {
      turn = [];
      turns.push(turn);
    }
    turn.push(message);
  }
  return turns;
}

const isThinking = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking';

/** The same object where nothing changes: what was made of it is found by it. */
function withBlocks(message: Message, change: (block: Block) => Block): Message {
  const content = message.content.map(change);
  return content.every((block, index) => block === message.content[index])
    ? message
    : { ...message, content };
}

function names(value: unknown): ReadonlySet<string> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return new Set(list.filter((each) => typeof each === 'string'));
}

/** `{type, value}` as all settings of an edit are written. */
function number(setting: unknown, name: string, otherwise: number): number {
  if (setting === undefined || setting === null) return otherwise;
  const value = isObject(setting) ? setting['value'] : undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw wrong(`${name}.value`, 'an integer of at least 0');
}

function wrong(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', `context_management.edits: ${path}: expected ${expected}.`, {
    param: 'context_management',
  });
}

/** The answer to an edited request, which says at its beginning what was cleared. */
async function* withEdits(
  batches: AsyncIterable<readonly ModelEvent[]>,
  event: ModelEvent,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  let isFirst = true;
  for await (const batch of batches) {
    yield isFirst ? [event, ...batch] : batch;
    isFirst = false;
  }
}
