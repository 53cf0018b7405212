/**
 * Tool calls and their results in the one order that every wire takes: each assistant message with
 * calls is followed by a user message that begins with exactly one result for each of them, in the
 * order of the calls. Histories break this after a compaction, an interrupt or a retry, and an
 * upstream answers a broken one with a 400 for the rest of the session.
 */
import type { Block, Message, TextBlock, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

const UNANSWERED = 'No result: the call was interrupted before it finished.';

/** Returns `messages` itself when nothing is to be mended, which is nearly always. */
export function repairHistory(messages: readonly Message[], losses: LossLog): readonly Message[] {
  return isWhole(messages) ? messages : rebuild(messages, pair(messages, losses), losses);
}

function isWhole(messages: readonly Message[]): boolean {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const { role, content } of messages) {
    if (open.length > 0 && role !== 'user') return false;
    if (role === 'assistant') {
      for (const block of content) {
        if (block.type === 'tool_result') return false;
        if (block.type !== 'tool_use') continue;
        if (seen.has(block.id)) return false;
        seen.add(block.id);
        open.push(block.id);
      }
      continue;
    }
    for (let index = 0; index < open.length; index += 1) {
      const block = content[index];
      if (block?.type !== 'tool_result' || block.toolUseId !== open[index]) return false;
    }
    for (let index = open.length; index < content.length; index += 1) {
      const type = content[index]?.type;
      if (type === 'tool_result' || type === 'tool_use') return false;
    }
    if (open.length > 0) open = [];
  }
  return open.length === 0;
}

interface Call {
  block: ToolUseBlock;
  result: ToolResultBlock | undefined;
}

interface Pairing {
  /** In place of each call: as it is sent, with a fresh id where an earlier call had the same. */
  calls: Map<Block, Call>;
  /** Results that follow their call, wherever they were. */
  placed: Set<Block>;
  /** Calls that are not sent: a copy of one in the same message. */
  copies: Set<Block>;
}

/** Which result belongs to which call: the nearest call before it with that id. */
function pair(messages: readonly Message[], losses: LossLog): Pairing {
  const pairing: Pairing = { calls: new Map(), placed: new Set(), copies: new Set() };
  const latest = new Map<string, { call: Call; message: Message }>();
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    for (const [position, block] of message.content.entries()) {
      const path = `messages.${index}.content.${position}`;
      if (block.type === 'tool_use') {
        if (message.role !== 'assistant') continue;
        if (latest.get(block.id)?.message === message) {
          losses.add(path, 'a repeated tool call was dropped');
          pairing.copies.add(block);
          continue;
        }
        const call: Call = { block: withFreshId(block, ids), result: undefined };
        pairing.calls.set(block, call);
        latest.set(block.id, { call, message });
      } else if (block.type === 'tool_result') {
        const call = latest.get(block.toolUseId)?.call;
        if (call === undefined) continue;
        if (call.result === undefined) {
          call.result = block;
          pairing.placed.add(block);
        } else if (sameResult(call.result, block)) {
          losses.add(path, 'a repeated tool result was dropped');
          pairing.placed.add(block);
        }
      }
    }
  }
  return pairing;
}

function withFreshId(block: ToolUseBlock, ids: Set<string>): ToolUseBlock {
  let { id } = block;
  // Not `_2`: Claude Code takes that for a copy of the first call, and loses its result.
  for (let copy = 2; ids.has(id); copy += 1) id = `${block.id}-${copy}`;
  ids.add(id);
  return id === block.id ? block : { ...block, id };
}

function sameResult(one: ToolResultBlock, other: ToolResultBlock): boolean {
  return JSON.stringify(one.content) === JSON.stringify(other.content);
}

function rebuild(messages: readonly Message[], pairing: Pairing, losses: LossLog): Message[] {
  const out: Message[] = [];
  let waiting: ToolResultBlock[] = [];
  for (const [index, message] of messages.entries()) {
    const content = rest(message, index, pairing, losses);
    if (waiting.length > 0) {
      if (message.role === 'user') {
        out.push({ ...message, content: [...waiting, ...content] });
        waiting = [];
        continue;
      }
      out.push({ role: 'user', content: waiting });
      waiting = [];
    }
    if (content.length === 0 && message.content.length > 0) continue;
    out.push({ ...message, content });
    if (message.role === 'assistant') waiting = answers(message, pairing, losses);
  }
  if (waiting.length > 0) out.push({ role: 'user', content: waiting });
  return out;
}

/** The message without results that stand elsewhere; results without a call are text. */
function rest(message: Message, index: number, pairing: Pairing, losses: LossLog): Block[] {
  const content: Block[] = [];
  for (const [position, block] of message.content.entries()) {
    const path = `messages.${index}.content.${position}`;
    if (block.type === 'tool_use') {
      const call = pairing.calls.get(block);
      if (call !== undefined) content.push(call.block);
      else if (!pairing.copies.has(block))
        losses.add(path, 'a tool call outside an assistant turn was dropped');
    } else if (block.type !== 'tool_result') content.push(block);
    else if (!pairing.placed.has(block)) {
      losses.add(path, 'a tool result without its call was sent as text');
      content.push(...asText(block));
    }
  }
  return content;
}

function answers(message: Message, pairing: Pairing, losses: LossLog): ToolResultBlock[] {
  const results: ToolResultBlock[] = [];
  for (const block of message.content) {
    const call = pairing.calls.get(block);
    if (call === undefined) continue;
    const { id } = call.block;
    const { result } = call;
    if (result !== undefined) results.push(result.toolUseId === id ? result : { ...result, toolUseId: id });
    else {
      losses.add('messages', `the unanswered tool call ${id} got an error result`);
      results.push(unanswered(id));
    }
  }
  return results;
}

function unanswered(toolUseId: string): ToolResultBlock {
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text: UNANSWERED }], isError: true };
}

/** What was said is kept; that it answered a call can no longer be shown as such. */
function asText({ toolUseId, content, isError }: ToolResultBlock): Block[] {
  const what = isError ? 'Error' : 'Result';
  const head: TextBlock = {
    type: 'text',
    text: `[${what} of the tool call ${toolUseId}, which is no longer part of this conversation]`,
  };
  return [head, ...content];
}
