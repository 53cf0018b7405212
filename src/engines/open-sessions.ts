/** Sessions as the configuration wants them. The caller closes them, after the engines and before the store. */
import type { Config } from '../config/schema.js';
import type { Log } from '../observability/log.js';
import { createSessions } from '../sessions/lifetime/create-sessions.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Store } from '../store/store.js';

export function openSessions({ sessions }: Pick<Config, 'sessions'>, store: Store, log: Log): Sessions {
  return createSessions({
    store,
    log,
    ttlMs: sessions.ttl_s * 1000,
    toolTimeoutMs: sessions.tool_timeout_s * 1000,
    onToolTimeout: sessions.on_tool_timeout,
  });
}
