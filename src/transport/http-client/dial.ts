/** A new connection: name lookup, TCP (both address families), proxy, TLS; one time limit over all of it. */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { GatewayError } from '../../core/errors.js';
import { startTimer, UpstreamConnection } from './connection.js';
import { cancelled, type RequestTarget, timedOut, wireFailure } from './failure.js';
import { hostOf, type ProxyServer, type ProxySettings, portOf } from './proxy.js';
import { ProtocolError } from './response-head.js';
import { ResponseParser } from './response-parser.js';
import type { HttpClientOptions } from './types.js';

/** How a URL is reached: which host, with TLS or not, through which proxy. */
export interface NetworkPath {
  /** Connections with the same key are interchangeable. */
  key: string;
  host: string;
  port: number;
  secure: boolean;
  proxy: ProxyServer | undefined;
  target: RequestTarget;
}

export function networkPathOf(url: URL, proxies: ProxySettings): NetworkPath {
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw new GatewayError(
      'upstream_failed',
      `An upstream cannot be reached by ${url.protocol}//: its base_url must start with https:// or http://.`,
    );
  }
  const proxy = proxies.proxyFor(url);
  return {
    key: proxy === undefined ? url.origin : `${url.origin} via ${proxy.label}`,
    host: hostOf(url),
    port: portOf(url),
    secure,
    proxy,
    target: { label: url.host, proxy: proxy?.label },
  };
}

const MAX_SESSIONS = 256;

/** What the TLS connections of one client share. */
export class TlsState {
  readonly #ca: HttpClientOptions['ca'];
  #context: SecureContext | undefined;
  /** The newest session of each peer: the next handshake with it is shorter. */
  readonly #sessions = new Map<string, Buffer>();

  constructor(ca: HttpClientOptions['ca']) {
    this.#ca = ca;
  }

  /** Made once: it parses every certificate authority. */
  get context(): SecureContext {
    this.#context ??= createSecureContext(this.#ca === undefined ? {} : { ca: this.#ca });
    return this.#context;
  }

  session(peer: string): Buffer | undefined {
    return this.#sessions.get(peer);
  }

  remember(peer: string, session: Buffer): void {
    this.#sessions.delete(peer);
    this.#sessions.set(peer, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
  }
}

interface DialOptions {
  route: NetworkPath;
  signal: AbortSignal;
  timeoutMs: number;
  lookup: LookupFunction | undefined;
  tls: TlsState;
  /** Called when the connection's socket has closed. */
  onGone(connection: UpstreamConnection): void;
}

interface Endpoint {
  host: string;
  port: number;
  secure: boolean;
}

export class Dial {
  /** Rejects with GatewayError; then nothing of the attempt is left open. */
  readonly connection: Promise<UpstreamConnection>;
  readonly #options: DialOptions;
  readonly #sockets: Socket[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #reject: (error: GatewayError) => void = () => {};

  constructor(options: DialOptions) {
    this.#options = options;
    const { route, signal, timeoutMs } = options;
    this.#timer = startTimer(timeoutMs, () => this.stop(timedOut(route.target, 'connect', timeoutMs)));
    signal.addEventListener('abort', this);
    this.connection = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#open().then(
        (connection) => {
          if (this.#settle()) resolve(connection);
        },
        (error: unknown) => this.stop(wireFailure(route.target, 'connect', error)),
      );
    });
  }

  handleEvent(): void {
    this.stop(cancelled(this.#options.signal));
  }

  stop(error: GatewayError): void {
    if (!this.#settle()) return;
    for (const socket of this.#sockets) socket.destroy();
    this.#reject(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this);
    return true;
  }

  async #open(): Promise<UpstreamConnection> {
    const { route, onGone } = this.#options;
    const { proxy } = route;
    const connection = new UpstreamConnection(route.key, route.secure || proxy?.secure === true, onGone);
    if (proxy !== undefined && route.secure) {
      const tunnel = await this.#openTunnel(proxy);
      const socket = this.#secureOver(tunnel);
      connection.attach(socket, 'events');
      await opened(socket, 'secureConnect');
    } else {
      await this.#connect(proxy ?? route, connection);
    }
    return connection;
  }

  /** With a connection, the socket reads for it; without, its data come as events. */
  async #connect(endpoint: Endpoint, connection: UpstreamConnection | undefined): Promise<Socket> {
    const { lookup, tls } = this.#options;
    const { host, port, secure } = endpoint;
    const options = {
      host,
      port,
      autoSelectFamily: true,
      ...(lookup === undefined ? {} : { lookup }),
      ...(connection === undefined ? {} : { onread: connection.onread }),
    };
    const socket = secure
      ? this.#rememberSession(connectTls({ ...options, ...tlsOptions(endpoint, tls) }), endpoint)
      : connectTcp(options);
    this.#own(socket);
    connection?.attach(socket, 'onread');
    await opened(socket, secure ? 'secureConnect' : 'connect');
    return socket;
  }

  #secureOver(tunnel: Socket): Socket {
    const { route, tls } = this.#options;
    const socket = connectTls({ socket: tunnel, host: route.host, ...tlsOptions(route, tls) });
    this.#own(socket);
    return this.#rememberSession(socket, route);
  }

  /** A lookup may have stopped the attempt while the socket was being made. */
  #own(socket: Socket): void {
    this.#sockets.push(socket);
    if (this.#settled) socket.destroy();
  }

  #rememberSession<T extends Socket>(socket: T, endpoint: Endpoint): T {
    const { tls } = this.#options;
    socket.on('session', (session: Buffer) => tls.remember(peerOf(endpoint), session));
    return socket;
  }

  async #openTunnel(proxy: ProxyServer): Promise<Socket> {
    const { route } = this.#options;
    const socket = await this.#connect(proxy, undefined);
    const target = `${isIP(route.host) === 6 ? `[${route.host}]` : route.host}:${route.port}`;
    const credentials =
      proxy.authorization === undefined ? '' : `proxy-authorization: ${proxy.authorization}\r\n`;
    const answered = readHead(socket);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${credentials}\r\n`, 'latin1');
    const { status, excess } = await answered;
    if (status < 200 || status > 299) throw refusedByProxy(proxy, target, status);
    // The TLS handshake is ours to begin: earlier bytes are unsolicited.
    if (excess) throw new ProtocolError('the proxy sent data before the tunnel was used');
    return socket;
  }
}

function peerOf(endpoint: Endpoint): string {
  return `${endpoint.host}:${endpoint.port}`;
}

function tlsOptions(endpoint: Endpoint, tls: TlsState) {
  const session = tls.session(peerOf(endpoint));
  return {
    secureContext: tls.context,
    ALPNProtocols: ['http/1.1'],
    // An address is not a name that SNI may carry; the certificate is then checked against `host`.
    ...(isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {}),
    ...(session === undefined ? {} : { session }),
  };
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return settledBy(socket, (resolve) => {
    socket.once(event, resolve);
    return () => socket.off(event, resolve);
  });
}

/** The proxy's answer; `excess`: something came with it. */
function readHead(socket: Socket): Promise<{ status: number; excess: boolean }> {
  return settledBy(socket, (resolve, reject) => {
    const parser = new ResponseParser(true);
    const onData = (bytes: Buffer) => {
      try {
        parser.push(bytes);
      } catch (error) {
        reject(error);
        return;
      }
      if (parser.head !== undefined) resolve({ status: parser.head.status, excess: parser.excess });
    };
    socket.on('data', onData);
    return () => {
      socket.off('data', onData);
      socket.pause();
    };
  });
}

/** A promise that also ends with the socket, and leaves no listener behind. */
function settledBy<T>(
  socket: Socket,
  listen: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onEnd = () => fail(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' }));
    const cleanUp = () => {
      stopListening();
      socket.off('error', fail);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
    };
    const fail = (error: unknown) => {
      cleanUp();
      // Destroying it may still make it report.
      socket.on('error', () => {});
      reject(error);
    };
    const stopListening = listen((value) => {
      cleanUp();
      resolve(value);
    }, fail);
    socket.on('error', fail);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
  });
}

function refusedByProxy(proxy: ProxyServer, target: string, status: number): GatewayError {
  const advice =
    status === 407
      ? ' It wants credentials: put them into the proxy variable as http://user:password@host.'
      : '';
  return new GatewayError(
    'upstream_failed',
    `The proxy ${proxy.label} refused to connect to ${target} with status ${status}.${advice}`,
    { retryable: status >= 500 },
  );
}
