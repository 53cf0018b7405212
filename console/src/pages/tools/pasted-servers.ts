/** MCP servers as other programs write them, pasted as JSON: what the form can take of each. */
import { readCommonForm } from '../../../../src/config/common-mcp-form.js';
import { EMPTY_FORM, type ServerForm, TRANSPORTS } from './server-form.js';

export interface PastedServer {
  form: ServerForm;
  /** Settings that the form does not have. */
  left: readonly string[];
}

export type Pasted = { servers: readonly PastedServer[] } | { problem: PasteProblem };
export type PasteProblem = 'json' | 'no-servers' | 'disabled';

type Settings = Readonly<Record<string, unknown>>;

export function readPasted(text: string): Pasted {
  const value = parse(text);
  if (value === undefined) return { problem: 'json' };
  const { value: ours, problems } = readCommonForm(sectioned(value));
  const own = isSettings(ours) ? ours['mcp_servers'] : undefined;
  if (problems.length > 0 || !isSettings(own)) return { problem: 'no-servers' };
  const servers = Object.entries(own).flatMap(([name, server]) =>
    isSettings(server) && ('command' in server || 'url' in server) ? [formOf(name, server)] : [],
  );
  if (servers.length > 0) return { servers };
  // Those that are switched off are left out, as in the file.
  return { problem: text.includes('"disabled"') ? 'disabled' : 'no-servers' };
}

/** A guide may show a part of a file only, without the braces around it. */
function parse(text: string): Settings | undefined {
  const trimmed = text.trim().replace(/,$/, '');
  for (const source of [trimmed, `{${trimmed}}`]) {
    try {
      const value: unknown = JSON.parse(source);
      if (isSettings(value)) return value;
    } catch {
      // The other reading may fit.
    }
  }
  return undefined;
}

/** A server alone, or servers by their names, as the section that they would stand in. */
function sectioned(value: Settings): Settings {
  if ('mcpServers' in value || 'mcp_servers' in value) return value;
  const isServer = typeof value['command'] === 'string' || typeof value['url'] === 'string';
  return { mcpServers: isServer ? { '': value } : value };
}

function formOf(name: string, server: Settings): PastedServer {
  const { type, command, args, env, url, headers, shared, timeout_s, ...others } = server;
  const transport = TRANSPORTS.find((each) => each === type) ?? (url === undefined ? 'stdio' : 'http');
  return {
    form: {
      ...EMPTY_FORM,
      name,
      type: transport,
      command: typeof command === 'string' ? command : '',
      args: Array.isArray(args) ? args.map(String).join('\n') : '',
      env: pairsOf(env),
      url: typeof url === 'string' ? url : '',
      headers: pairsOf(headers),
      shared: shared !== false,
      timeout: typeof timeout_s === 'number' ? String(timeout_s) : '',
    },
    left: Object.keys(others),
  };
}

function pairsOf(value: unknown): ServerForm['env'] {
  if (!isSettings(value)) return [];
  return Object.entries(value).map(([name, each], index) => ({ id: index + 1, name, value: String(each) }));
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
