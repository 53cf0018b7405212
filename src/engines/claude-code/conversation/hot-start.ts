/** Whether a waiting process can continue a turn, and the messages that it gets. */
import type { Message, ToolResultBlock } from '../../../core/conversation.js';
import type { Turn } from '../../../sessions/sessions.js';
import { incomingMessage } from '../processes/transcript-entries.js';
import type { KnownToolCall } from '../tool-calls/tool-call-table.js';
import type { ClaudeConversation } from './claude-conversation.js';

interface HotStart {
  /** Results that the transcript has already, by Claude Code's ids. */
  told: ReadonlySet<string>;
  /** Tells it. */
  go(): void;
}

/** Undefined where the process does not stand where the session stands. */
export function hotStart(conversation: ClaudeConversation, turn: Turn): HotStart | undefined {
  const { stood, alive, broker } = conversation;
  if (!alive || stood === undefined || stood.steps !== turn.before) return undefined;
  const waiting = broker.known.all.filter(({ block }) => !broker.known.results.has(block.id));
  const fresh = turn.transcript.slice(stood.messages);
  return broker.known.all.length > 0
    ? withResults(conversation, turn, fresh, waiting)
    : withMessage(conversation, turn, fresh);
}

function withMessage(
  conversation: ClaudeConversation,
  { outstanding }: Turn,
  fresh: readonly Message[],
): HotStart | undefined {
  if (outstanding !== undefined || fresh.length === 0) return undefined;
  if (fresh.some(({ role }) => role === 'assistant')) return undefined;
  return { told: new Set(), go: () => conversation.send(incomingMessage(fresh).message) };
}

function withResults(
  { broker }: ClaudeConversation,
  { outstanding }: Turn,
  fresh: readonly Message[],
  waiting: readonly KnownToolCall[],
): HotStart | undefined {
  const results = new Map<string, ToolResultBlock>(outstanding?.results ?? []);
  const [message, ...others] = fresh;
  if (others.length > 0) return undefined;
  for (const block of message?.content ?? []) {
    // What is said beside results has no place between a call and its answer.
    if (block.type !== 'tool_result') return undefined;
    results.set(block.toolUseId, block);
  }
  const clients = waiting.filter(({ owner, problem }) => owner === 'client' && problem === undefined);
  if (clients.some(({ block }) => !results.has(block.id))) return undefined;
  return {
    told: new Set(message === undefined ? [] : broker.known.all.map(({ wireId }) => wireId)),
    go() {
      for (const call of clients) {
        const result = results.get(call.block.id);
        if (result !== undefined) broker.deliver(call, result);
      }
    },
  };
}
