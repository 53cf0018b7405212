/** The HTTP server: raw node:http, the route table, and what holds for every request. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AnswerMemory } from '../answers/answer-memory.js';
import { GatewayError, toGatewayError } from '../core/errors.js';
import { StopError } from '../core/stopping.js';
import type { Dispatcher } from '../engines/engine.js';
import type { ModelCatalogue } from '../engines/model-catalogue.js';
import type { McpClient } from '../mcp/client/mcp-client.js';
import type { VirtualMcp } from '../mcp/virtual/virtual-mcp.js';
import type { Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { TraceSampler } from '../observability/trace-recorder.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import type { RulePreviews } from '../permissions/coordinator/preview.js';
import type { SignIn } from '../store/sign-ins.js';
import { Auth, type InnerKeys, type KeyOptions } from './access/auth.js';
import { loadSignIns } from './access/sign-ins.js';
import type { About } from './console-api/context.js';
import { EventStreams } from './console-api/events/event-streams.js';
import { EventHub } from './console-api/events/hub.js';
import { Searches } from './console-api/searches.js';
import type { GatewayStore, ServerContext } from './context.js';
import { addressOf } from './http/address.js';
import { Connections, onClientError, refuseConnect, sayLastWords } from './http/connections.js';
import { Exchange } from './http/exchange.js';
import type { Limits } from './http/limits.js';
import { OriginGuard } from './http/origin-guard.js';
import { errorShapeOf, sendError } from './http/respond.js';
import { type HttpRoute, RouteTable } from './http/route-table.js';
import { StreamClock } from './http/sse-writer.js';
import { StaticFiles } from './http/static-files.js';
import { AnswerOnce } from './model-api/answer-once.js';
import { reportExchange } from './observe/report.js';
import { ROUTES } from './routes.js';

export interface GatewayServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Whether `host` can be reached from this machine alone. */
  loopback: boolean;
  publicHosts: readonly string[];
  keys: readonly KeyOptions[];
  /** Of processes that the gateway itself has started. */
  innerKeys?: InnerKeys;
  limits: Limits;
  dispatcher: Dispatcher;
  store: GatewayStore;
  /** The caller closes it. */
  approvals: ApprovalCoordinator;
  /** The caller closes it. */
  mcp: McpClient;
  tools: ServerContext['tools'];
  previews: RulePreviews;
  about: About;
  /** The caller closes it, after the server. */
  virtualMcp: VirtualMcp;
  findWorkspace: ServerContext['findWorkspace'];
  /** The caller closes them. */
  sessions: ServerContext['sessions'];
  /** The caller closes them. */
  chat: ServerContext['chat'];
  models: ModelCatalogue;
  permissions: ServerContext['permissions'];
  /** The event hub; without it there are only the server's own events. */
  events?: EventHub;
  metrics?: Metrics;
  log: Log;
  /** Keep what was sent and received, for `trace`. */
  recordBodies?: boolean;
  /** The folder of the built console; it may be missing. */
  consoleDir: string;
}

/** Aborted answers get this long to send their end. */
const ABORT_GRACE_MS = 1000;
const DRAIN_RETRY_AFTER_S = 5;
/** Where browsers come to from other sites on purpose: the way back from a sign-in, which proves itself. */
const NAVIGABLE = /^\/api\/mcp\/[^/]+\/callback$/;
const OWN_PATHS = /^\/(?:v1|api|mcp)(?:\/|$)/;

export class GatewayServer {
  readonly port: number;
  readonly #server: Server;
  readonly #context: ServerContext;
  readonly #guard: OriginGuard;
  readonly #routes = new RouteTable(ROUTES);
  readonly #connections: Connections;
  #draining = false;

  /** Rejects with the error of `listen` as Node says it. */
  static async listen(options: GatewayServerOptions): Promise<GatewayServer> {
    const { limits, store, log } = options;
    // Before the first request: a page that reconnects must not find itself signed out.
    const found = await loadSignIns(store.signIns, log);
    const server = createServer({
      headersTimeout: limits.headersMs,
      // Bodies are timed where they are read; this ends unread ones.
      requestTimeout: limits.bodyMs + limits.headersMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headerBytes,
      // Checked by the guard, which answers in the dialect.
      requireHostHeader: false,
      // Finds readers that vanished without a word.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    });
    server.listen(options.port, options.host);
    await once(server, 'listening');
    return new GatewayServer(server, options, found);
  }

  private constructor(server: Server, options: GatewayServerOptions, found: readonly SignIn[]) {
    const { host, loopback, publicHosts, keys, limits } = options;
    const { store, log } = options;
    const answers = new AnswerMemory(store.answers);
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : options.port;
    const events = options.events ?? new EventHub({ approvals: options.approvals, log });
    const signIns = { port: this.port, store: store.signIns, log, found };
    const auth = new Auth({ keys, inner: options.innerKeys, ...signIns });
    const streams = new EventStreams({
      hub: events,
      approvals: options.approvals,
      isSignedIn: (headers) => auth.isSignedIn(headers),
    });
    auth.sessions.onEnd(() => streams.check());
    this.#server = server;
    this.#guard = new OriginGuard({ host, port: this.port, loopback, publicHosts });
    this.#context = {
      dispatcher: options.dispatcher,
      store: options.store,
      approvals: options.approvals,
      mcp: options.mcp,
      tools: options.tools,
      previews: options.previews,
      about: options.about,
      url: addressOf(host, this.port),
      virtualMcp: options.virtualMcp,
      findWorkspace: options.findWorkspace,
      sessions: options.sessions,
      searches: new Searches(),
      chat: options.chat,
      models: options.models,
      permissions: options.permissions,
      events,
      streams,
      auth,
      limits,
      answers,
      once: new AnswerOnce({ answers, leases: store.leases, log }),
      metrics: options.metrics ?? new Metrics(),
      clock: new StreamClock(limits.pingMs, limits.stallMs),
      log: options.log,
      sampler: options.recordBodies ? new TraceSampler() : undefined,
      isDraining: () => this.#draining,
      files: new StaticFiles(options.consoleDir),
    };
    this.#connections = new Connections(limits.stallMs, {
      onDone: (exchange) => {
        this.#context.metrics.openRequests.add(-1);
        reportExchange(exchange, this.#context);
      },
      onIdle: (connection) => sayLastWords(connection, limits.lingerMs),
    });
    server
      .on('connection', (socket) => this.#connections.open(socket))
      .on('request', (request, response) => this.#accept(request, response, false))
      .on('checkContinue', (request, response) => this.#accept(request, response, true))
      .on('checkExpectation', (request, response) => this.#accept(request, response, false))
      .on('clientError', (error, socket) => {
        const connection = this.#connections.of(socket);
        if (connection !== undefined) onClientError(connection, error, newRequestId(), limits.lingerMs);
      })
      .on('connect', (_request, socket) => refuseConnect(socket, newRequestId(), limits.lingerMs));
  }

  get consoleToken(): string | undefined {
    return this.#context.auth.consoleToken;
  }

  /**
   * New work is refused, running work has `graceMs` and is then aborted. It keeps
   * listening meanwhile, so that clients get an answer. Resolves when everything is closed.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#context.streams.close();
    this.#context.virtualMcp.drain();
    await this.#connections.idle(graceMs);
    for (const exchange of this.#connections.running) exchange.abort(shuttingDown());
    await this.#connections.idle(ABORT_GRACE_MS);
    await this.close();
  }

  /** At once: every connection is cut. */
  async close(): Promise<void> {
    this.#draining = true;
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    await this.#context.auth.sessions.stop();
  }

  #accept(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const exchange = new Exchange({
      id: newRequestId(),
      request,
      response,
      path,
      query: mark < 0 ? '' : url.slice(mark + 1),
      encodeError: errorShapeOf(path, request.headers),
      awaitsContinue,
    });
    exchange.closeAfter = this.#draining;
    this.#context.metrics.openRequests.add(1);
    this.#connections.begin(exchange, () =>
      this.#serve(exchange).catch((error: unknown) => this.#fail(exchange, error)),
    );
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { method, path, request } = exchange;
    if (!path.startsWith('/')) {
      throw new GatewayError('invalid_request', 'The request names a whole address. Send the path alone.');
    }
    this.#guard.check(request, { navigation: NAVIGABLE.test(path) });
    const expectation = request.headers.expect;
    if (expectation !== undefined && !exchange.awaitsContinue) {
      throw new GatewayError('invalid_request', 'Only "expect: 100-continue" is understood.', {
        status: 417,
      });
    }
    const found = this.#routes.find(method, path);
    if (found === undefined) return this.#serveFile(exchange);
    if ('allow' in found) return this.#refuseMethod(exchange, found.allow);
    const { route, parameters } = found;
    exchange.facts.route = route.path;
    if (route.encodeError !== undefined) exchange.encodeError = route.encodeError;
    const { auth } = this.#context;
    // Also while it drains: an answer that may still be finished needs its agent's model calls.
    const inner = auth.inner(route.path, request.headers);
    if (inner === undefined) this.#refuseWhileDraining(route);
    if (inner === undefined && auth.isStranger(route.access, request.headers)) {
      await auth.sessions.recall(request.headers);
    }
    exchange.principal = inner ?? auth.admit(route.access, request.headers);
    await route.handle(exchange, this.#context, parameters);
  }

  async #serveFile(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && !OWN_PATHS.test(path) && (await this.#context.files.send(exchange))) {
      exchange.facts.route = '/*';
      return;
    }
    throw new GatewayError(
      'not_found',
      `There is no ${method} ${path.slice(0, 200)}. The gateway serves /v1/messages, /v1/chat/completions, /v1/responses and /v1/models.`,
    );
  }

  #refuseMethod(exchange: Exchange, allow: readonly string[]): void {
    const names = allow.join(', ');
    // Codex tries a WebSocket first: after this status it goes on with HTTP at once, after any other it tries again.
    const socket = exchange.request.headers.upgrade?.toLowerCase() === 'websocket';
    const message = socket
      ? `${exchange.path} is not served over a WebSocket. Send a ${names} request and stream its answer.`
      : `${exchange.path} does not take ${exchange.method}. Use ${names}.`;
    const error = new GatewayError('method_not_allowed', message, socket ? { status: 426 } : {});
    exchange.facts.error = error;
    // A 426 has to name a protocol that is spoken instead (RFC 9110, 15.5.22).
    const headers = socket ? { upgrade: 'HTTP/1.1' } : {};
    sendError(exchange, error, this.#context.limits.lingerMs, { allow: names, ...headers });
  }

  #refuseWhileDraining(route: HttpRoute<ServerContext>): void {
    if (!this.#draining || route.whileDraining) return;
    throw shuttingDown();
  }

  #fail(exchange: Exchange, thrown: unknown): void {
    const { response } = exchange;
    const error = toGatewayError(thrown);
    exchange.facts.error = error;
    if (error !== thrown) this.#context.log.error({ id: exchange.id, err: thrown }, 'bug');
    if (exchange.clientGone || response.destroyed) return;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // The client was not asked for its body and may send it or not: the next request cannot be distinguished from it.
    if (exchange.awaitsContinue) exchange.closeAfter = true;
    sendError(exchange, error, this.#context.limits.lingerMs);
  }
}

function shuttingDown(): StopError {
  return new StopError(
    'gateway-stops',
    'unavailable',
    'The gateway is shutting down. Send the request again.',
    {
      retryAfter: DRAIN_RETRY_AFTER_S,
      retryable: true,
    },
  );
}

function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}
