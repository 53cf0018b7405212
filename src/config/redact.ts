/** Secrets out of every text that is printed, logged or kept: which values they are, and how they look. */
import type { KeyPath } from './config-error.js';
import { pathKey, type References } from './environment-references.js';
import { alternatives, KnownValues } from './known-values.js';
import type { NotifyTargetConfig } from './notify-schema.js';
import type { Config } from './schema.js';

export const REDACTED = '[redacted]';

type Redactor = (text: string) => string;

/** A shape of secrets, and a cheaper one that is there wherever it is. */
interface Shape {
  /**
   * Looser than the shape. Each branch starts at the rarest letter of what it looks for and looks
   * back from there: the engine skips to those letters, several times as fast as trying every start.
   */
  hint: string;
  /** Group 1 is kept. None can match a part of a text in two ways, so each is linear in its length, whatever the text. */
  shape: RegExp;
}

/** Shapes that are known wherever they come from; what follows the prefix is long enough not to be a word. */
const TOKENS: readonly { token: string; hint: string }[] = [
  { token: 'sk-[A-Za-z0-9_-]{16,}', hint: 'k(?<=(?<![A-Za-z0-9])sk|\\\\[nrt]sk)-[A-Za-z0-9_-]{16}' },
  { token: 'AIza[A-Za-z0-9_-]{30,}', hint: 'z(?<=AIz)a[A-Za-z0-9_-]{30}' },
  { token: 'gsk_[A-Za-z0-9]{20,}', hint: 'k(?<=gsk)_[A-Za-z0-9]{20}' },
  { token: 'xai-[A-Za-z0-9]{20,}', hint: 'xai-[A-Za-z0-9]{20}' },
  { token: 'hf_[A-Za-z0-9]{20,}', hint: '_(?<=hf_)[A-Za-z0-9]{20}' },
  { token: 'AKIA[A-Z0-9]{16}', hint: 'K(?<=AK)IA[A-Z0-9]{16}' },
  { token: 'gh[pousr]_[A-Za-z0-9]{30,}', hint: '_(?<=gh[pousr]_)[A-Za-z0-9]{30}' },
  { token: 'github_pat_[A-Za-z0-9_]{30,}', hint: '_(?<=github_)pat_[A-Za-z0-9_]{30}' },
  { token: 'xox[abeoprs]-[A-Za-z0-9-]{10,}', hint: 'xox[abeoprs]-[A-Za-z0-9-]{10}' },
  // A JSON web token. Only from where the run of characters starts: each start reads to the end of the run.
  {
    token: '(?<![_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*',
    hint: 'J(?<=eyJ)[A-Za-z0-9_-]{8}',
  },
];

/** Names before `:` or `=`, in a header, in JSON (escaped or not) and in a query. */
const NAMES: readonly string[] = [
  '(?:x-(?:goog-)?)?api[-_]?key',
  '(?:proxy-)?authorization',
  '(?:access|refresh|id|auth)_token',
  'client_secret',
];

/** Space may be any in UTF-8 that is read as Latin-1, and is two or three characters there. */
const HINT_ASSIGNED = `\\\\?["']?[\\s\\x80-\\uffff]{0,12}[:=]`;

/** In this order. */
const SHAPES: readonly Shape[] = [
  {
    hint: TOKENS.map(({ hint }) => hint).join('|'),
    // Behind a letter it is the end of a word (`risk-…`), unless the letter is a line break in JSON.
    shape: new RegExp(
      `((?<![A-Za-z0-9])|(?<=\\\\[nrt]))(?:${TOKENS.map(({ token }) => token).join('|')})`,
      'g',
    ),
  },
  {
    hint: 'K(?<=PRIVATE K)EY-----',
    shape: /(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)[^-]+/g,
  },
  {
    // Of space only what is a single byte: a part of another character looks like some other.
    hint: `:\\/\\/[^\\t-\\r /@:"'<>]*:[^\\t-\\r /@"'<>]+@`,
    shape: /(:\/\/)[^\s/@:"'<>]*:[^\s/@"'<>]+(?=@)/g,
  },
  {
    hint: `(?:${inAnyCase('bearer')}|${inAnyCase('basic')})[ \\t]+[A-Za-z0-9._~+/-]{8}`,
    shape: /((?:bearer|basic)[ \t]+)(?=[A-Za-z0-9._~+/-]{8})[A-Za-z0-9._~+/-]+=*/gi,
  },
  {
    hint: [
      `${inAnyCase('key')}(?<=${inAnyCase('api')}[-_]?...)${HINT_ASSIGNED}`,
      `${inAnyCase('zation')}(?<=${inAnyCase('authori')}......)${HINT_ASSIGNED}`,
      `_${inAnyCase('token')}${HINT_ASSIGNED}`,
      `_${inAnyCase('secret')}(?<=${inAnyCase('client')}.......)${HINT_ASSIGNED}`,
    ].join('|'),
    shape: new RegExp(
      `((?:${NAMES.join('|')})\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?(?:(?:bearer|basic|token)[ \\t]+)?)` +
        `(?!\\[redacted\\]|\\$\\{|(?:bearer|basic|token)(?![A-Za-z0-9]))[^\\s"'\\\\,;&}<>]{4,}`,
      'gi',
    ),
  },
];

const HINTS: readonly RegExp[] = SHAPES.map(({ hint }) => new RegExp(hint));

/** Whether any shape could be there at all. Almost every text and every line of the log ends here. */
const CANDIDATE = new RegExp(SHAPES.map(({ hint }) => hint).join('|'));

/** Faster than the flag, which every character of the text would be folded for. */
function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Every secret in a text becomes `[redacted]`: the known values given here, and the shapes above. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = new KnownValues(variantsOf(secrets));
  return (text) => {
    let result = text;
    const found = known.in(text);
    if (found.length > 0) result = text.replace(new RegExp(alternatives(found), 'g'), REDACTED);
    if (!CANDIDATE.test(result)) return result;
    for (const [index, { shape }] of SHAPES.entries()) {
      if (HINTS[index]?.test(result) === true) result = result.replace(shape, `$1${REDACTED}`);
    }
    return result;
  };
}

/**
 * Whether UTF-8 surely holds no secret, known without decoding it. Whatever `createRedactor` with the
 * same secrets would change in a part of the text is seen; some of what it would leave is too.
 */
export function createCleanCheck(secrets: readonly string[]): (utf8: Uint8Array) => boolean {
  const known = new KnownValues(variantsOf(secrets).map((value) => Buffer.from(value).toString('latin1')));
  // A few more branches cost nothing, a second look at the text half as much as the first.
  const { pattern } = known;
  const candidate = pattern === undefined ? CANDIDATE : new RegExp(`${CANDIDATE.source}|${pattern}`);
  return (utf8) => {
    // A character a byte: nothing is decoded, and every pattern finds its ASCII.
    const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('latin1');
    if (candidate.test(text)) return false;
    return pattern !== undefined || known.in(text, 'one').length === 0;
  };
}

/** A secret also as it stands in JSON and in an address. */
function variantsOf(secrets: readonly string[]): string[] {
  const variants = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    variants.add(secret);
    variants.add(JSON.stringify(secret).slice(1, -1));
    variants.add(encodeURIComponent(secret));
  }
  return [...variants];
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
  const addNamed = (values: Readonly<Record<string, string>> | undefined, path: KeyPath): void => {
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
    for (const [index, target] of (upstream.targets ?? []).entries()) {
      add(target.api_key);
      if (target.base_url !== undefined) addUrl(target.base_url);
      addNamed(target.headers, ['upstreams', name, 'targets', index, 'headers']);
    }
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
  const { collector, headers } = config.telemetry;
  if (collector !== undefined) addUrl(collector);
  addNamed(headers, ['telemetry', 'headers']);
  addUrl(config.store);
  add(config.cluster?.secret);
  for (const target of Object.values(config.notify?.targets ?? {})) {
    for (const secret of secretsOfTarget(target)) add(secret);
    if ('url' in target) addUrl(target.url);
  }
  return [...secrets];
}

function secretsOfTarget(target: NotifyTargetConfig): (string | undefined)[] {
  switch (target.type) {
    case 'webhook':
      return [target.secret, target.secret.replace(/^whsec_/, '')];
    case 'ntfy':
      return [target.token, target.topic];
    case 'slack':
      return [target.token, target.signing_secret];
    case 'telegram':
      return [target.token, target.secret_token];
    case 'feishu':
      return [target.app_secret, target.encrypt_key, target.verification_token];
  }
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
  // Of a PostgreSQL URL.
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'host',
]);

function isPlainParameter(name: string): boolean {
  return PLAIN_PARAMETERS.has(safeDecode(name).toLowerCase());
}

/** Values of the query of an address, decoded and as they are sent. Most values there are credentials. */
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
