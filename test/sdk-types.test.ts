/** What the SDKs of the providers can say is named by the dialect, or explained. */
import { expect, it } from 'vitest';
import { unexplained, unknownTypes } from '../scripts/sdk-types.mjs';

it('leaves nothing that the installed SDKs can say unexplained (npm run sdk:types)', () => {
  expect(unexplained()).toEqual({ missing: [], stale: [] });
});

it('knows what the dialects handle, and what they do not', () => {
  const { 'anthropic-messages': messages, 'openai-responses': responses } = unknownTypes();
  expect(messages).toContain('web_search_tool_result');
  expect(messages).not.toContain('tool_result');
  expect(messages).not.toContain('max_tokens');
  expect(responses).toContain('mcp_call');
  expect(responses).not.toContain('function_call');
});
