const LOOPBACK_V4 = /^127(?:\.\d{1,3}){3}$/;

/** Whether listening on `host` is reachable from this machine alone. A name other than `localhost` is not trusted to be. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_V4.test(bare);
}
