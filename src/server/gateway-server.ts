/** The HTTP server: raw node:http, the route table, and what holds for every request. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FORWARD_HEADER } from '../cluster/forward-claim.js';
import { atMost } from '../core/deferred.js';
import { GatewayError, toGatewayError } from '../core/errors.js';
import type { Principal } from '../engines/engine.js';
import { Metrics } from '../observability/metrics.js';
import type { SignIn } from '../store/sign-ins.js';
import { type Access, Auth, type InnerKeys } from './access/auth.js';
import type { KeyRing } from './access/key-ring.js';
import { loadSignIns } from './access/sign-ins.js';
import { EventStreams } from './console-api/events/event-streams.js';
import { EventHub } from './console-api/events/hub.js';
import { NODE_EVENTS_PATH } from './console-api/events/node-feed.js';
import { OtherNodes } from './console-api/events/other-nodes.js';
import { Connections, onClientError, refuseConnect, sayLastWords } from './http/connections.js';
import { Exchange, type SocketMessage } from './http/exchange.js';
import { encodePeerError } from './http/forwarding.js';
import { addressOf, type Listener, openListener } from './http/listener.js';
import { OpenSockets } from './http/open-sockets.js';
import { OriginGuard } from './http/origin-guard.js';
import { notForwarded } from './http/read-request.js';
import { keyGone, notHere, shuttingDown } from './http/refusals.js';
import { errorShapeOf, sendError } from './http/respond.js';
import { type BoundRoute, RouteTable } from './http/route-table.js';
import { StaticFiles } from './http/static-files.js';
import { asksForWebSocket, ignoreUpgrade, responseOn } from './http/upgrades.js';
import { type ReportContext, reportExchange } from './observe/report.js';
import { beginRequestSpan } from './observe/request-span.js';
import { openSurfaces, type SurfaceOptions, type Surfaces } from './surfaces.js';

export interface GatewayServerOptions extends SurfaceOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Of a worker: its own address, where only its siblings, other nodes and its own processes are answered. What
   * comes to `host` and `port` is given to `take`.
   */
  listener?: Listener | undefined;
  /** The same for all workers; without it a random one. */
  consoleToken?: string | undefined;
  /** Whether `host` can be reached from this machine alone. */
  loopback: boolean;
  publicHosts: readonly string[];
  keys: KeyRing;
  /** Of processes that the gateway itself has started. */
  innerKeys?: InnerKeys;
  /** Turns of these sessions ended because the node that ran them is gone. */
  onNodeGone?: (sessions: readonly string[]) => void;
  /** The event hub; without it there are only the server's own events. */
  events?: EventHub;
  metrics?: Metrics;
  onUsage?: ReportContext['onUsage'];
  /** The folder of the built console; it may be missing. */
  consoleDir: string;
}

/** Aborted answers get this long to send their end. */
const ABORT_GRACE_MS = 1000;
/** Where browsers come to from other sites on purpose: the way back from a sign-in, which proves itself. */
const NAVIGABLE = /^\/api\/mcp\/[^/]+\/callback$/;
/** Messages of WebSockets, as requests of their own. */
const MESSAGES: Access = { area: 'models', scope: 'call' };
const OWN_PATHS = /^\/(?:v1|api|mcp)(?:\/|$)/;

export class GatewayServer {
  readonly port: number;
  /** Where it is reached from this machine. */
  readonly url: string;
  /** Where a process that this one starts reaches it. */
  readonly ownUrl: string;
  readonly #server: Server;
  readonly #options: Pick<
    GatewayServerOptions,
    'keys' | 'limits' | 'virtualMcp' | 'log' | 'tracer' | 'peers'
  >;
  readonly #auth: Auth;
  readonly #streams: EventStreams;
  readonly #others: OtherNodes | undefined;
  readonly #metrics: Metrics;
  readonly #files: StaticFiles;
  readonly #guard: OriginGuard;
  readonly #routes: RouteTable;
  readonly #connections: Connections;
  readonly #sockets = new OpenSockets();
  /** Connections to the address of all workers; undefined where this process has one of its own alone. */
  readonly #taken: WeakSet<Socket> | undefined;
  readonly #surfaces: Surfaces;
  /** Work that no connection waits for. */
  readonly #detached = new Map<Exchange, Promise<void>>();
  readonly #report: (exchange: Exchange) => void;
  #draining = false;

  /** Rejects with the error of `listen` as Node says it. */
  static async listen(options: GatewayServerOptions): Promise<GatewayServer> {
    const { store, log } = options;
    // Before the first request: a page that reconnects must not find itself signed out.
    const found = await loadSignIns(store.signIns, log);
    const listener = options.listener ?? (await openListener(options));
    return new GatewayServer(listener, options, found);
  }

  private constructor(listener: Listener, options: GatewayServerOptions, found: readonly SignIn[]) {
    const { host, loopback, publicHosts, keys, limits } = options;
    const { store, log, onUsage, peers, onNodeGone: onGone } = options;
    const server = listener.begin();
    this.#taken = options.listener === undefined ? undefined : new WeakSet();
    this.port = options.listener === undefined ? listener.port : options.port;
    this.url = addressOf(host, this.port);
    this.ownUrl = addressOf(listener.host, listener.port);
    const events = options.events ?? new EventHub({ approvals: options.approvals, log });
    const signIns = { port: this.port, store: store.signIns, log, found };
    const { innerKeys: inner, consoleToken } = options;
    const auth = new Auth({ keys, inner, consoleToken, ...signIns });
    this.#others = peers && new OtherNodes({ peers, hub: events, log, onGone });
    const streams = new EventStreams({
      hub: events,
      approvals: options.approvals,
      others: this.#others,
      isStill: ({ principal, headers, isOfNode }) =>
        isOfNode ? auth.isStillNamed(principal) : auth.isStill(principal, headers),
    });
    auth.signIns.onEnd(() => streams.check());
    keys.onChange(() => this.#dismiss());
    this.#server = server;
    this.#options = options;
    this.#auth = auth;
    this.#streams = streams;
    this.#metrics = options.metrics ?? new Metrics();
    this.#files = new StaticFiles(options.consoleDir);
    this.#guard = new OriginGuard({ host, port: this.port, loopback, publicHosts });
    const metrics = this.#metrics;
    const isDraining = () => this.#draining;
    const messages: Pick<
      Parameters<typeof openSurfaces>[1],
      'sockets' | 'serveMessage' | 'serve' | 'principalOf'
    > = {
      sockets: this.#sockets,
      serveMessage: (opened, message, work) => this.#serveMessage(opened, message, work),
      serve: (asked, work) => this.#serveDetached(asked, work),
      principalOf: (name) => keys.caller(name),
    };
    const parts = {
      ...{ auth, keys, events, streams, metrics, url: this.url, files: this.#files, isDraining },
      ...messages,
    };
    this.#surfaces = openSurfaces(options, parts);
    this.#routes = new RouteTable(this.#surfaces.routes);
    this.#report = (exchange) => {
      metrics.openRequests.add(-1);
      reportExchange(exchange, { store, events, metrics, log, onUsage });
    };
    this.#connections = new Connections(limits.stallMs, {
      onDone: this.#report,
      onLeft: (exchange, work) => this.#detach(exchange, work),
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
      .on('upgrade', (request, socket, behind) => this.#upgrade(request, socket, behind))
      .on('connect', (_request, socket) => refuseConnect(socket, newRequestId(), limits.lingerMs));
  }

  get consoleToken(): string | undefined {
    return this.#auth.consoleToken;
  }

  /** A connection that another process accepted for this one. */
  take(socket: Socket): void {
    this.#taken?.add(socket);
    this.#server.emit('connection', socket);
    socket.resume();
  }

  /** Goes on with what a predecessor was making in the background. Never rejects. */
  restore(): Promise<void> {
    return this.#surfaces.restore();
  }

  /**
   * New work is refused, running work has `graceMs` and is then aborted. It keeps
   * listening meanwhile, so that clients get an answer. Resolves when everything is closed.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#streams.close();
    this.#options.virtualMcp.drain();
    this.#sockets.drain();
    await Promise.all([this.#connections.idle(graceMs), atMost(graceMs, this.#detachedOver())]);
    for (const exchange of this.#connections.running) {
      // They end when those turns have, and say so.
      if (exchange.facts.route !== NODE_EVENTS_PATH) exchange.abort(shuttingDown());
    }
    for (const exchange of this.#detached.keys()) exchange.abort(shuttingDown());
    await Promise.all([this.#connections.idle(ABORT_GRACE_MS), atMost(ABORT_GRACE_MS, this.#detachedOver())]);
    await this.close();
  }

  /** Sign-ins that were ended at another gateway. */
  endSignIns(ids: readonly string[]): void {
    this.#auth.signIns.ended(ids);
  }

  /** At once: every connection is cut. */
  async close(): Promise<void> {
    this.#draining = true;
    await this.#others?.close();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#sockets.terminate();
    await closed;
    for (const exchange of this.#detached.keys()) exchange.abort(shuttingDown());
    await this.#surfaces.close();
    await this.#auth.signIns.stop();
  }

  /**
   * Keys have gone: what only waits for news in their name ends. Answers that have begun are finished, and a
   * WebSocket ends with its last one.
   */
  #dismiss(): void {
    this.#streams.check();
    const isGone = ({ principal, request }: Exchange): boolean =>
      !this.#auth.isStill(principal, request.headers);
    if (!this.#options.keys.isOpen) this.#sockets.drain(isGone);
    for (const exchange of [...this.#connections.running]) {
      if (exchange.listens && isGone(exchange)) exchange.abort(keyGone());
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, behind: Buffer): void {
    const isBusy = (this.#connections.of(socket)?.exchanges.size ?? 0) > 0;
    // Answers to what was sent before would come into the middle of the other protocol.
    if (isBusy || !(socket instanceof Socket)) socket.destroy();
    else if (asksForWebSocket(request) && this.#routes.opensWebSocket(pathOf(request)))
      this.#accept(request, responseOn(socket, request), false, behind);
    else ignoreUpgrade(this.#server, request, socket, behind);
  }

  #accept(
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
    upgrade?: Buffer,
  ): void {
    const url = request.url ?? '';
    const path = pathOf(request);
    const mark = path.length < url.length ? path.length : -1;
    const forwarded = this.#forwardedIn(request);
    const exchange = new Exchange({
      id: forwarded?.id ?? newRequestId(),
      request,
      response,
      path,
      query: mark < 0 ? '' : url.slice(mark + 1),
      encodeError: errorShapeOf(path, request.headers),
      awaitsContinue,
      ...(upgrade === undefined ? {} : { upgrade }),
    });
    exchange.closeAfter = this.#draining || upgrade !== undefined;
    exchange.forwarded = forwarded;
    this.#metrics.openRequests.add(1);
    this.#connections.begin(exchange, () =>
      this.#serve(exchange).catch((error: unknown) => this.#fail(exchange, error)),
    );
  }

  #serveMessage(
    { request, path, query, encodeError, facts }: Exchange,
    message: SocketMessage,
    work: (exchange: Exchange) => Promise<void>,
  ): Promise<void> {
    const exchange = new Exchange({
      ...{ id: newRequestId(), request, path, query, encodeError, message, awaitsContinue: false },
      response: new ServerResponse(request),
    });
    exchange.facts.route = `${facts.route} (message)`;
    this.#metrics.openRequests.add(1);
    const serve = async () => {
      if (this.#draining) throw shuttingDown();
      exchange.principal = await this.#admit(exchange, MESSAGES);
      exchange.span = beginRequestSpan(this.#options.tracer, exchange);
      await work(exchange);
    };
    return new Promise((resolve) => {
      this.#connections.begin(exchange, () =>
        serve()
          .catch((error: unknown) => this.#fail(exchange, error))
          .finally(resolve),
      );
    });
  }

  #serveDetached(
    { id, principal, message }: { id: string; principal: Principal; message: SocketMessage },
    work: (exchange: Exchange) => Promise<void>,
  ): { exchange: Exchange; over: Promise<void> } {
    const request = new IncomingMessage(new Socket());
    const exchange = new Exchange({
      ...{ id, request, response: new ServerResponse(request), path: '/v1/responses', query: '', message },
      ...{ encodeError: errorShapeOf('/v1/responses', {}), awaitsContinue: false },
    });
    exchange.principal = principal;
    exchange.facts.route = '/v1/responses (background)';
    exchange.span = beginRequestSpan(this.#options.tracer, exchange);
    this.#metrics.openRequests.add(1);
    const served = work(exchange).catch((error: unknown) => this.#fail(exchange, error));
    return { exchange, over: this.#detach(exchange, served) };
  }

  /** `work` never rejects. */
  #detach(exchange: Exchange, work: Promise<void>): Promise<void> {
    const over = work.finally(() => {
      this.#detached.delete(exchange);
      this.#report(exchange);
    });
    this.#detached.set(exchange, over);
    return over;
  }

  async #detachedOver(): Promise<void> {
    await Promise.all(this.#detached.values());
  }

  /** Undefined for a request of a client. */
  #forwardedIn({ headers, method = '', url = '' }: IncomingMessage): Exchange['forwarded'] {
    const { peers } = this.#options;
    const header = headers[FORWARD_HEADER];
    if (peers === undefined || typeof header !== 'string') return undefined;
    const claim = peers.read(header, { method, path: url });
    return claim && { ...claim, proof: peers.proofFor(claim) };
  }

  async #admit(
    { request: { headers }, forwarded }: Exchange,
    access: Access,
  ): Promise<Exchange['principal']> {
    if (forwarded !== undefined) return this.#auth.admitForwarded(access, forwarded.principal);
    return this.#auth.admitRecalled(access, headers);
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { method, path, request } = exchange;
    if (!path.startsWith('/')) {
      throw new GatewayError('invalid_request', 'The request names a whole address. Send the path alone.');
    }
    if (exchange.forwarded === undefined) {
      if (request.headers[FORWARD_HEADER] !== undefined && this.#options.peers !== undefined)
        throw notForwarded();
      if (this.#taken === undefined || this.#taken.has(request.socket)) {
        this.#guard.check(request, { navigation: NAVIGABLE.test(path) });
      } else if (this.#auth.inner(path, request.headers) === undefined) throw notHere(this.url);
    } else exchange.encodeError = encodePeerError;
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
    const { forwarded } = exchange;
    if (route.encodeError !== undefined && forwarded === undefined) exchange.encodeError = route.encodeError;
    const auth = this.#auth;
    // Also while it drains: an answer that may still be finished needs its agent's model calls.
    const inner = forwarded === undefined ? auth.inner(route.path, request.headers) : undefined;
    if (inner === undefined) this.#refuseWhileDraining(route);
    exchange.principal = inner ?? (await this.#admit(exchange, route.access));
    exchange.span = beginRequestSpan(this.#options.tracer, exchange);
    await route.handle(exchange, parameters);
  }

  async #serveFile(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && !OWN_PATHS.test(path) && (await this.#files.send(exchange))) {
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
    const error = new GatewayError(
      'method_not_allowed',
      `${exchange.path} does not take ${exchange.method}. Use ${names}.`,
    );
    exchange.facts.error = error;
    sendError(exchange, error, this.#options.limits.lingerMs, { allow: names });
  }

  #refuseWhileDraining(route: BoundRoute): void {
    if (!this.#draining || route.whileDraining) return;
    throw shuttingDown();
  }

  #fail(exchange: Exchange, thrown: unknown): void {
    const { response } = exchange;
    const error = toGatewayError(thrown);
    exchange.facts.error = error;
    if (error !== thrown) this.#options.log.error({ id: exchange.id, err: thrown }, 'bug');
    if (exchange.clientGone || response.destroyed) return;
    if (exchange.message !== undefined) {
      exchange.message.fail(exchange, error);
      return;
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // The client was not asked for its body and may send it or not: the next request cannot be distinguished from it.
    if (exchange.awaitsContinue) exchange.closeAfter = true;
    sendError(exchange, error, this.#options.limits.lingerMs);
  }
}

/** Without its query. */
function pathOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}
