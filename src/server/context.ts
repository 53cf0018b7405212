/** What handlers work with; made once, when the server starts. */

import type { AnswerMemory } from '../answers/answer-memory.js';
import type { Config } from '../config/schema.js';
import type { Dispatcher } from '../engines/dispatcher.js';
import type { Principal } from '../engines/engine.js';
import type { ModelCatalogue } from '../engines/model-catalogue.js';
import type { McpClient } from '../mcp/client/mcp-client.js';
import type { VirtualWorkspace } from '../mcp/virtual/mcp-session.js';
import type { VirtualMcp } from '../mcp/virtual/virtual-mcp.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { TraceSampler } from '../observability/trace-recorder.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import type { RulePreviews } from '../permissions/coordinator/preview.js';
import type { Sessions } from '../sessions/sessions.js';
import type { ApprovalStore } from '../store/approvals.js';
import type { RuleStore } from '../store/rules.js';
import type { RunStore } from '../store/runs.js';
import type { SessionStore } from '../store/sessions.js';
import type { Store } from '../store/store.js';
import type { ToolRuntime } from '../tools/runtime/runtime.js';
import type { Auth } from './access/auth.js';
import type { About } from './console-api/about.js';
import type { ChatRuns } from './console-api/chat/chat-runs.js';
import type { EventStreams } from './console-api/events/event-streams.js';
import type { EventHub } from './console-api/events/hub.js';
import type { Searches } from './console-api/searches.js';
import type { Exchange } from './http/exchange.js';
import type { Limits } from './http/limits.js';
import type { StaticFiles } from './http/static-files.js';
import type { StreamClock } from './http/stream-clock.js';
import type { AnswerOnce } from './idempotency/answer-once.js';

export interface ServerContext {
  dispatcher: Dispatcher;
  store: GatewayStore;
  approvals: ApprovalCoordinator;
  mcp: McpClient;
  tools: ShownTools;
  /** What a rule would have decided. */
  previews: RulePreviews;
  /** What is configured around the server. */
  about: About;
  /** Its own address. */
  url: string;
  /** `/mcp/gateway` and `/mcp/auth`. */
  virtualMcp: VirtualMcp;
  /** Where their clients work. */
  findWorkspace: FindWorkspace;
  /** Conversations with agents. */
  sessions: ShownSessions;
  /** How many look through them. */
  searches: Searches;
  /** What happens, for those who watch. */
  events: EventHub;
  streams: EventStreams;
  /** Turns that the console begins. */
  chat: Pick<ChatRuns, 'start' | 'resume'>;
  /** What one may talk to. */
  models: ModelCatalogue;
  /** The operator's rules, to be shown beside those that people made. */
  permissions: ConfiguredRules;
  auth: Auth;
  limits: Limits;
  /** Answers that may be asked for again. */
  answers: AnswerMemory;
  /** Answers requests that carry an `Idempotency-Key`. */
  once: AnswerOnce;
  metrics: Metrics;
  clock: StreamClock;
  log: Log;
  /** Which requests are recorded whole; undefined where none are. */
  sampler: TraceSampler | undefined;
  /** No new work: the gateway is about to stop. */
  isDraining(): boolean;
  /** The built console. */
  files: StaticFiles;
}

/** Where a client works that brings its own model: in the folder of an agent's entry, with its tools. */
/** Throws `not_found`, `forbidden` for a model that the key may not call, `invalid_request` for one without an agent. */
export type FindWorkspace = (
  model: string | undefined,
  principal: Principal,
  use?: WorkspaceUse,
) => VirtualWorkspace;

/** `judge`: calls are only judged there, by the folder that the client names. By default they run there. */
export type WorkspaceUse = 'run' | 'judge';

/** The part of the store that the server uses itself. */
export type GatewayStore = Pick<Store, 'answers' | 'info' | 'leases' | 'signIns' | 'traces' | 'usage'> & {
  rules: Pick<RuleStore, 'list'>;
  sessions: Pick<SessionStore, 'get'>;
  approvals: Pick<ApprovalStore, 'waiting'>;
  runs: Pick<RunStore, 'ofSessions'>;
};

/** What people see of sessions and do with them. */
export type ShownSessions = Pick<
  Sessions,
  'list' | 'get' | 'read' | 'fork' | 'delete' | 'running' | 'standing' | 'stop'
>;

/** What people see of tools. */
export type ShownTools = Pick<ToolRuntime, 'list' | 'examine'>;

export type ConfiguredRules = Pick<Config['permissions'], 'mode' | 'allow' | 'ask' | 'deny'>;

/** Values of the `:name` parts of the path, decoded. */
export type PathParameters = Readonly<Record<string, string>>;

/** May throw GatewayError until the head of the answer is out. Resolves when the answer is written. */
export type Handler = (
  exchange: Exchange,
  context: ServerContext,
  parameters: PathParameters,
) => Promise<void> | void;
