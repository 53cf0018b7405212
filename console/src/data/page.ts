/** The data layer of this page. */
import { request } from './api.js';
import { ConsoleClient } from './console-client.js';
import { browserPorts, onNextFrame } from './events/browser-ports.js';
import { store } from './store.js';

export const client = new ConsoleClient({ ...browserPorts(), schedule: onNextFrame }, store, request);
