/** What the server assembles once: the contexts of its surfaces. Each handler sees that of its surface alone. */
import type { Store } from '../store/store.js';
import type { ConsoleApiContext, ConsoleStore } from './console-api/context.js';
import type { PageContext } from './http/static-files.js';
import type { McpApiContext } from './mcp-api/mcp-routes.js';
import type { ModelApiContext } from './model-api/context.js';
import type { ObserveContext } from './observe/health.js';
import type { ReportContext } from './observe/report.js';

export type ServerContext = ModelApiContext &
  ConsoleApiContext &
  McpApiContext &
  ObserveContext &
  PageContext &
  Pick<ReportContext, 'events'>;

/** The part of the store that the server uses itself. */
export type GatewayStore = ConsoleStore & Pick<Store, 'answers' | 'signIns'>;
