/** What keeps this process alive. */

/** The worker's own channels, and work that ends by itself. */
const PASSING = /^(PipeWrap|TTYWrap|Immediate|.*Req.*)$/;

/** Timers, sockets, servers, processes, watchers. */
export const openHandles = (): string[] =>
  process.getActiveResourcesInfo().filter((kind) => !PASSING.test(kind));
