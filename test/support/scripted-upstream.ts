/** A scripted upstream for a test: started, and closed with it. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { closeAfterTest } from './cleanup.js';
import { type Script, ScriptedUpstream } from './upstream-server.js';

export * from './gate.js';
export * from './replies.js';
export * from './upstream-server.js';

export interface UpstreamOptions {
  /** A fixed port; a free one without. */
  port?: number;
}

/** Starts listening. Inside a test it is closed after the test; elsewhere the caller closes. */
export async function startUpstream(
  script: Script = [],
  options: UpstreamOptions = {},
): Promise<ScriptedUpstream> {
  const upstream = new ScriptedUpstream(script);
  await upstream.listen(options.port ?? 0);
  closeAfterTest(() => upstream.close());
  return upstream;
}

/**
 * An address where nobody listens. A port that was free a moment ago may be another test's by now;
 * this one needs privileges and no program uses it.
 */
export const DEAD_URL = 'http://127.0.0.1:1';

/** Below those that the system gives out by itself, and a range for each worker: no other test gets one meanwhile. */
const CHOSEN_PORTS = { from: 20_000, workers: 8, each: 1_250 };

/** A port that is free now, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % CHOSEN_PORTS.workers;
  for (;;) {
    const port = CHOSEN_PORTS.from + worker * CHOSEN_PORTS.each + randomInt(CHOSEN_PORTS.each);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
