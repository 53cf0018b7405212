/** Every route of the gateway: each surface has a table of its own. */
import { CONSOLE_ROUTES } from './console-api/routes.js';
import type { ServerContext } from './context.js';
import type { HttpRoute } from './http/route-table.js';
import { consolePage } from './http/static-files.js';
import { MCP_ROUTES } from './mcp-api/mcp-routes.js';
import { MODEL_ROUTES } from './model-api/routes.js';
import { OBSERVE_ROUTES } from './observe/health.js';

export const ROUTES: readonly HttpRoute<ServerContext>[] = [
  ...MODEL_ROUTES,
  { method: 'GET', path: '/', access: { area: 'public' }, handle: consolePage },
  ...OBSERVE_ROUTES,
  ...CONSOLE_ROUTES,
  ...MCP_ROUTES,
];
