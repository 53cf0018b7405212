/** For a process that is nothing but the gateway: SIGTERM, SIGINT and SIGHUP drain, a second one ends at once. */
import type { GatewayLog } from '../observability/log.js';

/** The last is a terminal that was closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function superviseProcess(close: () => Promise<void>, finished: Promise<void>, log: GatewayLog): void {
  let stopping = false;
  const exit = (code: number): void => {
    void log.flush().then(() => process.exit(code));
  };
  const onSignal = (signal: keyof typeof SIGNALS) => {
    if (stopping) return exit(SIGNALS[signal]);
    stopping = true;
    log.info({ signal }, 'draining; a second signal ends at once');
    close().catch((error: unknown) => {
      log.fatal({ err: error }, 'bug while stopping');
      exit(1);
    });
  };
  // A bug in one request is no reason to end the others; one that nothing caught leaves no state to trust.
  const onRejection = (error: unknown) => log.error({ err: error }, 'bug: unhandled rejection');
  const onException = (error: unknown) => {
    log.fatal({ err: error }, 'bug: uncaught exception');
    exit(1);
  };
  process
    .on('SIGINT', onSignal)
    .on('SIGTERM', onSignal)
    .on('SIGHUP', onSignal)
    .on('unhandledRejection', onRejection)
    .on('uncaughtException', onException);
  void finished.then(() => {
    process
      .off('SIGINT', onSignal)
      .off('SIGTERM', onSignal)
      .off('SIGHUP', onSignal)
      .off('unhandledRejection', onRejection)
      .off('uncaughtException', onException);
  });
}
