/**
 * Answers in the background (`background: true`), for every engine. The request is stored before the run
 * begins. After a restart the turn of an agent resumes; any other run is shown as failed, because what became
 * of it is unknown. When a WebSocket drops, the answer to its message becomes a run.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerMemory } from '../../../answers/answer-memory.js';
import type { Peers } from '../../../cluster/peers.js';
import { type JsonObject, NO_USAGE } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { LossLog } from '../../../core/losses.js';
import { causeOf, StopError } from '../../../core/stopping.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import type { Principal } from '../../../engines/engine.js';
import type { Log } from '../../../observability/log.js';
import { mayTakeOver, ownerOfThisProcess, RELEASED } from '../../../sessions/persistence/lease-keeper.js';
import type { Run, RunStore } from '../../../store/runs.js';
import type { Exchange, SocketMessage } from '../../http/exchange.js';
import { clientHeaders } from '../../http/read-request.js';
import { requestDigest } from '../memory/answer-once.js';
import { keepEndedResponse, type ResponseMemory, responseMemory } from '../memory/response-memory.js';
import { KEPT_MS } from '../memory/retention.js';
import type { DroppedAnswer, ModelApiContext } from '../requests/context.js';
import { modelHandler } from '../requests/endpoint.js';
import { BackgroundRun } from './background-run.js';
import { sendOwn } from './responses.js';

/** Runs that a key may have at once. */
const RUNNING = 64;
/** How often a turn of an agent may begin or resume. */
const ATTEMPTS = 3;
/** Runs of other kinds are in the same table. */
const PREFIX = 'resp_';

type Serve = (
  asked: { id: string; principal: Principal; message: SocketMessage },
  work: (exchange: Exchange) => Promise<void>,
) => { exchange: Exchange; over: Promise<void> };

export interface BackgroundRunsOptions {
  runs: RunStore;
  answers: AnswerMemory;
  log: Log;
  /** The principal of that name now; undefined where its key is gone. */
  principalOf(name: string): Principal | undefined;
  /** Serves a request that no connection waits for. `over` never rejects. */
  serve: Serve;
  /** The other nodes, where there are some: this node adopts the run of a lost node when its client asks for it. */
  peers?: Pick<Peers, 'instance' | 'isLost'> | undefined;
}

interface Running {
  run: BackgroundRun;
  principal: string;
  exchange: Exchange;
  /** Resolves when the run is stored. */
  settled: Promise<void>;
}

/** The part of a request that is stored, so that it can be sent again. */
interface Asked {
  body: JsonObject;
  headers: IncomingHttpHeaders;
}

export class BackgroundRuns {
  readonly #options: BackgroundRunsOptions;
  /** Two gateways of one process are two owners. */
  readonly #owner: string;
  readonly #running = new Map<string, Running>();
  /** Runs of each key that are not in `#running` yet. */
  readonly #starting = new Map<string, number>();
  #restoring: Promise<void> | undefined;
  #context: ModelApiContext | undefined;

  constructor(options: BackgroundRunsOptions) {
    this.#options = options;
    this.#owner = `${options.peers?.instance ?? ownerOfThisProcess()}/${randomBytes(4).toString('hex')}`;
  }

  /** Begins a run and answers with its state, or with its events. Rejects with `invalid_request`, `rate_limited` or `conflict`. */
  async answer(exchange: Exchange, body: JsonObject, context: ModelApiContext): Promise<void> {
    // The run is counted and traced, the request for it is not.
    exchange.traced = false;
    if (body['store'] === false) {
      throw new GatewayError(
        'invalid_request',
        'background: the answer has to be stored, so that it can be asked for. Leave store out.',
        { param: 'store' },
      );
    }
    const id = idOf(exchange);
    const after = body['stream'] === true ? -1 : undefined;
    // `AnswerOnce` has checked that a repeat asks for the same.
    if (await sendOwn(exchange, context, id, { after })) return;
    await this.#start(exchange, id, body, context);
    if (!(await sendOwn(exchange, context, id, { after }))) throw answeredAlready(id);
  }

  async #start(exchange: Exchange, id: string, body: JsonObject, context: ModelApiContext): Promise<void> {
    const { principal, headers } = exchange;
    const { runs, answers } = this.#options;
    const leave = this.#enter(principal.name);
    try {
      const { 'idempotency-key': key, ...rest } = clientHeaders(headers);
      const asked: Asked = { body, headers: rest };
      if (key !== undefined) await keepRequestOf(key, { id, principal: principal.name }, asked, answers);
      const run = { id, principal: principal.name, owner: this.#owner, request: asked };
      // Of two repeats at once, the other one began the run.
      if (await runs.create(run)) this.#begin(id, asked, principal, context);
    } finally {
      leave();
    }
  }

  /** Counts a run of the key until it is in `#running`. Throws `rate_limited`. */
  #enter(principal: string): () => void {
    const starting = this.#starting.get(principal) ?? 0;
    if (this.#isFull(principal)) {
      throw new GatewayError(
        'rate_limited',
        `The key "${principal}" has ${RUNNING} answers under way in the background. Wait for one, or cancel one.`,
        { retryable: true },
      );
    }
    this.#starting.set(principal, starting + 1);
    return () => {
      const left = (this.#starting.get(principal) ?? 0) - 1;
      if (left > 0) this.#starting.set(principal, left);
      else this.#starting.delete(principal);
    };
  }

  #isFull(principal: string): boolean {
    const running = [...this.#running.values()].filter((each) => each.principal === principal).length;
    return running + (this.#starting.get(principal) ?? 0) >= RUNNING;
  }

  /** The exchange runs already; the rest of its answer goes to the run that is returned. */
  takeOver({ exchange, body, response, isForwarded, over }: DroppedAnswer): BackgroundRun | undefined {
    const { principal, headers } = exchange;
    const { id } = response;
    const given: unknown = JSON.parse(body.toString());
    if (typeof id !== 'string' || !isObject(given) || this.#isFull(principal.name)) return undefined;
    const asked: Asked = { body: given, headers: clientHeaders(headers) };
    const run = new BackgroundRun({ id, body, headers: asked.headers, queued: response, streams: false });
    const settled = this.#note(run, principal.name, asked, isForwarded)
      .then(() => over)
      .then(() => this.#settle(run, principal.name, exchange, asked, isForwarded));
    this.#running.set(id, { run, principal: principal.name, exchange, settled });
    return run;
  }

  /** Stores the run for other nodes and the next process. They ask the upstream for what an upstream keeps. */
  async #note(run: BackgroundRun, principal: string, request: Asked, isForwarded: boolean): Promise<void> {
    const { runs, log } = this.#options;
    if (isForwarded) return;
    await runs.create({ id: run.id, principal, owner: this.#owner, request }).catch((error: unknown) => {
      log.warn({ err: error, id: run.id }, 'an answer whose connection dropped could not be noted');
    });
  }

  async find(id: string, principal: string): Promise<BackgroundRun | undefined> {
    await this.#restoring;
    await this.#takeOver(id, principal);
    const found = this.#running.get(id);
    return found?.principal === principal ? found.run : undefined;
  }

  async ownerOf(id: string, principal: string): Promise<string | undefined> {
    if (this.#running.has(id) || !id.startsWith(PREFIX)) return undefined;
    const run = await this.#options.runs.get(id);
    return run?.principal === principal && run.owner !== this.#owner ? run.owner : undefined;
  }

  /** Adopts the run of a lost node. */
  async #takeOver(id: string, principal: string): Promise<void> {
    const { peers, runs } = this.#options;
    const context = this.#context;
    if (peers === undefined || context === undefined) return;
    const owner = await this.ownerOf(id, principal);
    if (owner === undefined || !(await peers.isLost(owner))) return;
    const run = await runs.get(id);
    if (run?.owner === owner) await this.#adopt(run, context);
  }

  /** Resolves when the run has ended; it is stored as cancelled. */
  async cancel(id: string): Promise<void> {
    const found = this.#running.get(id);
    found?.exchange.abort(cancelled());
    await found?.settled;
  }

  /** At the start. Never rejects. */
  restore(context: ModelApiContext): Promise<void> {
    this.#context = context;
    this.#restoring = this.#restoreAll(context)
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'answers in the background could not be resumed');
      })
      .finally(() => {
        this.#restoring = undefined;
      });
    return this.#restoring;
  }

  /** Releases unfinished runs to the next process. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ settled }) => settled));
    await this.#options.runs.release(this.#owner, RELEASED);
  }

  async #restoreAll(context: ModelApiContext): Promise<void> {
    for (const run of await this.#options.runs.running()) {
      if (run.id.startsWith(PREFIX) && mayTakeOver(run.owner)) await this.#adopt(run, context);
    }
  }

  /** Resumes the run, or stores it as failed. Of the processes that race for it, one does. */
  async #adopt(
    { id, owner: from, attempts, session }: Omit<Run, 'request'>,
    context: ModelApiContext,
  ): Promise<void> {
    const { runs, principalOf } = this.#options;
    const claimed = await runs.claim(id, { from, to: this.#owner, attempts: attempts + 1 });
    if (claimed === undefined) return;
    const asked = readAsked(claimed);
    const principal = principalOf(claimed.principal);
    const goesOn = session !== undefined && attempts < ATTEMPTS;
    if (goesOn && asked !== undefined && principal !== undefined) this.#begin(id, asked, principal, context);
    else await this.#giveUp(claimed, asked);
  }

  #begin(id: string, asked: Asked, principal: Principal, context: ModelApiContext): BackgroundRun {
    const { background: _own, ...body } = asked.body;
    const run = new BackgroundRun({
      id,
      body: Buffer.from(JSON.stringify({ ...body, stream: true })),
      headers: asked.headers,
      queued: queuedResponse(id, asked.body),
      streams: asked.body['stream'] === true,
    });
    const handle = modelHandler(openaiResponses, memoryOf(asked.body));
    const { exchange, over } = this.#options.serve(
      { id: id.replace(PREFIX, 'req_'), principal, message: run },
      async (served) => {
        served.onSession = (session) => void this.#options.runs.attach(id, session).catch(() => {});
        await handle(served, context, {});
      },
    );
    const settled = over.then(() => this.#settle(run, principal.name, exchange, asked));
    this.#running.set(id, { run, principal: principal.name, exchange, settled });
    return run;
  }

  async #settle(
    run: BackgroundRun,
    principal: string,
    exchange: Exchange,
    asked: Asked,
    isForwarded = false,
  ): Promise<void> {
    const { runs, log } = this.#options;
    try {
      const cause = causeOf(exchange.failure);
      // The next process resumes it.
      if (cause === 'gateway-stops' && exchange.facts.session !== undefined) return;
      if (cause === 'person-stopped') run.end({ status: 'cancelled', error: null });
      run.end({ status: 'failed', error: { code: 'server_error', message: 'The answer broke off.' } });
      if (isForwarded) return;
      const response =
        cause === 'person-stopped' ? { ...run.response, status: 'cancelled', error: null } : run.response;
      await this.#keep(run.id, principal, asked, response, run);
      await runs.delete(run.id);
    } catch (error) {
      log.warn({ err: error, id: run.id }, 'an answer in the background could not be kept');
    } finally {
      run.close();
      this.#running.delete(run.id);
    }
  }

  async #giveUp({ id, principal }: Run, asked: Asked | undefined): Promise<void> {
    const message = 'The gateway was stopped while it made this answer. Send the request again.';
    const response = {
      ...queuedResponse(id, asked?.body ?? {}),
      status: 'failed',
      error: { code: 'server_error', message },
    };
    await this.#keep(id, principal, asked ?? { body: {}, headers: {} }, response, undefined);
    await this.#options.runs.delete(id);
  }

  async #keep(
    id: string,
    principal: string,
    { body }: Asked,
    response: JsonObject,
    run: BackgroundRun | undefined,
  ): Promise<void> {
    const events = run?.streams === true ? run.log : undefined;
    await keepEndedResponse({ id, principal, body, response, events }, this.#options.answers);
  }
}

/** Binds the idempotency key to this request. Throws `unprocessable` where it is bound to another. */
async function keepRequestOf(
  idempotencyKey: string,
  { id, principal }: { id: string; principal: string },
  { body, headers }: Asked,
  answers: AnswerMemory,
): Promise<void> {
  const session = headers['x-session-id'];
  const digest = requestDigest(openaiResponses.name, body, typeof session === 'string' ? session : undefined);
  const key = { kind: 'http', idempotencyKey } as const;
  await answers.put(principal, key, { digest, body: { kind: 'background', id }, keptMs: KEPT_MS });
  await answers.get(principal, key, digest);
}

/** A repeat under an `Idempotency-Key` is the same answer. */
function idOf({ id, principal, headers }: Exchange): string {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return id.replace(/^req_/, PREFIX);
  const digest = createHash('sha256')
    .update(JSON.stringify([principal.name, key]))
    .digest('hex');
  return `${PREFIX}${digest.slice(0, 32)}`;
}

/** Marks the answer as one in the background, and keeps its row when it fails. */
function memoryOf(asked: JsonObject): ResponseMemory {
  return {
    async recall(body, principal, context) {
      const recalled = await responseMemory.recall(body, principal, context);
      if (!isObject(body)) return recalled;
      // Without `saysRaw`, because an upstream that gets the client's bytes names the answer itself.
      return { body: { ...(recalled?.body ?? body), $background: true } };
    },
    keep(turn, context) {
      const record = responseMemory.keep({ ...turn, body: asked }, context);
      return record && { finish: (whole) => record.finish(whole), drop: async () => {} };
    },
    keepForwarded: async () => {},
  };
}

function queuedResponse(id: string, body: JsonObject): JsonObject {
  const model = typeof body['model'] === 'string' ? body['model'] : '';
  const form = formOf(body);
  const whole = openaiResponses.ingress.encodeResponse(
    { id, model, content: [], stopReason: 'end_turn', usage: NO_USAGE },
    { model, requestId: id, created: Math.floor(Date.now() / 1000), ...(form === undefined ? {} : { form }) },
    new LossLog(),
  );
  return { ...whole, status: 'queued', output: [], usage: null, background: true };
}

function formOf(body: JsonObject): JsonObject | undefined {
  try {
    return openaiResponses.ingress.answerForm?.(openaiResponses.ingress.decodeRequest(body));
  } catch {
    return undefined;
  }
}

function readAsked({ request }: Run): Asked | undefined {
  if (!isObject(request) || !isObject(request['body']) || !isObject(request['headers'])) return undefined;
  const headers = Object.entries(request['headers']).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return { body: request['body'], headers: Object.fromEntries(headers) };
}

function answeredAlready(id: string): GatewayError {
  return new GatewayError(
    'conflict',
    `Idempotency-Key: the request was begun in the background before. Ask for /v1/responses/${id}.`,
    { param: 'Idempotency-Key', retryable: true },
  );
}

function cancelled(): StopError {
  return new StopError('person-stopped', 'client_closed', 'The answer was cancelled.');
}
