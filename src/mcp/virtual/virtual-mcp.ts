/**
 * The MCP servers that the gateway itself is: `gateway` with its tools, `auth` with its permissions.
 * Each speaks both eras of the protocol, and finds out which by what the request says of itself.
 */
import { LegacySessions } from './legacy-sessions.js';
import { VIRTUAL_LIMITS, type VirtualLimits } from './limits.js';
import type { VirtualParts } from './mcp-scope.js';
import { loadServerSdk, type ServerSdk } from './sdk.js';
import { StatelessExchanges } from './stateless-exchanges.js';
import type { VirtualAnswer, VirtualRequest } from './virtual-request.js';

export interface VirtualMcp {
  /**
   * Rejects with GatewayError: `invalid_request` without a session id, `not_found` for one that is
   * unknown, ended or another key's, `rate_limited` or `unavailable` where no more of a key fit.
   */
  handle(request: VirtualRequest): Promise<VirtualAnswer>;
  /** The tool list changed: subscribed clients are notified. */
  toolsChanged(): void;
  /** No new sessions; streams that wait for news end, so that nothing waits for them. */
  drain(): void;
  /** Ends every session. What waits for a person stays open in the store. */
  close(): Promise<void>;
}

interface VirtualMcpOptions extends Omit<VirtualParts, 'limits'> {
  limits?: Partial<VirtualLimits>;
}

export function createVirtualMcp(options: VirtualMcpOptions): VirtualMcp {
  const parts: VirtualParts = { ...options, limits: { ...VIRTUAL_LIMITS, ...options.limits } };
  const sessions = new LegacySessions(parts);
  const stateless = new StatelessExchanges(parts);
  return {
    async handle(request) {
      const sdk = await loadServerSdk();
      return isOfSessions(request, sdk) ? sessions.handle(request, sdk) : stateless.handle(request, sdk);
    },
    toolsChanged() {
      sessions.toolsChanged();
      stateless.toolsChanged();
    },
    drain() {
      sessions.drain();
      stateless.drain();
    },
    async close() {
      await Promise.all([sessions.close(), stateless.close()]);
    },
  };
}

/** The newer era also answers what is no message of either. */
function isOfSessions({ method, headers, body }: VirtualRequest, sdk: ServerSdk): boolean {
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  const [version, named, target] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map(header);
  const { kind } = sdk.classifyInboundRequest({
    httpMethod: method,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(named === undefined ? {} : { mcpMethodHeader: named }),
    ...(target === undefined ? {} : { mcpNameHeader: target }),
    ...(body === undefined ? {} : { body }),
  });
  return kind === 'legacy';
}
