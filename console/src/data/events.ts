/** The connection of this page to the gateway's events. */
import { watchBrowser } from './events/browser-ports.js';
import { startNotifications } from './notifications.js';
import { client } from './page.js';

let stop: (() => void) | undefined;

/**
 * Connects, and stays connected until the returned function is called; once for the page, as often as
 * it is called. How it goes is in `connection` of the state; `signed-out` stays until `reconnect`.
 */
export function startEvents(): () => void {
  if (stop === undefined) {
    client.start();
    startNotifications();
    const unwatch = watchBrowser(client.tabs);
    stop = () => {
      unwatch();
      client.stop();
    };
  }
  return () => {
    stop?.();
    stop = undefined;
  };
}

/** At once: somebody asks for it, or has just signed in. */
export function reconnect(): void {
  client.tabs.reconnect();
}
