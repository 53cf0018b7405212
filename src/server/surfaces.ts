/**
 * The surfaces of the server: the routes of each, and a context of its own for their handlers. What is
 * not in the context of a surface, none of its handlers reaches.
 */
import { AnswerMemory } from '../answers/answer-memory.js';
import type { Peers } from '../cluster/peers.js';
import { KnownParts } from '../dialects/shared/known-parts.js';
import type { VirtualMcp } from '../mcp/virtual/virtual-mcp.js';
import type { Log } from '../observability/log.js';
import type { Tracer } from '../observability/open-telemetry.js';
import { StoreGauges } from '../observability/store-figures.js';
import { TraceSampler } from '../observability/trace-recorder.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Store } from '../store/store.js';
import type { ConsoleApiContext, ConsoleStore } from './console-api/context.js';
import { CONSOLE_ROUTES } from './console-api/routes.js';
import { SearchLimit } from './console-api/search-limit.js';
import { type BoundRoute, bindRoutes, type HttpRoute } from './http/route-table.js';
import { StreamClock } from './http/sse-writer.js';
import { PAGE_ROUTES, type PageContext } from './http/static-files.js';
import { MCP_ROUTES, type McpApiContext } from './mcp-api/mcp-routes.js';
import { AnswerOnce } from './model-api/memory/answer-once.js';
import { LocalAnswers } from './model-api/memory/local-answers.js';
import type { ModelApiContext } from './model-api/requests/context.js';
import { BackgroundRuns, type BackgroundRunsOptions } from './model-api/responses/background-runs.js';
import { MODEL_ROUTES } from './model-api/routes.js';
import { OBSERVE_ROUTES, type ObserveContext, Readiness } from './observe/health.js';
import { type Collector, openTelemetrySink, type TelemetrySink } from './observe/otlp.js';

interface SurfaceContexts {
  model: ModelApiContext;
  page: PageContext;
  observe: ObserveContext;
  console: ConsoleApiContext;
  mcp: McpApiContext;
}

/** What the gateway gives to the server for its surfaces. The caller closes it, after the server. */
export interface SurfaceOptions
  extends Pick<ModelApiContext, 'dispatcher' | 'limits'>,
    Pick<
      ConsoleApiContext,
      | 'approvals'
      | 'mcp'
      | 'tools'
      | 'previews'
      | 'about'
      | 'chat'
      | 'queue'
      | 'models'
      | 'permissions'
      | 'reload'
      | 'upstreams'
      | 'notifier'
    > {
  sessions: ConsoleApiContext['sessions'] & Pick<Sessions, 'delivered'>;
  store: ConsoleStore & Pick<Store, 'answers' | 'signIns' | 'runs' | 'probe' | 'figures'>;
  virtualMcp: VirtualMcp;
  findWorkspace: ConsoleApiContext['findWorkspace'];
  /** The other nodes, where there are some. */
  peers?: Peers | undefined;
  /** Where the gateway's own telemetry is collected. */
  tracer?: Tracer | undefined;
  log: Log;
  /** Those of all workers, for `/metrics`; without it, of this process alone. */
  figures?: (() => Promise<string>) | undefined;
  /** Where the telemetry of clients goes; without it, nowhere. */
  collector?: Collector;
  /** Keep what was sent and received, for `trace`. */
  recordBodies?: boolean;
}

/** What the server itself makes for them. */
type ServerParts = Pick<ConsoleApiContext, 'auth' | 'keys' | 'events' | 'streams' | 'metrics' | 'url'> &
  Pick<ModelApiContext, 'sockets' | 'serveMessage'> &
  Pick<BackgroundRunsOptions, 'serve' | 'principalOf'> &
  Pick<PageContext, 'files'> &
  Pick<ObserveContext, 'isDraining'>;

/** How many of the largest bodies a key may have held for its WebSockets. */
const LOCAL_BODIES = 8;

const SURFACES = [
  surface('model', MODEL_ROUTES),
  surface('page', PAGE_ROUTES),
  surface('observe', OBSERVE_ROUTES),
  surface('console', CONSOLE_ROUTES),
  surface('mcp', MCP_ROUTES),
];

/** Every route of the gateway. */
export const ROUTES = SURFACES.flatMap(({ listed }) => listed);

export interface Surfaces {
  routes: BoundRoute[];
  /** Goes on with the answers in the background that a predecessor was making. Never rejects. */
  restore(): Promise<void>;
  /** When nothing is served any more. */
  close(): Promise<void>;
}

export function openSurfaces(options: SurfaceOptions, parts: ServerParts): Surfaces {
  const { log, store } = options;
  const { serve, principalOf } = parts;
  const answers = new AnswerMemory(store.answers);
  const background = new BackgroundRuns({
    ...{ runs: store.runs, answers, log, principalOf, serve, peers: options.peers },
  });
  const telemetry = openTelemetrySink(options.collector, log);
  const contexts = contextsOf(options, parts, { answers, background, telemetry });
  return {
    routes: SURFACES.flatMap(({ bind }) => bind(contexts)),
    restore: () => background.restore(contexts.model),
    async close() {
      await background.close();
      await telemetry.close();
    },
  };
}

function surface<Name extends keyof SurfaceContexts>(
  name: Name,
  routes: readonly HttpRoute<SurfaceContexts[Name]>[],
) {
  const listed: readonly Pick<BoundRoute, 'method' | 'path'>[] = routes;
  return { listed, bind: (contexts: SurfaceContexts) => bindRoutes(routes, contexts[name]) };
}

function contextsOf(
  options: SurfaceOptions,
  parts: ServerParts,
  made: { answers: AnswerMemory; background: BackgroundRuns; telemetry: TelemetrySink },
): SurfaceContexts {
  const { answers, background, telemetry } = made;
  const { dispatcher, limits, store, log, findWorkspace, virtualMcp } = options;
  const { approvals, mcp, tools, previews, about, sessions, chat, queue, models, permissions } = options;
  const { reload, upstreams, peers, notifier, tracer } = options;
  const { auth, keys, events, streams, metrics, url, files, isDraining, sockets, serveMessage } = parts;
  const clock = new StreamClock(limits.pingMs, limits.stallMs);
  const model: ModelApiContext = {
    background,
    answerInBackground: (exchange, body) => background.answer(exchange, body, model),
    dispatcher,
    answers,
    once: new AnswerOnce({ answers, leases: store.leases, log, owner: options.peers?.instance }),
    sampler: options.recordBodies ? new TraceSampler() : undefined,
    limits,
    known: new KnownParts(limits.jsonDepth),
    clock,
    sockets,
    local: new LocalAnswers(LOCAL_BODIES * limits.bodyBytes),
    serveMessage,
    owners: peers && { peers, delivered: (session, key) => sessions.delivered(session, key) },
    isDraining,
    metrics,
    log,
  };
  return {
    model,
    page: { files },
    observe: {
      readiness: new Readiness(() => store.probe()),
      gauges: new StoreGauges(() => store.figures()),
      figures: options.figures ?? (() => metrics.render()),
      ...{ log, isDraining, telemetry, limits },
    },
    console: {
      ...{ store, approvals, mcp, findWorkspace, tools, previews, about, url, sessions },
      ...{
        events,
        streams,
        chat,
        queue,
        dispatcher,
        models,
        permissions,
        auth,
        keys,
        reload,
        upstreams,
        notifier,
        limits,
        metrics,
      },
      searchLimit: new SearchLimit(),
      peers,
    },
    mcp: { virtualMcp, findWorkspace, auth, peers, tracer, limits, clock, metrics },
  };
}
