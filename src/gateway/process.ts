/**
 * For a process that is nothing but the gateway: SIGTERM and SIGINT drain, a second one ends at once. SIGHUP loads the
 * configuration again, unless it says that the terminal was closed: then it drains as well.
 */
import { closeSync, openSync } from 'node:fs';
import type { GatewayLog } from '../observability/log.js';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

interface Supervised {
  close(): Promise<void>;
  /** Rejects where the file is wrong, which it has logged. */
  reload(by: string): Promise<unknown>;
  finished: Promise<void>;
  log: GatewayLog;
}

export function superviseProcess({ close, reload, finished, log }: Supervised): void {
  let stopping = false;
  const hadTerminal = hasTerminal();
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
  const onHangUp = () => {
    if (stopping || (hadTerminal && !hasTerminal())) return onSignal('SIGHUP');
    reload('SIGHUP').catch(() => {});
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
    .on('SIGHUP', onHangUp)
    .on('unhandledRejection', onRejection)
    .on('uncaughtException', onException);
  void finished.then(() => {
    process
      .off('SIGINT', onSignal)
      .off('SIGTERM', onSignal)
      .off('SIGHUP', onHangUp)
      .off('unhandledRejection', onRejection)
      .off('uncaughtException', onException);
  });
}

/** It cannot be opened any more once the terminal is closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
