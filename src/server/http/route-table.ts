/** Paths to routes. Exact paths are one lookup; the few patterns are tried in order. */
import { GatewayError } from '../../core/errors.js';
import type { Access } from '../access/auth.js';
import type { EncodeError, Exchange } from './exchange.js';

/** Values of the `:name` parts of the path, decoded. */
export type PathParameters = Readonly<Record<string, string>>;

/** May throw GatewayError until the head of the answer is out. Resolves when the answer is written. */
export type Handler<Context> = (
  exchange: Exchange,
  context: Context,
  parameters: PathParameters,
) => Promise<void> | void;

/** `Context`: what the handlers of a surface work with. */
export interface HttpRoute<Context> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  /** `/v1/models/:id`; a last part `*name` takes the rest, slashes included. Labels logs and metrics. */
  path: string;
  access: Access;
  handle: Handler<Context>;
  /** Left out: the shape of the path. */
  encodeError?: EncodeError;
  /** Answered while the gateway drains. */
  whileDraining?: boolean;
  /** It opens a WebSocket where the client asks for one. On any other route that offer is ignored. */
  webSocket?: true;
}

/** A route whose handler has its context. */
export interface BoundRoute extends Omit<HttpRoute<never>, 'handle'> {
  handle(exchange: Exchange, parameters: PathParameters): Promise<void> | void;
}

export function bindRoutes<Context>(routes: readonly HttpRoute<Context>[], context: Context): BoundRoute[] {
  return routes.map(({ handle, ...route }) => ({
    ...route,
    handle: (exchange, parameters) => handle(exchange, context, parameters),
  }));
}

interface Match {
  route: BoundRoute;
  parameters: PathParameters;
}

type Lookup = Match | { allow: readonly string[] } | undefined;

interface Pattern {
  expression: RegExp;
  routes: BoundRoute[];
}

const NO_PARAMETERS: PathParameters = Object.freeze({});

export class RouteTable {
  readonly #exact = new Map<string, BoundRoute[]>();
  readonly #patterns = new Map<string, Pattern>();

  constructor(routes: readonly BoundRoute[]) {
    for (const route of routes) {
      if (/[:*]/.test(route.path)) {
        const known = this.#patterns.get(route.path);
        if (known !== undefined) known.routes.push(route);
        else this.#patterns.set(route.path, { expression: toExpression(route.path), routes: [route] });
      } else {
        const known = this.#exact.get(route.path);
        if (known !== undefined) known.push(route);
        else this.#exact.set(route.path, [route]);
      }
    }
  }

  /** Of an exact path. */
  opensWebSocket(path: string): boolean {
    return this.#exact.get(path)?.some(({ webSocket }) => webSocket === true) ?? false;
  }

  /** Undefined: no such path. `allow`: another method. Throws `invalid_request` for a path that cannot be decoded. */
  find(method: string, path: string): Lookup {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return choose(exact, method, NO_PARAMETERS);
    for (const { expression, routes } of this.#patterns.values()) {
      const found = expression.exec(path);
      if (found !== null) return choose(routes, method, decodeParameters(found.groups));
    }
    return undefined;
  }
}

function choose(routes: readonly BoundRoute[], method: string, parameters: PathParameters): Lookup {
  const route =
    routes.find((each) => each.method === method) ??
    // HEAD is GET without the body.
    (method === 'HEAD' ? routes.find((each) => each.method === 'GET') : undefined);
  if (route !== undefined) return { route, parameters };
  const plain = routes.filter((each) => each.webSocket !== true);
  const allow = new Set(plain.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method])));
  return { allow: [...allow] };
}

function toExpression(path: string): RegExp {
  const source = path
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:(\w+)/g, '(?<$1>[^/]+)')
    .replace(/\*(\w+)$/, '(?<$1>.+)');
  return new RegExp(`^${source}$`);
}

function decodeParameters(groups: Readonly<Record<string, string>> | undefined): PathParameters {
  if (groups === undefined) return NO_PARAMETERS;
  const decoded: Record<string, string> = {};
  for (const [name, value] of Object.entries(groups)) {
    try {
      decoded[name] = decodeURIComponent(value);
    } catch {
      throw new GatewayError(
        'invalid_request',
        'The path holds a "%" that is not an escape. Encode it as %25.',
      );
    }
  }
  return decoded;
}
