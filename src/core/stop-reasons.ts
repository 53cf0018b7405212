/** Why an answer ended, as far as it decides what the client is told. */
import type { StopReason } from './conversation.js';

/** Ends that mean the model did not finish what it was saying. */
export const CUT_OFF: ReadonlySet<StopReason> = new Set(['max_tokens', 'context_window_exceeded', 'refusal']);
/** Ends after which the client sends the answer back to go on. */
const PAUSED: ReadonlySet<StopReason> = new Set(['pause_turn', 'compaction']);

export function isPause(reason: StopReason): boolean {
  return PAUSED.has(reason);
}

/** `tool_use` exactly where whole calls were made and the answer was not cut. */
export function finalReason(reason: StopReason, wholeCalls: number): StopReason {
  if (CUT_OFF.has(reason) || PAUSED.has(reason)) return reason;
  if (wholeCalls > 0) return 'tool_use';
  return reason === 'tool_use' ? 'end_turn' : reason;
}
