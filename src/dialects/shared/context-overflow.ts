/**
 * "The prompt does not fit the model", as the providers word it. Claude Code compacts only when the
 * message itself says `prompt is too long` (any case); type and status are not looked at.
 */
const OVERFLOW: readonly RegExp[] = [
  /prompt is too long/i,
  /input length and `max_tokens` exceed context limit/i,
  /maximum context length/i,
  /context[_ ](?:length|window|limit|size)[_ a-z]*exceed/i,
  /exceeds? (?:the |its |your )?(?:model'?s? )?(?:available |maximum |max )?context/i,
  /exceeds? the (?:maximum|max) (?:number of )?(?:input )?tokens/i,
  /longer than the (?:maximum )?(?:model|context) (?:length|window)/i,
  /input token count .* exceeds/i,
  /too many (?:input |prompt )?tokens/i,
  /(?:prompt|input) (?:tokens? )?(?:is |are )?too (?:long|large) for/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /maximum prompt length is \d/i,
  /maximum (?:allowed )?input length/i,
  /prompt (?:token count|length|tokens)\b.*\bexceeds?\b/i,
  /prompt (?:is )?too long/i,
  /prompt exceeds max length/i,
  /input token count .*\bonly supports up to \d/i,
  /greater than the context length/i,
  /loaded with context length of only \d/i,
  /context window exceeds limit/i,
  /exceeded model token limit/i,
  /range of input length should be/i,
  /`?inputs`? tokens \+ `?max_new_tokens`? must be <=/i,
  /too large for model with \d+ maximum context/i,
  /input (?:tokens? )?exceeds? the (?:configured limit|context window)/i,
];

/** Messages that Claude Code knows already. */
const KNOWN_TO_CLIENTS = /prompt is too long|input length and `max_tokens` exceed context limit/i;

const NUMBER = '(\\d[\\d,_]{2,})';
const after = (words: string): RegExp => new RegExp(`(?:${words})\\D{0,24}?${NUMBER}`, 'i');

const LIMIT: readonly RegExp[] = [
  new RegExp(`>\\s*${NUMBER}`),
  after('maximum context length|maximum model length|maximum (?:number of )?(?:input )?tokens(?: allowed)?'),
  new RegExp(`${NUMBER} maximum context`, 'i'),
  after('maximum prompt length|(?:allowed )?input length of|model token limit|supports up to|max_seq_len'),
  after('context (?:window|size|limit|length)(?: of)?|n_ctx|limit of|maximum of|limit is'),
];

const ASKED: readonly RegExp[] = [
  new RegExp(`${NUMBER}\\s*(?:tokens)?\\s*>`),
  after(
    'resulted in|you requested|requested|token count|prompt \\(length|n_prompt_tokens|prompt contains|contains',
  ),
  after('input length|length is'),
  after('request|prompt|input|messages'),
];

export function isContextOverflow(message: string): boolean {
  return OVERFLOW.some((pattern) => pattern.test(message));
}

/** `message` in words that make a client compact, with the provider's figures where it gave them. */
export function promptTooLong(message: string): string {
  if (KNOWN_TO_CLIENTS.test(message)) return message;
  const limit = firstNumber(message, LIMIT);
  const asked = firstNumber(message, ASKED);
  if (limit === undefined || asked === undefined || asked <= limit) return `prompt is too long: ${message}`;
  return `prompt is too long: ${asked} tokens > ${limit} maximum (${message})`;
}

function firstNumber(message: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const digits = pattern.exec(message)?.[1];
    if (digits !== undefined) return Number(digits.replace(/[,_]/g, ''));
  }
  return undefined;
}
