/**
 * What a configuration would do, in lines for a person who decides whether to trust it. The file is
 * only parsed: no reference to the environment is resolved, and no value is believed to have the
 * form that it should have.
 */
import { isLoopback } from '../config/check.js';
import { ConfigError } from '../config/config-error.js';
import { parseConfigDocument } from '../config/yaml-document.js';

/** The whole file is better read in an editor than in a question. */
const MAX_LINES = 60;
const MAX_CHARACTERS = 400;

const REFERENCE = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export function describeConfig(source: string): string[] {
  let root: Entries;
  try {
    root = entriesOf(parseConfigDocument(source, undefined).value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return ['nothing: it is not valid, and would be refused'];
  }
  const lines = [
    ...each(root['upstreams'], upstreamLine),
    ...each(root['mcp_servers'], serverLine),
    ...toolLines(entriesOf(root['tools'])),
    ...telemetryLine(entriesOf(root['telemetry'])),
    ...variableLine(source),
    ...each(root['models'], folderLine),
    ...permissionLines(entriesOf(root['permissions'])),
    ...settingLines(root),
  ].map(oneLine);
  if (lines.length === 0) return ['nothing beyond the defaults'];
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} things more: read the file`];
}

type Entries = Readonly<Record<string, unknown>>;

function entriesOf(value: unknown): Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function each(
  section: unknown,
  line: (name: string, entry: Entries) => readonly string[] | string | undefined,
): string[] {
  return Object.entries(entriesOf(section)).flatMap(([name, entry]) => line(name, entriesOf(entry)) ?? []);
}

function upstreamLine(name: string, upstream: Entries): string[] {
  const { targets, ...shared } = upstream;
  const lines = (Array.isArray(targets) ? targets : []).map((target, index) => {
    const own = entriesOf(target);
    return requestLine(`${name}/${shown(own['name'] ?? index + 1)}`, { ...shared, ...own });
  });
  return lines.length === 0 ? requestLine(name, upstream) : lines.flat();
}

function requestLine(name: string, { base_url, api_key, headers }: Entries): string[] {
  if (base_url === undefined) return [];
  const sent = references(`${shown(api_key)} ${shown(headers)}`).map((variable) => `\${${variable}}`);
  return [
    `send requests${sent.length === 0 ? '' : `, with ${sent.join(', ')},`} to ${shown(base_url)} (upstream ${name})`,
  ];
}

function serverLine(name: string, { command, args, url }: Entries): string {
  if (command === undefined) return `connect to ${shown(url)} (MCP server ${name})`;
  const words = [command, ...(Array.isArray(args) ? args : [])].map(shown);
  return `run: ${words.join(' ')} (MCP server ${name})`;
}

function toolLines({ paths, web_search, web_fetch }: Entries): string[] {
  const { base_url } = entriesOf(web_search);
  const { allow_private } = entriesOf(web_fetch);
  return [
    ...listOf(paths).map((path) => `import and run the code in ${path}`),
    ...(base_url === undefined ? [] : [`search the web at ${shown(base_url)}`]),
    ...listOf(allow_private).map((host) => `let WebFetch reach ${host}`),
  ];
}

function telemetryLine({ collector }: Entries): string[] {
  return collector === undefined ? [] : [`send the telemetry of clients to ${shown(collector)}`];
}

function variableLine(source: string): string[] {
  const names = references(source);
  return names.length === 0 ? [] : [`read from your environment: ${names.join(', ')}`];
}

function folderLine(name: string, { cwd }: Entries): string | undefined {
  return cwd === undefined ? undefined : `let the agent ${name} work in ${shown(cwd)}`;
}

function permissionLines({ mode, allow }: Entries): string[] {
  const rules = listOf(allow);
  return [
    ...(mode === 'allow' ? ['run every tool call without asking that no rule is about'] : []),
    ...(rules.length === 0 ? [] : [`allow without asking: ${rules.join(', ')}`]),
  ];
}

function settingLines({ server, store, sandbox }: Entries): string[] {
  const { host } = entriesOf(server);
  return [
    ...(typeof host === 'string' && !isLoopback(host) ? [`listen on ${host}`] : []),
    ...(store === undefined ? [] : [`keep its store in ${shown(store)}`]),
    ...(sandbox === 'off' ? ['run commands without a sandbox'] : []),
  ];
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(shown) : [];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function references(text: string): string[] {
  return [...new Set([...text.matchAll(REFERENCE)].map(([, name = '']) => name))];
}

/** A line break in a value must not look like the next line; the printer shows other controls. */
function oneLine(text: string): string {
  const flat = text.replace(/[\r\n\t\u0085\u2028\u2029]+/g, ' ⏎ ');
  if (flat.length <= MAX_CHARACTERS) return flat;
  return `${flat.slice(0, MAX_CHARACTERS)} … (${flat.length - MAX_CHARACTERS} more characters)`;
}
