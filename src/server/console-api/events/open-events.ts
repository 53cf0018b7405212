/** The event stream of a gateway, told of everything that happens in it. */
import type { McpClient } from '../../../mcp/client/mcp-client.js';
import type { Log } from '../../../observability/log.js';
import type { ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { Sessions } from '../../../sessions/sessions.js';
import { describeSession, type SessionFacts } from '../session-wire.js';
import { EventHub } from './hub.js';
import type { EventLimits } from './limits.js';
import { connectSources } from './sources.js';

export interface EventsOptions {
  approvals: ApprovalCoordinator;
  sessions: Sessions;
  mcp: McpClient;
  store: SessionFacts['store'];
  log: Log;
  limits?: Partial<EventLimits> | undefined;
}

export interface OpenEvents {
  hub: EventHub;
  close(): void;
}

export function openEvents({ approvals, sessions, mcp, store, log, limits }: EventsOptions): OpenEvents {
  const hub = new EventHub({ approvals, log, ...(limits === undefined ? {} : { limits }) });
  const close = connectSources(hub, {
    approvals,
    sessions,
    mcp,
    log,
    describeSession: (id) => describeSession({ sessions, store }, id),
  });
  return { hub, close };
}
