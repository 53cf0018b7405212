/** What the handlers of `/api` work with. */
import type { Peers } from '../../cluster/peers.js';
import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { Dispatcher } from '../../engines/engine.js';
import type { ModelCatalogue } from '../../engines/model-catalogue.js';
import type { McpClient } from '../../mcp/client/mcp-client.js';
import type { Notifier } from '../../notify/delivery/notifier.js';
import type { Metrics } from '../../observability/metrics.js';
import type { ApprovalCoordinator } from '../../permissions/approvals.js';
import type { RulePreviews } from '../../permissions/coordinator/preview.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { ApprovalStore } from '../../store/approvals.js';
import type { RuleStore } from '../../store/rules.js';
import type { RunStore } from '../../store/runs.js';
import type { SessionStore } from '../../store/sessions.js';
import type { Store } from '../../store/store.js';
import type { ToolRuntime, ToolSelection } from '../../tools/runtime/runtime.js';
import { targetsOf } from '../../upstreams/endpoint.js';
import type { Auth } from '../access/auth.js';
import type { FindWorkspace } from '../access/find-workspace.js';
import type { KeyRing } from '../access/key-ring.js';
import type { Limits } from '../http/limits.js';
import type { Handler } from '../http/route-table.js';
import type { ChatQueue } from './chat/chat-queue.js';
import type { ChatRuns } from './chat/chat-runs.js';
import type { EventStreams } from './events/event-streams.js';
import type { EventHub } from './events/hub.js';
import type { Reload } from './reload.js';
import type { SearchLimit } from './search-limit.js';
import type { UpstreamAdministration } from './upstream-administration.js';
import type { StatusWire } from './wire/status.js';

export interface ConsoleApiContext {
  store: ConsoleStore;
  approvals: ApprovalCoordinator;
  mcp: McpClient;
  /** The folder that a rule is tested in. */
  findWorkspace: FindWorkspace;
  tools: Pick<ToolRuntime, 'list' | 'examine'>;
  /** What a rule would have decided. */
  previews: RulePreviews;
  /** What is configured around the server. */
  about: About;
  /** The server's own address. */
  url: string;
  sessions: Pick<
    Sessions,
    | 'list'
    | 'count'
    | 'get'
    | 'read'
    | 'fork'
    | 'delete'
    | 'label'
    | 'running'
    | 'standing'
    | 'stop'
    | 'elsewhere'
  >;
  /** The other nodes, where there are some. */
  peers: Peers | undefined;
  /** Bounds the searches that run at one time. */
  searchLimit: SearchLimit;
  /** The gateway's events and their readers. */
  events: EventHub;
  streams: EventStreams;
  /** Turns that the console begins. */
  chat: Pick<ChatRuns, 'start' | 'resume'>;
  /** What people say while a turn runs. */
  queue: Pick<ChatQueue, 'say' | 'list' | 'withdraw'>;
  /** Lists the models of upstreams. */
  dispatcher: Pick<Dispatcher, 'models'>;
  /** The models that the console offers. */
  models: ModelCatalogue;
  /** The operator's rules, to be shown beside those that people made. */
  permissions: Pick<Config['permissions'], 'mode' | 'allow' | 'ask' | 'deny'>;
  auth: Auth;
  /** The keys that hold now. */
  keys: KeyRing;
  /** Targets outside, and their answers. */
  notifier: Pick<Notifier, 'status' | 'test' | 'answer' | 'push' | 'subscribe' | 'answerPush'>;
  /** Upstreams at run time. */
  upstreams: UpstreamAdministration;
  /** Loads the configuration file again. */
  reload: Reload;
  limits: Limits;
  metrics: Metrics;
}

export type ConsoleStore = Pick<Store, 'info' | 'leases' | 'traces' | 'usage' | 'keys'> & {
  rules: Pick<RuleStore, 'list'>;
  sessions: Pick<SessionStore, 'get'>;
  approvals: Pick<ApprovalStore, 'waiting'>;
  runs: Pick<RunStore, 'ofSessions'>;
};

export type ConsoleApiHandler = Handler<ConsoleApiContext>;

/** What the server says about the gateway around it: facts of the configuration, without secrets. */
export interface About {
  version: string;
  startedAt: number;
  upstreams: readonly AboutUpstream[];
  models: number;
  /** Models with tools, and which. */
  agents: readonly { name: string; tools: ToolSelection }[];
  sandbox(): StatusWire['sandbox'];
  approvals: { timeoutS: number; unattended: 'deny' | 'wait' };
  traces: { bodies: boolean; maxAgeS: number; maxMb: number };
}

export interface AboutUpstream {
  name: string;
  dialect: string;
  host: string | null;
  hasKey: boolean;
}

export function aboutGateway(
  { config }: Pick<LoadedConfig, 'config'>,
  { version, sandbox }: Pick<About, 'version' | 'sandbox'>,
): About {
  const { permissions, traces } = config;
  return {
    version,
    startedAt: Date.now(),
    upstreams: Object.entries(config.upstreams).flatMap(aboutUpstream),
    models: Object.keys(config.models).length,
    agents: Object.entries(config.models).flatMap(([name, model]) =>
      model.engine === 'relay' ? [] : [{ name, tools: model.tools }],
    ),
    sandbox,
    approvals: { timeoutS: permissions.approval_timeout_s, unattended: permissions.unattended },
    traces: { bodies: traces.bodies, maxAgeS: traces.max_age_s, maxMb: traces.max_mb },
  };
}

/** Each target of a pool for itself. */
function aboutUpstream([name, upstream]: [string, Config['upstreams'][string]]): AboutUpstream[] {
  if (upstream.dialect === 'demo') return [{ name, dialect: 'demo', host: null, hasKey: false }];
  return targetsOf(name, upstream).map(({ name: target, options: { dialect, base_url, api_key } }) => ({
    name: target,
    dialect,
    host: hostOf(base_url),
    hasKey: api_key !== undefined,
  }));
}

/** With the port, and without what may stand in front of it. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
