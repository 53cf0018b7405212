import type { ToolResultBlock } from '../../core/conversation.js';

/** A result that the gateway gives in a tool's place; the text is for the model. */
export function errorResult(toolUseId: string, text: string): ToolResultBlock {
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: true };
}
