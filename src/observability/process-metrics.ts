/** CPU, memory, event loop and garbage collection of this process; loaded by the first scrape. */
import { collectDefaultMetrics, Registry } from 'prom-client';

const registry = new Registry();
collectDefaultMetrics({ register: registry });

export function renderProcessMetrics(): Promise<string> {
  return registry.metrics();
}
