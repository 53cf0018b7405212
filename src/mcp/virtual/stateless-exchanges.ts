/**
 * The era without sessions, from 2026-07-28: each request says which revision it speaks and what its
 * client can do, and is answered by a server made for it alone.
 */
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { McpScope, VirtualParts } from './mcp-scope.js';
import { RunningToolCalls } from './running-tool-calls.js';
import type { ServerSdk } from './sdk.js';
import { StateHandles } from './state-handles.js';
import { SuspendedToolCalls } from './suspended-tool-calls.js';
import {
  type AnswerEnd,
  LISTEN,
  methodOf,
  SERVERS,
  stopping,
  type VirtualAnswer,
  type VirtualRequest,
} from './virtual-request.js';

type Handler = ReturnType<ServerSdk['createMcpHandler']>;

interface Exchange {
  readonly principal: string;
  /** A stream that waits for news, and ends with a word of its own. */
  readonly listens: boolean;
  readonly handler: Handler;
  readonly calls: RunningToolCalls;
}

/** What is answered at once; everything else may take its time and is streamed from the start. */
const QUICK = /^(?:server\/discover|tasks\/\w+|\w+(?:\/templates)?\/list)$/;

export class StatelessExchanges {
  readonly #parts: VirtualParts;
  readonly #states: StateHandles;
  readonly #suspended: SuspendedToolCalls;
  readonly #tasks: SuspendedToolCalls;
  readonly #open = new Set<Exchange>();
  #bus: InstanceType<ServerSdk['EventBus']> | undefined;
  #draining = false;

  constructor(parts: VirtualParts) {
    this.#parts = parts;
    this.#states = new StateHandles(parts);
    this.#suspended = new SuspendedToolCalls(parts);
    this.#tasks = new SuspendedToolCalls(parts);
  }

  async handle(request: VirtualRequest, sdk: ServerSdk): Promise<VirtualAnswer> {
    if (this.#draining) throw stopping();
    const place = request.place();
    const runtime = await this.#parts.tools();
    const method = methodOf(request.body);
    this.#refuseTooMany(request.principal, method);
    const calls = new RunningToolCalls(0);
    const exchange: Exchange = {
      principal: request.principal,
      listens: method === LISTEN,
      handler: this.#handlerOf({ request, place, runtime, sdk, calls, method }),
      calls,
    };
    this.#open.add(exchange);
    const end = (why: AnswerEnd): void => {
      if (!this.#open.delete(exchange)) return;
      if (why === 'stopping') calls.abort(calls.ids(), stopping());
      // The older era lets a client come back for its answer. Here a closed connection is the wish to stop.
      else void exchange.handler.close().catch(() => {});
    };
    try {
      const { server, headers, body } = request;
      const wire = new Request(`http://gateway/mcp/${server}`, { method: 'POST', headers });
      const response = await exchange.handler.fetch(wire, { parsedBody: body });
      return { response: response.status === 400 ? await withOlder(response, sdk) : response, end };
    } catch (error) {
      end('gone');
      throw error;
    }
  }

  toolsChanged(): void {
    this.#bus?.publish({ kind: 'tools_list_changed' });
  }

  drain(): void {
    this.#draining = true;
    for (const { listens, handler } of this.#open) if (listens) void handler.close().catch(() => {});
  }

  async close(): Promise<void> {
    this.drain();
    await Promise.all([...this.#open].map(({ calls }) => calls.stop(stopping())));
    await this.#suspended.close(stopping());
    await this.#tasks.close(stopping());
    await this.#states.close(stopping());
  }

  #handlerOf(options: {
    request: VirtualRequest;
    place: ReturnType<VirtualRequest['place']>;
    runtime: ToolRuntime;
    sdk: ServerSdk;
    calls: RunningToolCalls;
    method: string;
  }): Handler {
    const { request, place, runtime, sdk, calls, method } = options;
    const { log } = this.#parts;
    const { principal } = request;
    this.#bus ??= new sdk.EventBus((error) => log.warn({ err: error }, 'bug: an MCP client was not told'));
    const scope: McpScope = {
      session: undefined,
      principal,
      place,
      parts: this.#parts,
      sdk,
      runtime,
      calls,
      span: request.span,
      suspended: request.mayApprove ? this.#suspended : undefined,
      tasks: this.#tasks,
      lendState: (wanted) => this.#states.lend(wanted, { principal, place }, runtime),
    };
    return sdk.createMcpHandler(() => SERVERS[request.server](scope), {
      legacy: 'reject',
      bus: this.#bus,
      responseMode: QUICK.test(method) ? 'auto' : 'sse',
      // The writer of the stream does that, with one timer for all of them.
      keepAliveMs: 0,
      onerror: (error) => log.debug({ err: error }, 'an MCP client was refused'),
    });
  }

  #refuseTooMany(principal: string, method: string): void {
    const { exchangesOfKey } = this.#parts.limits;
    const own = [...this.#open].filter((each) => each.principal === principal).length;
    if (own < exchangesOfKey) return;
    throw new GatewayError(
      'rate_limited',
      `${own} MCP requests of this key run already, which is the limit. Wait for one of them before the next ${method.slice(0, 100)}.`,
      { retryable: true, retryAfter: 5 },
    );
  }
}

const unknownRevision = z.looseObject({
  error: z.looseObject({ code: z.number(), data: z.looseObject({ supported: z.array(z.string()) }) }),
});

/** To a client of a revision that is not known the SDK names those of this era alone; we speak the others as well. */
async function withOlder(response: Response, { ErrorCode, OLDER_VERSIONS }: ServerSdk): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  const { data: answer } = unknownRevision.safeParse(JSON.parse(text));
  if (answer?.error.code !== ErrorCode.UnsupportedProtocolVersion)
    return new Response(text, { status, headers });
  const { error } = answer;
  const supported = [...new Set([...error.data.supported, ...OLDER_VERSIONS])];
  return Response.json(
    { ...answer, error: { ...error, data: { ...error.data, supported } } },
    { status, headers },
  );
}
