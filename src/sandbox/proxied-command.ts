/** A command whose only network is the proxy on a socket. */
import { INNER_PROXY_SOCKET } from './walls.js';

/**
 * The only way out for a command that may reach some hosts: an HTTP proxy that lets those through.
 * One for each set of hosts, so that sessions with different ones run side by side.
 */

export interface HostProxy {
  /** Where it listens, on TCP. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** `*.example.com` is every name below it; anything else is that name alone, with or without `:port`. */
export async function openHostProxy(
  hosts: readonly string[],
  listen: { path: string } | { host: string; port: number },
): Promise<HostProxy> {
  // The tunnel, the matching of names and the check of the addresses behind them are the library's.
  const [{ createHttpProxyServer }, { matchesDomainPatternWithPort }, { createResolvedAddressGuard }] =
    await Promise.all([
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js'),
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/domain-pattern.js'),
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/resolved-address-guard.js'),
    ]);
  const guard = createResolvedAddressGuard({ allowedDomains: hosts });
  const server = createHttpProxyServer({
    filter: (port, host) => hosts.some((pattern) => matchesDomainPatternWithPort(host, port, pattern)),
    lookupFor: (port) => guard.lookupFor(port),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen, resolve);
  });
  server.unref();
  const address = server.address();
  return {
    port: typeof address === 'object' ? address?.port : undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const PORT = 3128;

/** Programs differ in which of them they read. */
export function proxyVariables(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const names = ['http_proxy', 'https_proxy', 'all_proxy'];
  const variables = Object.fromEntries(
    names.flatMap((name) => [
      [name, url],
      [name.toUpperCase(), url],
    ]),
  );
  return { ...variables, no_proxy: 'localhost,127.0.0.1,::1', NO_PROXY: 'localhost,127.0.0.1,::1' };
}

/**
 * Programs speak to a port, the proxy listens on a socket: socat stands between. In a shell of its
 * own, so that `wait` does not wait for it, and awaited, so that the first request finds it there.
 */
export function throughProxy(
  command: string,
  socat: string,
): { command: string; env: Record<string, string> } {
  const relay = `'${socat}' TCP-LISTEN:${PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${INNER_PROXY_SOCKET}`;
  const start = `( ${relay} </dev/null >/dev/null 2>&1 3>&- & )`;
  const ready = `for _ in {1..200}; do (exec 9<>/dev/tcp/127.0.0.1/${PORT}) 2>/dev/null && break; read -rt 0.02 <> <(:) || :; done`;
  return { command: `${start}\n${ready}\n${command}`, env: proxyVariables(PORT) };
}
