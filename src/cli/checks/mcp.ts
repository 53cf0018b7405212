import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.js';
import { createMcpClient } from '../../mcp/client/create-client.js';
import type { McpServerStatus } from '../../mcp/client/mcp-client.js';
import { TOKEN_FILE_NAME } from '../../mcp/client/oauth/token-file.js';
import { parseStoreUrl } from '../../store/open/open-store.js';
import { type Check, fail, ok, warn } from './check.js';

/** Shorter than the gateway's own: a person waits. */
const LIMITS = { initialiseMs: 10_000, listMs: 10_000, connectMs: 5000, stopMs: 500 };

interface McpCheckOptions {
  baseDir: string;
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  limits?: Partial<typeof LIMITS>;
}

/** Connects each server once, lists its tools and ends it. */
export async function checkMcpServers(
  { mcp_servers: servers, store }: Pick<Config, 'mcp_servers' | 'store'>,
  options: McpCheckOptions,
): Promise<Check[]> {
  const { baseDir, environment, version } = options;
  const tokenFile = signInsBeside(store, baseDir);
  if (Object.keys(servers).length === 0) return [];
  const quiet = { debug: () => {}, info: () => {}, warn: () => {} };
  const client = createMcpClient({
    servers,
    baseDir,
    environment,
    version,
    log: quiet,
    retries: false,
    limits: { ...LIMITS, ...options.limits },
    ...(tokenFile === undefined ? {} : { tokenFile }),
  });
  try {
    await client.settled(new AbortController().signal);
    return client.status().map(describe);
  } finally {
    await client.close();
  }
}

/** Sign-ins of the gateway, so that its servers are reached as it reaches them. */
function signInsBeside(store: string, baseDir: string): string | undefined {
  const location = parseStoreUrl(store, baseDir);
  return location.kind === 'file' ? join(dirname(location.path), TOKEN_FILE_NAME) : undefined;
}

function describe({ name, type, target, state, problem = '', tools, serverInfo }: McpServerStatus): Check {
  const subject = `mcp ${name}`;
  const server = `${target} (${type})`;
  if (state === 'connected') {
    const who = serverInfo === undefined ? '' : `${serverInfo.name} ${serverInfo.version}, `;
    const finding = `${server}: ${who}${tools.length === 1 ? '1 tool' : `${tools.length} tools`}`;
    return problem === '' ? ok(subject, finding) : warn(subject, finding, problem);
  }
  if (state === 'needs-auth') {
    return warn(
      subject,
      `${server}: it wants a credential`,
      'sign in while the gateway runs (GET /api/mcp shows the address), or put a token into `headers`',
    );
  }
  const [what, ...rest] = problem.split('; ');
  return fail(
    subject,
    `${server}: ${what}`,
    rest.length > 0 ? rest.join('; ') : `correct \`mcp_servers.${name}\`, or look at the log of the server`,
  );
}
