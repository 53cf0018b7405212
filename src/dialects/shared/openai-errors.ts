/** Errors of upstreams that speak an OpenAI wire: from whatever they sent to one GatewayError. */
import { type ErrorCode, GatewayError, type GatewayErrorOptions } from '../../core/errors.js';
import { isContextOverflow } from './context-overflow.js';
import type { WireHeaders } from './dialect.js';
import { type ErrorBody, readErrorBody } from './openai-error-body.js';
import { retryAfterSeconds } from './retry-after.js';

const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [400, 'invalid_request'],
  [401, 'unauthenticated'],
  [402, 'billing'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'upstream_timeout'],
  [409, 'conflict'],
  [410, 'gone'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
  [422, 'unprocessable'],
  [424, 'upstream_failed'],
  [425, 'unavailable'],
  [429, 'rate_limited'],
  [498, 'unavailable'],
  [501, 'not_implemented'],
  [503, 'unavailable'],
  [504, 'upstream_timeout'],
  [524, 'upstream_timeout'],
  [529, 'overloaded'],
]);

/** `code` and `type` as providers spell them, without regard to case. */
const CODE_OF_WORD: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['context_length_exceeded', 'context_overflow'],
  ['context_window_exceeded', 'context_overflow'],
  ['exceed_context_size_error', 'context_overflow'],
  ['model_max_prompt_tokens_exceeded', 'context_overflow'],
  ['string_above_max_length', 'invalid_request'],
  ['insufficient_quota', 'billing'],
  ['billing_hard_limit_reached', 'billing'],
  ['billing_not_active', 'billing'],
  ['insufficient_balance', 'billing'],
  ['exceeded_current_quota_error', 'billing'],
  ['arrearage', 'billing'],
  ['payment_required', 'billing'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['rate_limit_error', 'rate_limited'],
  ['rate_limit_reached_error', 'rate_limited'],
  ['too_many_requests', 'rate_limited'],
  ['resource_exhausted', 'rate_limited'],
  ['throttling', 'rate_limited'],
  ['invalid_api_key', 'unauthenticated'],
  ['authentication_error', 'unauthenticated'],
  ['incorrect_api_key', 'unauthenticated'],
  ['unauthenticated', 'unauthenticated'],
  ['permission_error', 'forbidden'],
  ['permission_denied', 'forbidden'],
  ['model_not_found', 'not_found'],
  ['not_found_error', 'not_found'],
  ['resource_not_found_error', 'not_found'],
  ['not_found', 'not_found'],
  ['overloaded_error', 'overloaded'],
  ['engine_overloaded_error', 'overloaded'],
  ['server_is_overloaded', 'overloaded'],
  ['slow_down', 'overloaded'],
  ['service_unavailable', 'unavailable'],
  ['service_unavailable_error', 'unavailable'],
  ['unavailable', 'unavailable'],
  ['timeout', 'upstream_timeout'],
  ['timeout_error', 'upstream_timeout'],
  ['deadline_exceeded', 'upstream_timeout'],
  ['server_error', 'upstream_failed'],
  ['internal_error', 'upstream_failed'],
  ['internal_server_error', 'upstream_failed'],
  ['api_error', 'upstream_failed'],
  ['content_filter', 'invalid_request'],
  ['content_policy_violation', 'invalid_request'],
  ['invalid_request_error', 'invalid_request'],
  ['invalid_argument', 'invalid_request'],
  ['badrequesterror', 'invalid_request'],
  ['bad_request', 'invalid_request'],
  ['failed_precondition', 'invalid_request'],
]);

/** Words in a message that say money, where type and code say only "too many requests". */
const OUT_OF_MONEY =
  /exceeded your current quota|insufficient (?:account )?(?:balance|quota|credits?|funds)|credit balance|billing (?:details|hard limit)|out of credits|no longer have any credits|account is not active/i;

/** Of a prompt that fits and an answer that would not fit beside it. */
const ANSWER_TOO_LONG: readonly RegExp[] = [
  // vLLM
  /'max_(?:completion_)?tokens' is too large: (?<answer>\d+).*maximum context length is (?<limit>\d+) tokens and your request has (?<prompt>\d+) input tokens/is,
  /maximum context length is (?<limit>\d+) tokens.*you requested (?<answer>\d+) output tokens and your prompt contains (?:at least )?(?<prompt>\d+) input tokens/is,
  // OpenAI's first words, kept by most who came after it; OpenRouter
  /maximum context length is (?<limit>\d+) tokens.*you requested (?:about )?(?<total>\d+) tokens \([^)]*?\b(?<answer>\d+) (?:in|for) the (?:completion|output)/is,
];

/** Limits over time also speak of tokens; they pass, so the prompt is not too long. */
const OVER_TIME =
  /\b(?:tokens?|requests?) per (?:min|minute|hour|day|second)\b|\b(?:TPM|RPM|TPD|RPD)\b|rate limit|throttl|please wait/i;

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'upstream_failed',
  'unavailable',
  'upstream_timeout',
  'overloaded',
]);

/** Codes that a message may refine: the others are said plainly enough by the status. */
const VAGUE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'too_large',
  'unprocessable',
  'upstream_failed',
]);

/** An answer that is not 2xx. */
export function decodeOpenAiError(status: number, headers: WireHeaders, body: unknown): GatewayError {
  const error = readErrorBody(body) ?? { message: status < 400 ? redirected(status) : '' };
  const code = classify(status, error);
  const hint = headers['x-should-retry'];
  const retryable = hint === 'true' || (hint !== 'false' && RETRYABLE.has(code));
  const retryAfter = waitFor(headers, error, code);
  return make(code, error, {
    // A redirect is not followed: the client could do nothing with it.
    status: status < 400 ? 502 : status,
    retryable,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    cause: { upstreamRequestId: headers['x-request-id'], type: error.type },
  });
}

/** Redirects are not followed: the credential and the prompt go nowhere but where they were meant for. */
function redirected(status: number): string {
  return `The upstream answered ${status}, which leads elsewhere. Check its base_url.`;
}

/** An error inside a 200: a body or a chunk of a stream. */
export function embeddedError(error: ErrorBody): GatewayError {
  const code = classify(error.status, error);
  const retryAfter = error.retryAfter ?? waitInWords(error.message);
  return make(code, error, {
    ...(error.status === undefined ? {} : { status: error.status }),
    retryable: RETRYABLE.has(code),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    cause: { type: error.type },
  });
}

function make(code: ErrorCode, error: ErrorBody, options: GatewayErrorOptions): GatewayError {
  const detail = error.code ?? error.type;
  return new GatewayError(code, wording(code, error, options.status), {
    ...options,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(detail === undefined ? {} : { detail }),
  });
}

function wording(code: ErrorCode, error: ErrorBody, status: number | undefined): string {
  const { message, promptTokens, contextTokens } = error;
  if (code === 'context_overflow' && promptTokens !== undefined && contextTokens !== undefined) {
    return `prompt is too long: ${promptTokens} tokens > ${contextTokens} maximum`;
  }
  const tooLong = answerTooLong(message);
  if (tooLong !== undefined) return tooLong;
  if (code === 'unauthenticated') {
    return `The upstream refused the gateway's credential: ${message || 'no reason given'}. Check the upstream's api_key.`;
  }
  if (message !== '') return message;
  return `The upstream answered ${status ?? 'an error'} without saying why. Retry the request, or look at its trace.`;
}

/** In Anthropic's words, from which Claude Code reads how far to lower `max_tokens`. */
function answerTooLong(message: string): string | undefined {
  for (const pattern of ANSWER_TOO_LONG) {
    const groups = pattern.exec(message)?.groups;
    if (groups === undefined) continue;
    const [limit, answer] = [Number(groups['limit']), Number(groups['answer'])];
    const prompt =
      groups['prompt'] === undefined ? Number(groups['total']) - answer : Number(groups['prompt']);
    if (prompt >= limit) return undefined;
    return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${limit}, decrease input length or \`max_tokens\` and try again`;
  }
  return undefined;
}

function classify(status: number | undefined, error: ErrorBody): ErrorCode {
  const { message } = error;
  const word = wordOf(error.code) ?? wordOf(error.type);
  const byStatus = status === undefined ? undefined : (CODE_OF_STATUS.get(status) ?? byRange(status));
  // Gemini says "exceeded your current quota" of a limit that is back in seconds, and then says when.
  if (word === 'billing' || (error.retryAfter === undefined && OUT_OF_MONEY.test(message))) return 'billing';
  if (word === 'context_overflow') return word;
  const code = byStatus === undefined || VAGUE.has(byStatus) ? refined(byStatus, word) : byStatus;
  if (!VAGUE.has(code)) return code;
  if (OVER_TIME.test(message)) return 'rate_limited';
  return isContextOverflow(message) ? 'context_overflow' : code;
}

/** A 4xx stays one: `server_error` in a 400 is still about the request. */
function refined(byStatus: ErrorCode | undefined, word: ErrorCode | undefined): ErrorCode {
  if (byStatus === undefined) return word ?? 'upstream_failed';
  return word === undefined || word === 'upstream_failed' ? byStatus : word;
}

function wordOf(word: string | undefined): ErrorCode | undefined {
  return word === undefined ? undefined : CODE_OF_WORD.get(word.toLowerCase());
}

function byRange(status: number): ErrorCode {
  return status >= 400 && status < 500 ? 'invalid_request' : 'upstream_failed';
}

function waitFor(headers: WireHeaders, error: ErrorBody, code: ErrorCode): number | undefined {
  const said = retryAfterSeconds(headers) ?? error.retryAfter;
  if (said !== undefined || code !== 'rate_limited') return said;
  return waitInWords(error.message) ?? resetOf(headers);
}

/** `Please try again in 6m0s`, `… in 20s`, `… in 250ms`. */
function waitInWords(message: string): number | undefined {
  const duration = /try again in ((?:\d+(?:\.\d+)?\s?(?:ms|[hms])(?:econds?)?\s?)+)/i.exec(message)?.[1];
  return duration === undefined ? undefined : secondsOf(duration);
}

/** Of the limits that are used up, the one that comes back last; of all of them where none says so. */
function resetOf(headers: WireHeaders): number | undefined {
  const kinds = ['requests', 'tokens'];
  const empty = kinds.filter((kind) => headers[`x-ratelimit-remaining-${kind}`] === '0');
  let longest: number | undefined;
  for (const kind of empty.length > 0 ? empty : kinds) {
    const seconds = secondsOf(headers[`x-ratelimit-reset-${kind}`] ?? '');
    if (seconds !== undefined) longest = Math.max(longest ?? 0, seconds);
  }
  return longest ?? epochOf(headers['x-ratelimit-reset']);
}

/** Go's durations: `1h2m3.5s`, `120ms`; a bare number is seconds. */
function secondsOf(duration: string): number | undefined {
  const text = duration.trim();
  if (text === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  let seconds: number | undefined;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s?(ms|h|m|s)/g)) {
    seconds = (seconds ?? 0) + Number(amount) * (units[unit ?? 's'] ?? 1);
  }
  return seconds;
}

/** A moment in Unix seconds or milliseconds, or a number of seconds from now. */
function epochOf(value: string | undefined): number | undefined {
  const number = Number(value);
  if (value === undefined || value === '' || !Number.isFinite(number) || number < 0) return undefined;
  if (number < 1e9) return number;
  const milliseconds = number < 1e12 ? number * 1000 : number;
  return Math.max(0, (milliseconds - Date.now()) / 1000);
}
