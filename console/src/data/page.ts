/** The data layer of this page, and its connection to the gateway's events. */
import { request } from './api.js';
import { browserPorts, onNextFrame, watchBrowser } from './browser-ports.js';
import { ConsoleClient } from './console-client.js';
import { store } from './store.js';

export const client = new ConsoleClient({ ...browserPorts(), schedule: onNextFrame }, store, request);

let started = false;

/**
 * Connects once, for as long as the page is open. `connection` of the state says how it goes;
 * `signed-out` stays until `reconnect`.
 */
export function startEvents(): void {
  if (started) return;
  started = true;
  client.start();
  watchBrowser(client.tabs);
}

/** Retries at once, for a person who asks for it or has just signed in. */
export function reconnect(): void {
  client.tabs.reconnect();
}
