/** What an agent does, in its public form: one encoder for every stream, bounded by its limits. */
import type { Block, JsonObject, MediaSource, ToolResultContent, Usage } from '../core/conversation.js';
import type { RuleSource } from '../permissions/decision.js';
import type { VerdictReason } from '../permissions/gate.js';
import { headOf } from '../tools/runtime/clean-text.js';
import type { ToolRunEvent } from '../tools/runtime/runtime.js';
import type { ActiveAgent, AgentActivity } from './activity.js';
import type { AgentRef, BlockWire, EncodedActivity, MediaSourceWire, TokenCounts } from './wire.js';

/** How much of an activity each public form carries, in characters unless it says otherwise. */
export interface ActivityLimits {
  /** Names of tools and models. */
  nameChars: number;
  titleChars: number;
  commandChars: number;
  diffChars: number;
  /** Why a call was let through or refused. */
  reasonChars: number;
  progressChars: number;
  /** Arguments of a call. */
  inputChars: number;
  resultChars: number;
  /** Blocks of a result. */
  resultBlocks: number;
}

const KIB = 1024;

/** A comment is a few kilobytes at most: up to 200 of them wait for a slow reader of an answer. */
export const COMMENT_LIMITS: ActivityLimits = Object.freeze({
  nameChars: 200,
  titleChars: 300,
  commandChars: 1_000,
  diffChars: 2_000,
  reasonChars: 300,
  progressChars: 2_000,
  inputChars: 2_000,
  resultChars: 2_000,
  resultBlocks: 20,
});

export const EVENT_ACTIVITY_LIMITS: ActivityLimits = Object.freeze({
  nameChars: Number.POSITIVE_INFINITY,
  titleChars: 1_000,
  commandChars: 512 * KIB,
  diffChars: 256 * KIB,
  reasonChars: Number.POSITIVE_INFINITY,
  progressChars: 16 * KIB,
  inputChars: 256 * KIB,
  resultChars: 32 * KIB,
  resultBlocks: Number.POSITIVE_INFINITY,
});

type Distributed<Each> = Each extends unknown ? Omit<Each, 'session' | 'agent'> : never;
type Body = Distributed<EncodedActivity>;

export function encodeActivity(activity: AgentActivity, limits: ActivityLimits): EncodedActivity {
  const { session, agent } = activity;
  return {
    ...encodeBody(activity, limits),
    session,
    agent: agent === undefined ? null : encodeAgent(agent, limits),
  };
}

function encodeBody(activity: AgentActivity, limits: ActivityLimits): Body {
  switch (activity.type) {
    case 'text':
    case 'thinking':
      return { type: activity.type, text: activity.text };
    case 'call-began':
      return { type: 'tool_use', tool_use_id: activity.id, name: activity.name, complete: false };
    case 'call-input':
      return { type: 'tool_input_delta', tool_use_id: activity.id, delta: activity.json };
    case 'call-whole': {
      const { id, was, name } = activity;
      const { input, truncated } = boundInput(activity.input, limits.inputChars);
      return {
        type: 'tool_use',
        tool_use_id: id,
        name,
        complete: true,
        input,
        ...(was === undefined ? {} : { was }),
        ...(truncated ? { truncated } : {}),
      };
    }
    case 'calls-dropped':
      return { type: 'dropped', tool_use_ids: [...activity.ids] };
    case 'tool':
      return encodeToolEvent(activity.event, limits);
    case 'handed-back':
      return { type: 'handed_back', tool_use_ids: [...activity.ids] };
    case 'model-start':
      return { type: 'model_start', step: activity.step, model: headOf(activity.model, limits.nameChars) };
    case 'model-end': {
      const { step, stopReason, usage } = activity;
      return { type: 'usage', step, stop_reason: stopReason, usage: encodeUsage(usage) };
    }
    case 'agent-start':
      return { type: 'agent_start', description: headOf(activity.description, limits.titleChars) };
    case 'agent-end': {
      const { steps, usage, cutShort } = activity;
      return {
        type: 'agent_end',
        turns: steps,
        usage: encodeUsage(usage),
        cut_short: cutShort === undefined ? null : headOf(cutShort, limits.titleChars),
      };
    }
    case 'compacted':
      return { type: 'compacted', tokens_before: activity.before, tokens_after: activity.after };
    case 'max-steps':
      return { type: 'max_turns', turns: activity.steps };
  }
}

function encodeToolEvent(event: ToolRunEvent, limits: ActivityLimits): Body {
  const base = { tool_use_id: event.id, name: headOf(event.name, limits.nameChars) };
  switch (event.type) {
    case 'tool-start': {
      const { title, kind, command, diff } = event.describe;
      return {
        type: 'tool_start',
        ...base,
        kind,
        title: headOf(title, limits.titleChars),
        command: command === undefined ? null : headOf(command, limits.commandChars),
        diff: diff === undefined ? null : headOf(diff, limits.diffChars),
        because: explain(event.because, true, limits),
      };
    }
    case 'tool-waiting':
      return {
        type: 'tool_waiting',
        ...base,
        title: headOf(event.describe.title, limits.titleChars),
        approval: event.approval ?? null,
      };
    case 'tool-progress':
      return { type: 'tool_progress', ...base, text: headOf(event.content, limits.progressChars) };
    case 'tool-result': {
      const { shown } = event;
      return {
        type: 'tool_result',
        ...base,
        outcome: event.outcome,
        is_error: event.isError,
        duration_ms: Math.round(event.durationMs),
        ...encodeResult(event.content, limits),
        ...(shown === undefined || shown.length > limits.resultChars ? {} : { shown }),
        because: explain(event.because, RAN.has(event.outcome), limits),
      };
    }
  }
}

/** Outcomes of calls that were let through. */
const RAN: ReadonlySet<string> = new Set(['done', 'failed', 'aborted', 'timed-out']);

function encodeAgent({ id, label, parent, call }: ActiveAgent, { titleChars }: ActivityLimits): AgentRef {
  return { id, label: headOf(label, titleChars), parent: call ?? parent };
}

function encodeUsage(usage: Usage): TokenCounts {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  };
}

/** Where the data of a source can be had; undefined where it cannot. */
export type HrefOf = (source: MediaSource) => string | undefined;

/** Counts down what may still be shown. */
interface Room {
  chars: number;
  truncated: boolean;
  hrefOf: HrefOf;
}

const NOWHERE: HrefOf = () => undefined;

/** The whole block, with its media by reference. */
export function encodeBlock(block: Block, hrefOf: HrefOf): BlockWire {
  const chars = Number.POSITIVE_INFINITY;
  return boundBlock(block, { chars, truncated: false, hrefOf }, chars);
}

export function encodeMessage(
  blocks: readonly Block[],
  { messageChars, resultChars }: { messageChars: number; resultChars: number },
): BlockWire[] {
  const room = { chars: messageChars, truncated: false, hrefOf: NOWHERE };
  return blocks.map((block) => boundBlock(block, room, resultChars));
}

function encodeResult(
  content: readonly ToolResultContent[],
  { resultChars, resultBlocks }: ActivityLimits,
): { content: BlockWire[]; truncated: boolean } {
  const room = { chars: resultChars, truncated: content.length > resultBlocks, hrefOf: NOWHERE };
  const shown = content.slice(0, resultBlocks).map((block) => boundBlock(block, room, resultChars));
  return { content: shown, truncated: room.truncated };
}

function boundBlock(block: Block, room: Room, resultChars: number): BlockWire {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: take(block.text, room) };
    case 'thinking':
      return { type: 'thinking', thinking: take(block.thinking, room) };
    case 'redacted_thinking':
      return { type: 'redacted_thinking' };
    case 'image':
      return { type: 'image', source: encodeSource(block.source, room) };
    case 'document':
      return { type: 'document', title: block.title ?? null, source: encodeSource(block.source, room) };
    case 'tool_use': {
      const { input, truncated } = boundInput(block.input, room.chars);
      room.truncated ||= truncated;
      return { type: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'tool_result': {
      const chars = Math.min(resultChars, room.chars);
      const inside = { ...room, chars };
      const content = block.content.map((each) => boundBlock(each, inside, chars));
      return { type: 'tool_result', tool_use_id: block.toolUseId, is_error: block.isError, content };
    }
    case 'opaque':
      return { type: 'opaque', kind: block.kind, dialect: block.dialect };
  }
}

function take(text: string, room: Room): string {
  const shown = headOf(text, room.chars);
  room.chars -= shown.length;
  if (shown.length === text.length) return text;
  room.truncated = true;
  return `${shown} […]`;
}

/** `size`: characters of the data. The data itself is in the session. */
function encodeSource(source: MediaSource, room: Room): MediaSourceWire {
  switch (source.type) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.fileId };
    case 'base64':
    case 'text': {
      room.truncated = true;
      const href = room.hrefOf(source);
      const { type, mediaType, data } = source;
      return { type, media_type: mediaType, size: data.length, ...(href === undefined ? {} : { href }) };
    }
  }
}

/** Characters of one text in arguments that are too long as a whole: the first that is enough holds. */
const SHORTER = [16_384, 1_024, 64] as const;

/** Keeps the shape of arguments that are too long, where shorter texts are enough for that. */
export function boundInput(input: JsonObject, chars: number): { input: unknown; truncated: boolean } {
  if (charsOf(input, chars) <= chars) return { input, truncated: false };
  for (const each of SHORTER) {
    const shorter = shorten(input, each);
    if (charsOf(shorter, chars) <= chars) return { input: shorter, truncated: true };
  }
  return { input: {}, truncated: true };
}

/** Roughly what it is as JSON; counting ends where it is more than `enough`. */
function charsOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let chars = 2;
  for (const [key, each] of Object.entries(value)) {
    chars += key.length + 4 + charsOf(each, enough);
    if (chars > enough) break;
  }
  return chars;
}

function shorten(value: unknown, chars: number): unknown {
  if (typeof value === 'string') return value.length <= chars ? value : `${headOf(value, chars)} […]`;
  if (Array.isArray(value)) return value.map((each: unknown) => shorten(each, chars));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each, chars)]));
}

const REACH: Readonly<Record<RuleSource, string>> = {
  configuration: 'of the configuration',
  repository: 'of the repository',
  once: 'for one call',
  session: 'for this session',
  project: 'for this project',
  everywhere: 'for everything',
};

function explain(
  because: VerdictReason | undefined,
  allowed: boolean,
  { reasonChars }: ActivityLimits,
): string | null {
  return because === undefined ? null : headOf(sentenceOf(because, allowed), reasonChars);
}

/** Why a call was let through or refused, as one sentence for its card. */
function sentenceOf(because: VerdictReason, allowed: boolean): string {
  switch (because.kind) {
    case 'rule':
      return `rule ${because.rule} ${REACH[because.source]}`;
    case 'mode':
      return `no rule matches, and the mode is ${because.mode}`;
    case 'workspace':
      return 'reading inside the workspace needs no approval';
    case 'protected':
      return `${because.what}: ${because.part}`;
    case 'shell':
      return `${because.problem}: ${because.part}`;
    case 'harmless':
      return 'it reads and changes nothing outside of the conversation';
    case 'changed':
      return `${because.tool} has changed since it was approved`;
    case 'person': {
      const { by, via, reason, rule } = because;
      const said = reason === undefined || reason === '' ? '' : `: ${reason}`;
      const made = rule === undefined ? '' : `, with the rule ${rule}`;
      return `${allowed ? 'allowed' : 'denied'} by ${by} (${via})${made}${said}`;
    }
    case 'expiry':
      return 'nobody answered in time';
    case 'abort':
      return 'stopped before it was decided';
    case 'unattended':
      return 'nobody was connected who could answer';
    case 'used':
      return 'its approval had been used already';
    case 'closing':
      return 'the gateway stopped; the question stays open';
  }
}
