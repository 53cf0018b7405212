/** A client that is loaded when there is a server for it: most gateways have none. */
import { ChangeListeners } from './change-listeners.js';
import type { McpClientOptions } from './create-client.js';
import type { McpClient } from './mcp-client.js';
import { clientDocumentOf } from './oauth/client-document.js';

/** Connects to the servers of the configuration at once, as `createMcpClient` does. */
export function createLazyMcpClient(options: McpClientOptions): McpClient {
  let loaded: McpClient | undefined;
  let loading: Promise<McpClient> | undefined;
  let closed = false;
  const changes = new ChangeListeners(options.log);
  const load = (): Promise<McpClient> => {
    loading ??= import('./create-client.js').then(async ({ createMcpClient }) => {
      loaded = createMcpClient(options);
      loaded.onChange((change) => changes.tell(change));
      if (closed) await loaded.close();
      return loaded;
    });
    return loading;
  };
  if (Object.keys(options.servers).length > 0 || (options.added ?? []).length > 0) {
    load().catch((error: unknown) => options.log.warn({ err: error }, 'the MCP client could not be loaded'));
  }
  return {
    tools: (session) => loaded?.tools(session) ?? [],
    directory: async (signal) => loaded?.directory(signal) ?? [],
    status: () => loaded?.status() ?? [],
    settled: async (signal) => (await loading)?.settled(signal),
    add: async (name, config) => (await load()).add(name, config),
    remove: async (name) => (await load()).remove(name),
    configure: async (servers) => {
      if (loading === undefined && Object.keys(servers).length === 0) return;
      await (await load()).configure(servers);
    },
    clientDocument: (name) => clientDocumentOf(options, name),
    refresh: async () => (await load()).refresh(),
    reconnect: async (name) => (await load()).reconnect(name),
    finishSignIn: async (name, answer) => (await load()).finishSignIn(name, answer),
    onChange: (listener) => changes.add(listener),
    closeSession: async (session) => loaded?.closeSession(session),
    async close() {
      closed = true;
      await (await loading)?.close();
    },
  };
}
