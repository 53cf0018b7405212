/** Why work is ended from outside, and how the signals that say so are followed. */
import { type ErrorCode, GatewayError, type GatewayErrorOptions } from './errors.js';

export type StopCause =
  | 'client-gone'
  /** The rest of the request could not be read. */
  | 'request-broken'
  /** Nobody's wish: the work goes on when the gateway is back. */
  | 'gateway-stops'
  | 'person-stopped'
  /** Another process holds the session now. */
  | 'session-lost'
  | 'session-ended';

/** The reason of a signal whose followers decide by the cause. */
export class StopError extends GatewayError {
  readonly stopCause: StopCause;

  constructor(stopCause: StopCause, code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(code, message, options);
    this.stopCause = stopCause;
  }
}

/** Undefined for a signal that has not fired, and for every reason that is no StopError. */
export function causeOf(stopped: unknown): StopCause | undefined {
  const reason: unknown = stopped instanceof AbortSignal ? stopped.reason : stopped;
  return reason instanceof StopError ? reason.stopCause : undefined;
}

/** Calls `stop` when the signal fires, at once where it has fired. The returned function removes the listener. */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) {
    stop();
    return () => {};
  }
  signal.addEventListener('abort', stop, { once: true });
  return () => signal.removeEventListener('abort', stop);
}

export interface LinkedSignals {
  controller: AbortController;
  signal: AbortSignal;
  /** Removes the listeners: a source may live much longer than what follows it. */
  release(): void;
}

/** A controller that fires with the first of `sources` to fire, with its reason. */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignals {
  const controller = new AbortController();
  const releases = sources.map((source) => onAbort(source, () => controller.abort(source.reason)));
  return {
    controller,
    signal: controller.signal,
    release: () => {
      for (const release of releases) release();
    },
  };
}

/** `work`, or a rejection with the signal's reason as soon as it fires. Work that is left swallows its failure. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(release);
  });
}
