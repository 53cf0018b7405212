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
