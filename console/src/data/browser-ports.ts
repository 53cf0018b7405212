/** The ports of the connection, implemented by the browser. */
import { pageFetch } from './api.js';
import type { TabsPorts } from './events/event-tabs.js';
import { browserTimers } from './events/ports.js';
import type { SharedPorts, TabLock, TabMessage } from './events/tab-messages.js';

const NAME = 'toolgate-events';

export function browserPorts(): TabsPorts {
  return { ...browserTimers, fetch: pageFetch, shared: sharedPorts() };
}

/** Locks are there on loopback and with TLS; a gateway on a plain address in the network has none. */
function sharedPorts(): SharedPorts | undefined {
  if (typeof navigator === 'undefined' || typeof document === 'undefined') return undefined;
  const { locks } = navigator;
  if (locks === undefined || typeof BroadcastChannel === 'undefined') return undefined;
  const channel = new BroadcastChannel(NAME);
  const lock: TabLock = {
    request: (held, { steal, signal }) =>
      // A lock that is taken by force cannot be waited for, so no signal goes with it.
      Promise.resolve(locks.request(NAME, steal ? { steal } : { signal }, held)),
  };
  return {
    lock,
    channel: {
      post: (message) => channel.postMessage(message),
      listen: (onMessage) => {
        const onEvent = ({ data }: MessageEvent<TabMessage>): void => onMessage(data);
        channel.addEventListener('message', onEvent);
        return () => channel.removeEventListener('message', onEvent);
      },
    },
    visible: () => document.visibilityState === 'visible',
  };
}

/** Checks the connection whenever there is a reason to doubt it. */
export function watchBrowser(tabs: { check(): void; reconnect(): void }): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') tabs.check();
  });
  addEventListener('online', () => tabs.reconnect());
  addEventListener('pageshow', () => tabs.check());
}

/** No frame comes in a tab that was hidden meanwhile. */
const LATEST_MS = 200;

/** At the next frame; at once in a hidden tab, because its timers may be a minute late. */
export function onNextFrame(run: () => void): void {
  if (document.visibilityState === 'hidden') {
    run();
    return;
  }
  let done = false;
  const once = (): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    run();
  };
  const timer = setTimeout(once, LATEST_MS);
  const frame = requestAnimationFrame(once);
}
