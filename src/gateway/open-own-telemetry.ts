/** The gateway's own telemetry, where the configuration or the environment names a collector. */

import type { Environment } from '../config/environment-references.js';
import type { Config } from '../config/schema.js';
import { type TelemetrySettings, telemetrySettings } from '../config/telemetry-settings.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { Telemetry } from '../observability/open-telemetry.js';
import { StoreGauges } from '../observability/store-figures.js';
import type { Store } from '../store/store.js';

interface FoundTelemetry {
  settings: TelemetrySettings | undefined;
  problems: readonly string[];
  /** Values of headers that stand in the environment alone. */
  secrets: readonly string[];
}

export function findTelemetry({ telemetry }: Pick<Config, 'telemetry'>, env: Environment): FoundTelemetry {
  const found = telemetrySettings(telemetry, env);
  const { traces, metrics } = found.settings ?? {};
  const secrets = [traces, metrics].flatMap((target) => Object.values(target?.headers ?? {}));
  return { ...found, secrets: secrets.filter((value) => value.length >= SECRET_CHARS) };
}

/** A shorter one would be found in every text. */
const SECRET_CHARS = 8;

interface OwnTelemetryOptions {
  found: FoundTelemetry;
  store: Pick<Store, 'figures'>;
  metrics: Metrics;
  version: string;
  node: string | undefined;
  redact(text: string): string;
  log: Log;
}

/** Undefined where nobody collects: then nothing of it is loaded. */
export async function openOwnTelemetry(options: OwnTelemetryOptions): Promise<Telemetry | undefined> {
  const { found, store, metrics: figures, version, node, redact, log } = options;
  for (const problem of found.problems) log.warn({ problem }, 'a setting of OpenTelemetry is not used');
  if (found.settings === undefined) return undefined;
  const { openTelemetry } = await import('../observability/open-telemetry.js');
  const gauges = new StoreGauges(() => store.figures());
  const storeFigures = () => gauges.collect();
  return openTelemetry({ ...found.settings, figures, storeFigures, version, node, redact, log });
}
