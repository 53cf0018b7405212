/** Turns of the console as the configuration wants them. The caller closes them, before the dispatcher and after the approvals. */
import type { LoadedConfig } from '../../../config/load.js';
import type { Dispatcher } from '../../../engines/dispatcher.js';
import type { ModelCatalogue } from '../../../engines/model-catalogue.js';
import type { Log } from '../../../observability/log.js';
import type { Metrics } from '../../../observability/metrics.js';
import { TraceSampler } from '../../../observability/trace-recorder.js';
import type { Sessions } from '../../../sessions/sessions.js';
import type { Store } from '../../../store/store.js';
import { principalNamed } from '../../access/auth.js';
import { reportTurn } from '../../observe/report.js';
import type { EventHub } from '../events/hub.js';
import { ChatRuns } from './chat-runs.js';

export interface OpenChatOptions {
  loaded: Pick<LoadedConfig, 'config'>;
  dispatcher: Dispatcher;
  models: ModelCatalogue;
  sessions: Sessions;
  store: Store;
  metrics: Metrics;
  events: EventHub;
  log: Log;
}

export function openChat({ loaded, ...parts }: OpenChatOptions): ChatRuns {
  const { server, traces } = loaded.config;
  return new ChatRuns({
    ...parts,
    sampler: traces.bodies ? new TraceSampler() : undefined,
    principalOf: (name) => principalNamed(server.keys, name),
    report: (turn) => reportTurn(turn, parts),
  });
}
