/** Runs checks against a gateway at a base URL, with the scripted upstream behind it. */
import type { RecordedRequest } from '../support/upstream-server.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import type { FollowUpSpec, RequestSpec } from './case-schema.js';
import { type Check, repliesOf } from './checks.js';
import {
  answerProblems,
  failureProblems,
  lossProblems,
  refusedRequest,
  upstreamRequestProblems,
} from './compare.js';
import { CLIENT_PATHS, type Pair, pairName, select, type WireName } from './dialects.js';
import { EverywhereLog, REQUEST_ID } from './everywhere.js';
import { followUpBody } from './follow-up.js';
import { type Bindings, mismatches, shown } from './match.js';
import { readAnyError, readError, readStream, readWhole } from './read-answer.js';
import type { Received } from './received.js';
import { plainText, replyIn } from './reply.js';
import type { ScriptDesk, Visit } from './script-desk.js';
import { modelOf, type Setup, setupOf } from './setups.js';
import { writeRequest } from './write-request.js';

export interface Target {
  /** The gateway's origin, without a slash at the end. */
  baseUrl: string;
  /** Sent as the client's credential. It must never reach the upstream. */
  apiKey: string;
  /** The gateway passes on names that it was not told one by one, so checks can run side by side. */
  uniqueModels: boolean;
  /** One name for every check. */
  model?: string;
  /** Where the gateway says what it could not carry; without, nobody asks. */
  lossesHeader?: string;
  /** The credential that the upstream must see. */
  upstreamKey?: string;
  /** What the gateway calls the model upstream where it is asked for the one of the lane of bytes. */
  renamed?: (setup: Setup) => string;
  /** After this an answer counts as missing; without, the suite waits. */
  timeoutMs?: number;
}

/** What one check found: about its own subject, and about what concerns every answer. */
export interface Outcome {
  problems: readonly string[];
  everywhere: EverywhereLog;
}

interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

/** One exchange under way. */
interface Exchange {
  model: string;
  visit: Visit;
  everywhere: EverywhereLog;
  /** Of the plainest request. */
  refusals: readonly string[];
}

export class Runner {
  readonly #target: Target;
  readonly #desk: ScriptDesk;
  readonly #plainRefusals = new Map<string, Promise<readonly string[]>>();
  #count = 0;
  #lane: Promise<unknown> = Promise.resolve();

  constructor(target: Target, desk: ScriptDesk) {
    this.#target = target;
    this.#desk = desk;
  }

  /** Never rejects. */
  async run(check: Check): Promise<Outcome> {
    const everywhere = new EverywhereLog();
    return { problems: await this.#problems(check, everywhere), everywhere };
  }

  async #problems(check: Check, everywhere: EverywhereLog): Promise<string[]> {
    if (check.variation.bytes !== undefined) return this.#inLane(check, everywhere);
    const refusals = await this.#refusedPlainly(check.pair);
    const model = this.#modelFor(setupOf(check.variation, check.pair));
    return this.#visit(this.#key(model), (visit) =>
      check.variation.counts === undefined
        ? this.#exchange(check, { model, visit, everywhere, refusals })
        : this.#counts(check, model),
    );
  }

  #modelFor(setup: Setup): string {
    const name = this.#target.model ?? modelOf(setup);
    return this.#target.uniqueModels ? `${name}-${this.#nextNumber()}` : name;
  }

  #key = (model: string): string | undefined => (this.#target.uniqueModels ? model : undefined);

  /**
   * What a strict upstream refuses of the plainest request already. It is one fault of the gateway, and
   * says nothing of the subject of a check.
   */
  #refusedPlainly(pair: Pair): Promise<readonly string[]> {
    const known = this.#plainRefusals.get(pairName(pair));
    if (known !== undefined) return known;
    const model = this.#modelFor(setupOf({ title: 'plain' }, pair));
    const found = this.#visit(this.#key(model), async (visit) => {
      visit.expect([replyIn(pair.upstream, { parts: [{ text: 'Fine.' }] }, false)]);
      const answered = await this.#send(pair.client, { model, ...writeRequest(pair.client, {}) });
      return answered.status === 200 ? visit.requests.flatMap(refusedRequest) : [];
    });
    this.#plainRefusals.set(pairName(pair), found);
    return found;
  }

  #nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }

  async #visit(model: string | undefined, work: (visit: Visit) => Promise<string[]>): Promise<string[]> {
    const visit = this.#desk.open(model);
    try {
      return await work(visit);
    } catch (error) {
      return [error instanceof Error ? `${error.name}: ${error.message}` : String(error)];
    } finally {
      visit.close();
    }
  }

  // ── a request and its answer ────────────────────────────────────────────────────────────────────

  async #exchange(check: Check, at: Exchange): Promise<string[]> {
    const { variation, pair, stream } = check;
    const { model, visit, everywhere } = at;
    const bindings: Bindings = new Map();
    const replies = repliesOf(variation, pair);
    visit.expect(replies.map((reply) => replyIn(pair.upstream, reply, stream)));
    const body = bodyOf(check, model);
    const answered = await this.#send(pair.client, body, variation.headers);
    const problems = this.#requestProblems(
      check,
      at,
      variation.upstream_requests ?? replies.length,
      bindings,
    );
    noteRequestId(everywhere, pair.client, answered);
    const expectedLosses = select(variation.losses, pair) ?? rowLosses(check);
    problems.push(...this.#losses(answered, expectedLosses));
    problems.push(
      ...mismatches(
        Object.fromEntries(answered.headers),
        variation.response_headers ?? {},
        'response headers',
        bindings,
      ),
    );
    const failure = select(variation.error, pair);
    if (failure !== undefined && !(failure.in_stream === true && stream)) {
      return [...problems, ...failedProblems(answered, check, bindings, everywhere)];
    }
    if (answered.status !== 200) {
      return [...problems, `the gateway answered ${answered.status}: ${answered.text.slice(0, SHOWN)}`];
    }
    const received = readAnswer(pair.client, answered, stream, everywhere);
    everywhere.note(
      'model',
      received.model === model || received.model === '',
      () => `${model} was asked for, the answer names ${received.model}`,
    );
    problems.push(...receivedProblems(received, check, bindings));
    if (variation.then === undefined || problems.length > 0) return problems;
    return this.#goOn(check, variation.then, body, received, at, bindings);
  }

  #requestProblems(check: Check, at: Exchange, wanted: number, bindings: Bindings): string[] {
    const { variation, pair } = check;
    const { visit, everywhere, refusals } = at;
    const problems: string[] = [];
    const count = visit.requests.length;
    const mayRetry = variation.upstream_requests === undefined && select(variation.error, pair) !== undefined;
    if (mayRetry ? count < wanted : count !== wanted) {
      problems.push(`the upstream got ${count} requests and not ${wanted}`);
    }
    for (const request of visit.requests) {
      this.#noteCredential(everywhere, request);
      if (variation.lenient !== true) problems.push(...beyond(refusals, refusedRequest(request)));
    }
    everywhere.note('plainRequest', refusals.length === 0, () => refusals.join('; '));
    const last = visit.requests.at(-1);
    const expected = select(variation.upstream_request, pair);
    if (last !== undefined && expected !== undefined) {
      problems.push(...upstreamRequestProblems(last, expected, bindings));
    }
    return problems;
  }

  #losses({ headers, status }: Answered, expected: readonly string[] | undefined): string[] {
    const { lossesHeader } = this.#target;
    if (lossesHeader === undefined || expected === undefined || status !== 200) return [];
    return lossProblems(headers.get(lossesHeader) ?? '', expected);
  }

  /** The client answers the calls, or says more, and sends everything again. */
  async #goOn(
    { variation, pair, stream }: Check,
    then: FollowUpSpec,
    body: JsonRecord,
    received: Received,
    { visit, refusals }: Exchange,
    bindings: Bindings,
  ): Promise<string[]> {
    const reply = replyIn(pair.upstream, { parts: [{ text: 'Done.' }] }, stream);
    visit.expect([reply]);
    const before = visit.requests.length;
    const next = followUpBody(pair.client, body, received, then);
    const answered = await this.#send(pair.client, next, variation.headers);
    if (answered.status !== 200) {
      return [`the second request got ${answered.status}: ${answered.text.slice(0, SHOWN)}`];
    }
    const last = visit.requests.at(-1);
    if (last === undefined || visit.requests.length !== before + 1) return ['there was no second request'];
    const expected = select(then.upstream_request, pair);
    const problems = [
      ...beyond(refusals, refusedRequest(last)),
      ...(expected === undefined ? [] : upstreamRequestProblems(last, expected, bindings)),
      ...this.#losses(answered, select(then.losses, pair)),
    ];
    return problems.map((problem) => `second request: ${problem}`);
  }

  // ── lanes of their own ──────────────────────────────────────────────────────────────────────────

  /** One after the other: the upstream sees one name for all of them. */
  #inLane(check: Check, everywhere: EverywhereLog): Promise<string[]> {
    const { uniqueModels, model: only, renamed } = this.#target;
    const setup = setupOf(check.variation, check.pair);
    const named = renamed?.(setup);
    const done = this.#lane.then(() =>
      this.#visit(uniqueModels ? named : undefined, (visit) =>
        this.#bytes(check, only ?? modelOf(setup), named, visit, everywhere),
      ),
    );
    this.#lane = done.catch(() => {});
    return done;
  }

  /** The same wire on both sides: what is sent arrives, and what is answered arrives, byte for byte. */
  async #bytes(
    { variation, pair, stream }: Check,
    model: string,
    named: string | undefined,
    visit: Visit,
    everywhere: EverywhereLog,
  ): Promise<string[]> {
    const [reply, ...more] = repliesOf(variation, pair).map((each) => replyIn(pair.upstream, each, stream));
    const text = select(variation.bytes, pair);
    if (reply === undefined || more.length > 0 || text === undefined) {
      return ['a lane of bytes is one request and one answer'];
    }
    visit.expect([reply]);
    const filled = text.replaceAll('{{stream}}', String(stream));
    const answered = await this.#send(pair.client, filled.replaceAll('{{model}}', model), variation.headers);
    const [request] = visit.requests;
    if (request === undefined) return [`nothing went upstream: ${answered.text.slice(0, SHOWN)}`];
    const arrived = filled.replaceAll('{{model}}', named ?? String(request.json['model']));
    const said = plainText(reply(request));
    const expected = select(variation.upstream_request, pair);
    this.#noteCredential(everywhere, request);
    noteRequestId(everywhere, pair.client, answered);
    return [
      ...(request.text === arrived ? [] : [`the body became ${shown(request.text)}`]),
      ...(answered.text === said ? [] : [`the answer became ${shown(answered.text)}`]),
      ...(expected === undefined ? [] : upstreamRequestProblems(request, expected, new Map())),
      ...this.#keyProblems(request.headers),
      ...this.#losses(answered, []),
    ];
  }

  #noteCredential(everywhere: EverywhereLog, { head, path }: RecordedRequest): void {
    everywhere.note('credential', !head.includes(this.#target.apiKey), () => `it is in a request to ${path}`);
  }

  #keyProblems(headers: Readonly<Record<string, string>>): string[] {
    const { upstreamKey } = this.#target;
    if (upstreamKey === undefined) return [];
    const sent = headers['x-api-key'] ?? headers['authorization']?.replace(/^Bearer /, '');
    return sent === upstreamKey ? [] : [`the upstream's credential is ${shown(sent)}`];
  }

  async #counts({ variation, pair }: Check, model: string): Promise<string[]> {
    const counts: number[] = [];
    for (const request of variation.counts ?? []) {
      const body = { model, ...writeRequest(pair.client, request), max_tokens: undefined };
      const path = `${CLIENT_PATHS[pair.client]}/count_tokens`;
      const answered = await this.#send(pair.client, body, variation.headers, path);
      const counted: unknown = answered.status === 200 ? JSON.parse(answered.text) : undefined;
      if (!isRecord(counted) || typeof counted['input_tokens'] !== 'number') {
        return [`the gateway answered ${answered.status}: ${answered.text.slice(0, SHOWN)}`];
      }
      counts.push(counted['input_tokens']);
    }
    const grows = counts.every((count, index) => index === 0 || count > (counts[index - 1] ?? 0));
    return grows ? [] : [`the counts do not grow: ${counts.join(', ')}`];
  }

  async #send(
    client: WireName,
    body: JsonRecord | string,
    headers: Readonly<Record<string, string>> = {},
    path = CLIENT_PATHS[client],
  ): Promise<Answered> {
    const { baseUrl, apiKey, timeoutMs } = this.#target;
    const credential: Record<string, string> =
      client === 'messages'
        ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
        : { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

// ── pieces ────────────────────────────────────────────────────────────────────────────────────────

/** The client's body, in its own wire. */
export function bodyOf({ variation, common, pair, stream }: Check, model: string): JsonRecord {
  const own = variation.body;
  const request: RequestSpec = { ...common.request, ...select(variation.request, pair) };
  const body = own ?? { ...writeRequest(pair.client, request), ...select(variation.extra, pair) };
  if (!stream) return { model, ...body };
  // A client that does not ask is not told what the answer cost.
  const usage = pair.client === 'chat' ? { stream_options: { include_usage: true } } : {};
  return { model, ...body, stream: true, ...usage };
}

/** What is carried or mapped is carried without a loss. */
function rowLosses({ variation, pair }: Check): readonly string[] | undefined {
  const how = select(variation.row?.how, pair);
  return how === undefined || how.startsWith('lost') ? undefined : [];
}

const beyond = (known: readonly string[], found: readonly string[]): string[] =>
  found.filter((each) => !known.includes(each));

function noteRequestId(everywhere: EverywhereLog, client: WireName, { headers }: Answered): void {
  const name = REQUEST_ID[client];
  everywhere.note('requestId', (headers.get(name) ?? '') !== '', () => `an answer has no ${name}`);
}

function failedProblems(
  { status, text }: Answered,
  check: Check,
  bindings: Bindings,
  everywhere: EverywhereLog,
): string[] {
  const { variation, pair } = check;
  const expected = select(variation.error, pair);
  if (expected === undefined) return [];
  if (status !== expected.status) {
    return [`the gateway answered ${status} and not ${expected.status}: ${text.slice(0, SHOWN)}`];
  }
  const error = readError(pair.client, parsed(text));
  everywhere.note('errorShape', error !== undefined, () => text.slice(0, SHOWN));
  return failureProblems(error ?? readAnyError(text), expected, pair, bindings);
}

const SHOWN = 500;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readAnswer(
  client: WireName,
  { headers, text }: Answered,
  stream: boolean,
  everywhere: EverywhereLog,
): Received {
  const type = headers.get('content-type') ?? '';
  const wanted = stream ? 'text/event-stream' : 'application/json';
  everywhere.note('contentType', type.includes(wanted), () => `${JSON.stringify(type)} and not ${wanted}`);
  return stream ? readStream(client, text) : readWhole(client, JSON.parse(text));
}

function receivedProblems(received: Received, check: Check, bindings: Bindings): string[] {
  const { variation, pair } = check;
  const problems: string[] = [];
  const expected = select(variation.answer, pair);
  if (expected !== undefined) problems.push(...answerProblems(received, expected, pair, bindings));
  const failure = select(variation.error, pair);
  if (failure === undefined) {
    if (received.error !== undefined) problems.push(`the answer failed: ${received.error.message}`);
    return problems;
  }
  if (received.error === undefined) return [...problems, 'the stream did not fail'];
  // Inside a stream each wire has other words for the kind; the message is what people see.
  const { status, message } = failure;
  return [...problems, ...failureProblems(received.error, { status, message }, pair, bindings)];
}
