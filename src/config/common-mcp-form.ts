/**
 * MCP servers as other programs write them: a section `mcpServers`, whose entries say by `command` or
 * `url` what they are. They become entries of `mcp_servers`; what is wrong with one is reported where it stands.
 */
import { isObject } from '../core/is-object.js';
import type { KeyPath, PathProblem } from './config-error.js';

const COMMON_SECTION = 'mcpServers';
const OWN_SECTION = 'mcp_servers';

interface CommonForm {
  value: unknown;
  problems: readonly PathProblem[];
  /** The place in the file of what has this path in the value. */
  placeOf(path: KeyPath): KeyPath;
}

/** The value is not changed; parts of it that stay as they are are shared. */
export function readCommonForm(value: unknown): CommonForm {
  const same: CommonForm = { value, problems: [], placeOf: (path) => path };
  if (!isObject(value)) return same;
  const { [COMMON_SECTION]: common, ...others } = value;
  const own = others[OWN_SECTION];
  if (common === undefined && !isObject(own)) return same;
  if (common !== undefined && !isObject(common)) {
    return { ...same, problems: [{ path: [COMMON_SECTION], message: 'expected servers by their names' }] };
  }
  // What is wrong with a section of our own is said by the schema.
  if (own !== undefined && own !== null && !isObject(own)) return { ...same, value: others };
  const problems: PathProblem[] = [];
  const servers = new Map(Object.entries(own ?? {}).map(([name, server]) => [name, withType(server)]));
  const moved = new Set<string>();
  for (const [name, server] of Object.entries(common ?? {})) {
    const { disabled, ...settings } = isObject(server) ? server : {};
    if (disabled === true) continue;
    if (servers.has(name)) {
      problems.push({
        path: [COMMON_SECTION, name],
        message: `is under ${OWN_SECTION} as well; keep one of them`,
      });
      continue;
    }
    moved.add(name);
    servers.set(name, isObject(server) ? withType(settings) : server);
  }
  return {
    value: { ...others, [OWN_SECTION]: Object.fromEntries(servers) },
    problems,
    placeOf: ([section, name, ...rest]) => {
      const path = [section, name, ...rest].filter((part) => part !== undefined);
      const isMoved = section === OWN_SECTION && typeof name === 'string' && moved.has(name);
      return isMoved ? [COMMON_SECTION, ...path.slice(1)] : path;
    },
  };
}

function withType(server: unknown): unknown {
  if (!isObject(server) || 'type' in server) return server;
  if ('command' in server) return { type: 'stdio', ...server };
  return 'url' in server ? { type: 'http', ...server } : server;
}
