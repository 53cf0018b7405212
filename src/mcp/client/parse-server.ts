/** A server that was added while the gateway runs, checked as the file would be. */
import { ConfigError } from '../../config/config-error.js';
import { parseConfig } from '../../config/parse.js';
import type { McpServerConfig } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';

/** Throws `invalid_request` that names the key. References to the environment are not replaced: it is not the caller's. */
export function parseServer(name: string, given: unknown): McpServerConfig {
  if (name === '')
    throw new GatewayError('invalid_request', 'name: expected the name of the server.', { param: 'name' });
  try {
    const { config } = parseConfig({ mcp_servers: { [name]: given } }, { env: {} });
    const server = config.mcp_servers[name];
    if (server !== undefined) return server;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first] = error.problems;
    const told = error.problems.map(
      ({ path, message }) => `${path.replace(/^mcp_servers\./, '')}: ${message}`,
    );
    throw new GatewayError('invalid_request', `${told.join('; ')}.`, {
      ...(first === undefined ? {} : { param: first.path }),
      cause: error,
    });
  }
  throw new GatewayError('invalid_request', 'config: expected the settings of an MCP server.', {
    param: 'config',
  });
}
