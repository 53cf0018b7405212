/** `/mcp/gateway` and `/mcp/auth`: streamable HTTP from a request of ours to the virtual servers and back. */
import type { Peers } from '../../cluster/peers.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import { SESSION_PARAMETER } from '../../mcp/virtual/legacy-sessions.js';
import type { VirtualMcp } from '../../mcp/virtual/virtual-mcp.js';
import {
  type AnswerEnd,
  LISTEN,
  methodOf,
  VIRTUAL_SERVERS,
  type VirtualAnswer,
  type VirtualRequest,
  type VirtualServerName,
} from '../../mcp/virtual/virtual-request.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Tracer } from '../../observability/open-telemetry.js';
import type { Auth } from '../access/auth.js';
import type { FindWorkspace } from '../access/find-workspace.js';
import type { Exchange } from '../http/exchange.js';
import { parseJsonBody } from '../http/json-body.js';
import type { Limits } from '../http/limits.js';
import { checkContentType, readBody } from '../http/read-request.js';
import { baseHeaders, PARSE_ERROR, sendError } from '../http/respond.js';
import type { Handler, HttpRoute } from '../http/route-table.js';
import { SseWriter, type StreamClock } from '../http/sse-writer.js';
import { askHolder } from './ask-holder.js';
import { beginMessageSpan } from './message-span.js';

/** What the handlers of `/mcp` work with. */
export interface McpApiContext {
  /** `/mcp/gateway` and `/mcp/auth`. */
  virtualMcp: VirtualMcp;
  /** The workspace of their clients. */
  findWorkspace: FindWorkspace;
  auth: Pick<Auth, 'countAgainstRate'>;
  tracer: Tracer | undefined;
  /** The other nodes, where there are some. */
  peers: Peers | undefined;
  limits: Limits;
  clock: StreamClock;
  metrics: Metrics;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;
const ALLOW = METHODS.join(', ');
const KEEP_ALIVE = ': keep-alive\n\n';

/** All that the servers go by; credentials end here. */
const PASSED = [
  'accept',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
] as const;

/** What a client of the virtual servers needs: a key, or the console's token. */
const ACCESS = { area: 'console', scope: 'call' } as const;
const COUNTED = { ...ACCESS, counted: true } as const;

export const MCP_ROUTES: readonly HttpRoute<McpApiContext>[] = [
  ...VIRTUAL_SERVERS.flatMap((server) =>
    METHODS.map((method): HttpRoute<McpApiContext> => {
      // What a client says counts against the rate of its key; a stream that it listens to does not.
      const access = server === 'gateway' && method === 'POST' ? COUNTED : ACCESS;
      return { method, path: `/mcp/${server}`, access, handle: serve(server) };
    }),
  ),
  ...METHODS.map(
    (method): HttpRoute<McpApiContext> => ({
      method,
      path: '/mcp/*server',
      access: ACCESS,
      handle: unknownServer,
    }),
  ),
];

function serve(server: VirtualServerName): Handler<McpApiContext> {
  return async (exchange, context) => {
    const method = METHODS.find((each) => each === exchange.method);
    if (method === undefined) return refuseMethod(exchange, context);
    const bytes = method === 'POST' ? await readMessages(exchange, context) : undefined;
    const body = bytes === undefined ? undefined : parseMessages(bytes, context);
    const query = new URLSearchParams(exchange.query);
    const model = query.get('model') ?? undefined;
    const sessionId = query.get(SESSION_PARAMETER);
    const { principal } = exchange;
    if (exchange.forwarded === undefined) {
      // The node that the client is connected to knows its key, and counts.
      exchange.listens = method === 'GET' || methodOf(body) === LISTEN;
      // A batch is as many requests as it has messages; the first was counted on the way in.
      if (server === 'gateway' && Array.isArray(body)) {
        for (const _ of body.slice(1)) await context.auth.countAgainstRate(principal);
      }
    }
    const request: VirtualRequest = {
      server,
      principal: principal.name,
      mayApprove: principal.scopes.includes('approve'),
      method,
      headers: passedHeaders(exchange),
      ...(sessionId === null ? {} : { sessionId }),
      ...(body === undefined ? {} : { body }),
      place: () => context.findWorkspace(model, principal, server === 'auth' ? 'judge' : 'run'),
    };
    const forwarded = await askHolder(exchange, context.peers, request, bytes);
    if (forwarded !== undefined) return send(exchange, context, forwarded);
    const span = beginMessageSpan(context.tracer, exchange, body);
    try {
      // Not given up with the connection: a client that opened a session must be able to end it.
      const answer = await context.virtualMcp.handle({ ...request, span: span ?? exchange.span });
      await send(exchange, context, answer);
      span?.end();
    } catch (error) {
      span?.end({ type: toGatewayError(error).code });
      throw error;
    }
  };
}

function unknownServer(exchange: Exchange): never {
  const known = VIRTUAL_SERVERS.map((name) => `/mcp/${name}`).join(' and ');
  throw new GatewayError(
    'not_found',
    `There is no MCP server at ${exchange.path.slice(0, 200)}. There are ${known}.`,
  );
}

/** HEAD, which the table takes for a GET: a stream has no head of its own to show. */
function refuseMethod(exchange: Exchange, { limits }: McpApiContext): void {
  const error = new GatewayError(
    'method_not_allowed',
    `${exchange.path} does not take ${exchange.method}. Use ${ALLOW}.`,
  );
  exchange.facts.error = error;
  sendError(exchange, error, limits.lingerMs, { allow: ALLOW });
}

function readMessages(exchange: Exchange, { limits }: McpApiContext): Promise<Buffer> {
  checkContentType(exchange.request.headers['content-type']);
  return readBody(exchange, limits, limits.bodyBytes);
}

function parseMessages(bytes: Buffer, { limits }: McpApiContext): unknown {
  try {
    return parseJsonBody(bytes, limits.jsonDepth);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, error.message, { detail: PARSE_ERROR, cause: error });
  }
}

function passedHeaders({ request }: Exchange): Headers {
  const headers = new Headers();
  for (const name of PASSED) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  // A body without a type is taken for JSON here as on every other route.
  if (request.method === 'POST' && !headers.get('content-type')) {
    headers.set('content-type', 'application/json');
  }
  return headers;
}

async function send(exchange: Exchange, context: McpApiContext, answer: VirtualAnswer): Promise<void> {
  const { response, end } = answer;
  try {
    if (isStream(response)) await stream(exchange, context, answer);
    else await sendWhole(exchange, response);
  } finally {
    end(endOf(exchange));
  }
}

function endOf({ failure }: Exchange): AnswerEnd {
  if (failure === undefined) return 'whole';
  return failure.stopCause === 'client-gone' ? 'gone' : 'stopping';
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

async function sendWhole(exchange: Exchange, answer: Response): Promise<void> {
  const text = await answer.text();
  exchange.response.writeHead(answer.status, {
    ...headersOf(exchange, answer),
    'content-length': Buffer.byteLength(text),
  });
  exchange.response.end(text);
}

async function stream(
  exchange: Exchange,
  { clock, metrics }: McpApiContext,
  { response, end }: VirtualAnswer,
): Promise<void> {
  const writer = new SseWriter(exchange.response, response.status, headersOf(exchange, response));
  writer.onQuiet = () => void writer.write(KEEP_ALIVE);
  const reader = response.body?.getReader();
  clock.add(writer);
  metrics.openStreams.add(1);
  const pump = async (): Promise<void> => {
    for (;;) {
      const step = await reader?.read();
      if (step === undefined || step.done) return;
      if (!writer.writeBytes(step.value)) await writer.drained();
    }
  };
  const pumping = pump();
  try {
    await exchange.untilAborted(pumping);
  } catch (error) {
    if (exchange.failure === undefined) throw error;
    exchange.facts.error = exchange.failure;
    if (exchange.clientGone) return;
    // The gateway stops: the calls are aborted, and their last messages go out.
    end('stopping');
    await pumping;
  } finally {
    clock.delete(writer);
    metrics.openStreams.add(-1);
    writer.end();
    reader?.cancel().catch(() => {});
  }
}

function headersOf(exchange: Exchange, { headers }: Response): Record<string, string> {
  const own = Object.fromEntries(headers);
  // About the connection, which is ours to say.
  delete own['connection'];
  return { ...own, ...baseHeaders(exchange) };
}
