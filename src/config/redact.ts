/** Secrets out of every text that is printed, logged or kept: which values they are, and how they look. */
import { pathKey, type References } from './environment-references.js';
import type { Config } from './schema.js';

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

/** A name (of a header, a variable, a query parameter) whose value is secret. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:api|access|auth|private|secret|signing|session)?[-_]?(?:key|token|secret|password|passwd|credentials?|authorization|cookie|signature)s?(?:$|[^a-z])/i;

/** What people write where a server wants some key but checks none. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'dummy',
  'empty',
  'none',
  'null',
  'unused',
  'no-key',
  'not-needed',
  'sk-no-key-required',
  'ollama',
  'lm-studio',
  'llama.cpp',
  'vllm',
  'local',
  'localhost',
  'test',
  'demo',
  'toolgate',
]);

/** Shorter values would blank out ordinary words of every line. */
const SHORTEST_SECRET = 4;

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}

/** Values of a configuration that must not be printed. */
export function collectSecrets(config: Config, references: References): string[] {
  const secrets = new Set<string>();
  const add = (value: string | undefined): void => {
    if (value === undefined || value.length < SHORTEST_SECRET) return;
    if (!PLACEHOLDERS.has(value.toLowerCase())) secrets.add(value);
  };
  const addNamed = (values: Readonly<Record<string, string>> | undefined, path: readonly string[]): void => {
    for (const [name, value] of Object.entries(values ?? {})) {
      if (!isSecretName(name) && !references.has(pathKey([...path, name]))) continue;
      add(value);
      // `Bearer TOKEN` is seen as the token alone too.
      add(/^(?:bearer|basic|token)\s+(\S+)$/i.exec(value)?.[1]);
    }
  };
  const addUrl = (value: string): void => {
    if (!URL.canParse(value)) return;
    const url = new URL(value);
    add(safeDecode(url.password));
    add(url.password);
    if (url.password !== '') {
      const pair = `${safeDecode(url.username)}:${safeDecode(url.password)}`;
      add(Buffer.from(pair).toString('base64'));
    }
    for (const value of secretParameters(url)) add(value);
  };

  for (const { key } of config.server.keys) add(key);
  for (const [name, upstream] of Object.entries(config.upstreams)) {
    if (upstream.dialect === 'demo') continue;
    add(upstream.api_key);
    addUrl(upstream.base_url);
    addNamed(upstream.headers, ['upstreams', name, 'headers']);
  }
  for (const [name, server] of Object.entries(config.mcp_servers)) {
    if (server.type === 'stdio') {
      addNamed(server.env, ['mcp_servers', name, 'env']);
      for (const [index, argument] of server.args.entries()) {
        if (references.has(pathKey(['mcp_servers', name, 'args', index]))) add(argument);
      }
    } else {
      addUrl(server.url);
      addNamed(server.headers, ['mcp_servers', name, 'headers']);
    }
  }
  const search = config.tools.web_search;
  if ('api_key' in search) add(search.api_key);
  if ('base_url' in search && search.base_url !== undefined) addUrl(search.base_url);
  addUrl(config.store);
  return [...secrets];
}

/** Values of the environment that must not be printed, for what is said before a configuration is known. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < 8 || !isSecretName(name)) continue;
    if (!PLACEHOLDERS.has(value.toLowerCase())) secrets.push(value);
  }
  return secrets;
}

/** Parameters of an address that say what is asked for, not who asks. */
const PLAIN_PARAMETERS: ReadonlySet<string> = new Set([
  'api-version',
  'api_version',
  'version',
  'alt',
  'beta',
]);

function isPlainParameter(name: string): boolean {
  return PLAIN_PARAMETERS.has(safeDecode(name).toLowerCase());
}

/** Values of the query of an address, decoded and as they are sent. Whoever puts one there mostly means a credential. */
export function secretParameters(url: URL): string[] {
  const values: string[] = [];
  for (const pair of url.search.slice(1).split('&')) {
    const at = pair.indexOf('=');
    if (at < 1 || isPlainParameter(pair.slice(0, at))) continue;
    const sent = pair.slice(at + 1);
    values.push(sent, safeDecode(sent.replaceAll('+', ' ')));
  }
  return values;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
