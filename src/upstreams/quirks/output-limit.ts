/** How long an answer an upstream allows: as its errors say it, and requests kept within it. */
import type { ConversationRequest } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import type { Quirks } from '../../dialects/shared/quirks.js';

/** The number is the most that may be asked for. */
const SAID: readonly RegExp[] = [
  // OpenAI, chat completions
  /supports at most (\d+) completion tokens/i,
  // OpenAI, responses
  /max_output_tokens'[\s\S]{0,80}expected a value <= (\d+)/i,
  // DeepSeek, Qwen
  /range of max_(?:completion_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i,
  // Groq, Moonshot
  /max_(?:completion_)?tokens\W+must be (?:less than or equal to|at most|<=)\W+(\d+)/i,
  // Anthropic
  /max_tokens: \d+ > (\d+), which is the maximum allowed number of output tokens/i,
  // Bedrock
  /maximum tokens you requested exceeds the model limit of (\d+)/i,
];

/** Gemini: the first number that may not be asked for. */
const SAID_EXCLUSIVE = /maxOutputTokens[\s\S]{0,80}range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/i;

/** The prompt fits, and the answer would not fit beside it. */
const SAID_OF_BOTH = /input length and `max_tokens` exceed context limit: \d+ \+ \d+ > (\d+)/i;

/** Undefined where `message` is about something else. */
export function outputLimitIn(message: string): number | undefined {
  for (const pattern of SAID) {
    const limit = numberIn(pattern, message);
    if (limit !== undefined) return limit;
  }
  const exclusive = numberIn(SAID_EXCLUSIVE, message);
  if (exclusive !== undefined) return exclusive - 1;
  const context = numberIn(SAID_OF_BOTH, message);
  // Half the context for the answer leaves half for the prompt, whatever this one's length was.
  return context === undefined ? undefined : Math.floor(context / 2);
}

function numberIn(pattern: RegExp, message: string): number | undefined {
  const digits = pattern.exec(message)?.[1];
  const number = digits === undefined ? 0 : Number(digits);
  return number > 0 ? number : undefined;
}

export function withinOutputLimit(
  request: ConversationRequest,
  { maxOutputTokens }: Quirks,
  losses: LossLog,
): ConversationRequest {
  if (request.maxTokens === undefined || request.maxTokens <= maxOutputTokens) return request;
  losses.add('max_tokens', `cut to the ${maxOutputTokens} that the upstream allows`);
  return { ...request, maxTokens: maxOutputTokens };
}
