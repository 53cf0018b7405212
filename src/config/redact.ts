/** Secrets out of every text that is printed, logged or kept. */
import { isPlainParameter } from './secrets.js';

export const REDACTED = '[redacted]';

type Redactor = (text: string) => string;

/** Shapes that are known wherever they come from; what follows the prefix is long enough not to be a word. */
const TOKENS: readonly string[] = [
  'sk-[A-Za-z0-9_-]{16,}',
  'AIza[A-Za-z0-9_-]{30,}',
  'gsk_[A-Za-z0-9]{20,}',
  'xai-[A-Za-z0-9]{20,}',
  'hf_[A-Za-z0-9]{20,}',
  'AKIA[A-Z0-9]{16}',
  'gh[pousr]_[A-Za-z0-9]{30,}',
  'github_pat_[A-Za-z0-9_]{30,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  // A JSON web token. Only from where the run of characters starts: each start reads to the end of the run.
  '(?<![_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*',
];

/** Names before `:` or `=`, in a header, in JSON (escaped or not) and in a query. */
const NAMES: readonly string[] = [
  '(?:x-(?:goog-)?)?api[-_]?key',
  '(?:proxy-)?authorization',
  '(?:access|refresh|id|auth)_token',
  'client_secret',
];

/**
 * In this order. Group 1 is kept. None can match a part of the text in two ways, so each is linear
 * in its length, whatever the text.
 */
const SHAPES: readonly RegExp[] = [
  // Behind a letter it is the end of a word (`risk-…`), unless the letter is a line break in JSON.
  new RegExp(`((?<![A-Za-z0-9])|(?<=\\\\[nrt]))(?:${TOKENS.join('|')})`, 'g'),
  /(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)[^-]+/g,
  /(:\/\/)[^\s/@:"'<>]*:[^\s/@"'<>]+(?=@)/g,
  /((?:bearer|basic)[ \t]+)(?=[A-Za-z0-9._~+/-]{8})[A-Za-z0-9._~+/-]+=*/gi,
  new RegExp(
    `((?:${NAMES.join('|')})\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?(?:(?:bearer|basic|token)[ \\t]+)?)` +
      `(?!\\[redacted\\]|\\$\\{|(?:bearer|basic|token)(?![A-Za-z0-9]))[^\\s"'\\\\,;&}<>]{4,}`,
    'gi',
  ),
];

/**
 * Whether any shape could be there at all. Looser than the shapes and without look-behind, which
 * makes it several times as fast; almost every text and every line of the log ends here.
 */
const CANDIDATE = new RegExp(
  [
    // Only as far as the first run of characters must go, so that nothing is read twice.
    ...TOKENS.map((token) => token.replace(/^\(.*?\)/, '').replace(/,\}.*/, '}')),
    'PRIVATE KEY-----',
    ':\\/\\/[^\\s/@:"\'<>]*:[^\\s/@"\'<>]+@',
    '(?:bearer|basic)[ \\t]+[A-Za-z0-9._~+/-]{8}',
    `(?:${NAMES.join('|')})\\\\?["']?\\s{0,4}[:=]`,
  ].join('|'),
  'i',
);

/** Every secret in a text becomes `[redacted]`: the known values given here, and the shapes above. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = variantsOf(secrets);
  const values = known.length === 0 ? undefined : new RegExp(known.map(escapeRegExp).join('|'), 'g');
  return (text) => {
    let result = values === undefined ? text : text.replace(values, REDACTED);
    if (!CANDIDATE.test(result)) return result;
    for (const shape of SHAPES) result = result.replace(shape, `$1${REDACTED}`);
    return result;
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** A secret also as it stands in JSON and in an address. The longest first: one may hold another. */
function variantsOf(secrets: readonly string[]): string[] {
  const variants = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    variants.add(secret);
    variants.add(JSON.stringify(secret).slice(1, -1));
    variants.add(encodeURIComponent(secret));
  }
  return [...variants].sort((a, b) => b.length - a.length);
}

/** An address without its password and without the values of its query. */
export function maskUrl(address: string): string {
  return address
    .replace(/(:\/\/)[^\s/@]+@/, `$1${REDACTED}@`)
    .replace(/([?&])([^=&#]+)=([^&#]*)/g, (whole, start: string, name: string) =>
      isPlainParameter(name) ? whole : `${start}${name}=${REDACTED}`,
    );
}
