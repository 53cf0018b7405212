/** Which values of a configuration are secrets. */
import { pathKey, type References } from './environment-references.js';
import type { Config } from './schema.js';

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

export function isPlainParameter(name: string): boolean {
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
