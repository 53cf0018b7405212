/**
 * One turn that belongs to the gateway: started, read to its end with or without a reader, and counted like any
 * other request.
 */
import { randomUUID } from 'node:crypto';
import type { ConversationRequest } from '../../../core/conversation.js';
import { deferred } from '../../../core/deferred.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import { isContent } from '../../../core/events.js';
import { StreamLifecycle } from '../../../core/lifecycle.js';
import type { Span } from '../../../core/span.js';
import { causeOf, type StopError } from '../../../core/stopping.js';
import { anthropicMessages } from '../../../dialects/anthropic-messages/index.js';
import type { StreamEncoder } from '../../../dialects/shared/dialect.js';
import { SESSION_HEADER } from '../../../engines/agent/attach-turn.js';
import type { Answer, Dispatcher, ModelRequest, Principal } from '../../../engines/engine.js';
import type { Tracer } from '../../../observability/open-telemetry.js';
import type { TraceRecorder } from '../../../observability/trace-recorder.js';
import type { Facts } from '../../http/exchange.js';
import { beginTurnSpan } from '../../observe/request-span.js';
import type { ChatPlan } from './chat-plan.js';

interface ConsoleTurnOptions {
  /** Of the run: the same request when it is resumed. */
  run: string;
  plan: ChatPlan;
  principal: Principal;
  dispatcher: Pick<Dispatcher, 'run'>;
  recorder: TraceRecorder | undefined;
  tracer?: Tracer | undefined;
  /** Called once, when it is over. */
  report(turn: ConsoleTurn): void;
}

/** `closing`: the gateway stops, and the next one resumes it. */
export type ChatEnd = { kind: 'complete' | 'stopped' | 'closing' } | { kind: 'failed'; error: GatewayError };

/** A label of its own: the request that began it was answered long before. */
const ROUTE = '/api/chat (turn)';
const PATH = '/api/chat';
const NO_BYTES = new Uint8Array(0);
const SHOWN_MODEL_LENGTH = 200;

export class ConsoleTurn {
  /** Also the turn's in the events, and the trace's. */
  readonly id = `req_${randomUUID().replaceAll('-', '')}`;
  readonly path = PATH;
  readonly method = 'POST';
  readonly startedAt = performance.now();
  readonly facts: Facts;
  readonly principal: Principal;
  readonly recorder: TraceRecorder | undefined;
  readonly span: Span | undefined;
  /** The session that it was attached to. Rejects with what the dialect would answer. */
  get attached(): Promise<string> {
    return this.#attached.promise;
  }
  /** Never rejects. */
  readonly finished: Promise<ChatEnd>;
  readonly #options: ConsoleTurnOptions;
  readonly #abort = new AbortController();
  readonly #attached = deferred<string>();
  #session: string | undefined;

  constructor(options: ConsoleTurnOptions) {
    const { plan, principal, recorder } = options;
    this.#options = options;
    this.principal = principal;
    this.recorder = recorder;
    const model = plan.model.slice(0, SHOWN_MODEL_LENGTH);
    this.facts = { route: ROUTE, model, stream: true, losses: [], repairs: new Map() };
    this.span = beginTurnSpan(options.tracer, this);
    this.attached.catch(() => {});
    this.finished = this.#take().then((end) => {
      this.#attached.reject(this.facts.error ?? notKept());
      options.report(this);
      return end;
    });
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** Ends it as a gateway that stops ends its answers. */
  close(reason: StopError): void {
    this.#abort.abort(reason);
  }

  async #take(): Promise<ChatEnd> {
    const { plan, recorder } = this.#options;
    const body = { model: plan.model, messages: plan.messages, stream: true };
    recorder?.inbound(PATH, {}, Buffer.from(JSON.stringify(body)));
    try {
      const answer = await this.#options.dispatcher.run(this.#call());
      this.#note(answer);
      await this.#read(answer);
      if (this.facts.error === undefined) answer.delivery?.confirm();
    } catch (error) {
      this.facts.error = toGatewayError(error);
    }
    return this.#end();
  }

  #call(): ModelRequest {
    const { run, plan, principal } = this.#options;
    const { session, root, parent, mode } = plan;
    return {
      id: this.id,
      clientDialect: anthropicMessages,
      request: requestOf(plan),
      raw: NO_BYTES,
      headers: session === undefined ? {} : { [SESSION_HEADER]: session },
      idempotencyKey: run,
      principal,
      signal: this.#abort.signal,
      kept: { ...(root && { root }), ...(parent && { parent }), ...(mode && { mode }) },
      ...(this.recorder === undefined ? {} : { trace: this.recorder }),
      ...(this.span === undefined ? {} : { span: this.span }),
      announce: (headers) => this.#attach(headers),
    };
  }

  #attach(headers: Readonly<Record<string, string>>): void {
    const session = headers[SESSION_HEADER];
    if (session === undefined || this.#session !== undefined) return;
    this.#session = session;
    this.facts.session = session;
    this.#attached.resolve(session);
  }

  #note({ headers, upstream, losses, price, waitedMs }: Answer): void {
    this.#attach(headers);
    this.facts.upstream = upstream;
    this.facts.losses = losses;
    if (price !== undefined) this.facts.price = price;
    if (waitedMs !== undefined) this.facts.waitedMs = waitedMs;
  }

  async #read(answer: Answer): Promise<void> {
    const { body, losses, promptTokens } = answer;
    if (body.kind !== 'events') throw new Error('A turn without a body of its own was answered with bytes.');
    const { facts } = this;
    const { model } = this.#options.plan;
    const lifecycle = new StreamLifecycle({
      id: this.id.replace(/^req_/, 'msg_'),
      model,
      ...(promptTokens === undefined ? {} : { estimate: { inputTokens: promptTokens } }),
    });
    facts.repairs = lifecycle.repairs;
    const encoder = this.#encoder();
    const take = (events: ReturnType<StreamLifecycle['push']>) => {
      if (events.length === 0) return;
      if (facts.firstTokenAt === undefined && events.some(isContent)) facts.firstTokenAt = performance.now();
      const failed = events.find((event) => event.type === 'error');
      if (failed?.type === 'error') facts.error = failed.error;
      if (encoder !== undefined) this.recorder?.emitted(encoder.encode(events));
    };
    try {
      for await (const batch of body.batches) take(lifecycle.push(batch));
      take(lifecycle.end());
    } finally {
      facts.losses = [...losses, ...lifecycle.losses.list()];
      facts.usage = lifecycle.usage;
      const { stopReason } = lifecycle;
      if (stopReason !== undefined) {
        facts.stopReason = stopReason;
        answer.settle?.(lifecycle.usage);
      }
    }
  }

  /** Only a trace shows what an answer on the wire would have been. */
  #encoder(): StreamEncoder | undefined {
    if (this.recorder === undefined) return undefined;
    const { plan } = this.#options;
    const created = Math.floor(Date.now() / 1000);
    return anthropicMessages.ingress.createStreamEncoder(requestOf(plan), {
      model: plan.model,
      requestId: this.id,
      created,
    });
  }

  #end(): ChatEnd {
    const { error } = this.facts;
    if (error === undefined) return { kind: 'complete' };
    const { signal } = this.#abort;
    if (signal.aborted) {
      this.facts.error = toGatewayError(signal.reason);
      return { kind: 'closing' };
    }
    if (causeOf(error) !== 'person-stopped') return { kind: 'failed', error };
    // Nobody's failure: counted as an answer that its reader did not want to the end.
    this.facts.error = new GatewayError('client_closed', error.message);
    return { kind: 'stopped' };
  }
}

function requestOf({ model, messages }: ChatPlan): ConversationRequest {
  return {
    model,
    system: [],
    messages,
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: true,
    extensions: {},
  };
}

function notKept(): GatewayError {
  return new GatewayError(
    'not_implemented',
    'The model answered, and keeps no conversation. Use it through /v1.',
  );
}
