/** Runs checks against a gateway at a base URL, with the scripted upstream behind it. */
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
import { CLIENT_PATHS, select, type WireName } from './dialects.js';
import { followUpBody } from './follow-up.js';
import { type Bindings, mismatches, shown } from './match.js';
import { readError, readStream, readWhole } from './read-answer.js';
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
}

interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

export class Runner {
  readonly #target: Target;
  readonly #desk: ScriptDesk;
  #count = 0;
  #lane: Promise<unknown> = Promise.resolve();

  constructor(target: Target, desk: ScriptDesk) {
    this.#target = target;
    this.#desk = desk;
  }

  /** What is wrong; empty when nothing is. Never rejects. */
  async run(check: Check): Promise<string[]> {
    if (check.variation.bytes !== undefined) return this.#inLane(check);
    const { uniqueModels, model: only } = this.#target;
    const name = only ?? modelOf(setupOf(check.variation, check.pair));
    const model = uniqueModels ? `${name}-${this.#nextNumber()}` : name;
    return this.#visit(uniqueModels ? model : undefined, (visit) =>
      check.variation.counts === undefined ? this.#exchange(check, model, visit) : this.#counts(check, model),
    );
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

  async #exchange(check: Check, model: string, visit: Visit): Promise<string[]> {
    const { variation, pair, stream } = check;
    const bindings: Bindings = new Map();
    const replies = repliesOf(variation, pair);
    visit.expect(replies.map((reply) => replyIn(pair.upstream, reply, stream)));
    const body = bodyOf(check, model);
    const answered = await this.#send(pair.client, body, variation.headers);
    const problems = this.#requestProblems(
      check,
      visit,
      variation.upstream_requests ?? replies.length,
      bindings,
    );
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
      return [...problems, ...failedProblems(answered, check, bindings)];
    }
    if (answered.status !== 200) {
      return [...problems, `the gateway answered ${answered.status}: ${answered.text.slice(0, 500)}`];
    }
    const received = readAnswer(pair.client, answered, stream);
    problems.push(...receivedProblems(received, check, model, bindings));
    if (variation.then === undefined || problems.length > 0) return problems;
    return this.#goOn(check, variation.then, body, received, visit, bindings);
  }

  #requestProblems(check: Check, visit: Visit, wanted: number, bindings: Bindings): string[] {
    const { variation, pair } = check;
    const problems: string[] = [];
    const count = visit.requests.length;
    const mayRetry = variation.upstream_requests === undefined && select(variation.error, pair) !== undefined;
    if (mayRetry ? count < wanted : count !== wanted) {
      problems.push(`the upstream got ${count} requests and not ${wanted}`);
    }
    for (const request of visit.requests) {
      if (request.head.includes(this.#target.apiKey)) problems.push("the client's credential went upstream");
      if (variation.lenient !== true) problems.push(...refusedRequest(request));
    }
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
    visit: Visit,
    bindings: Bindings,
  ): Promise<string[]> {
    const reply = replyIn(pair.upstream, { parts: [{ text: 'Done.' }] }, stream);
    visit.expect([reply]);
    const before = visit.requests.length;
    const next = followUpBody(pair.client, body, received, then);
    const answered = await this.#send(pair.client, next, variation.headers);
    if (answered.status !== 200) {
      return [`the second request got ${answered.status}: ${answered.text.slice(0, 500)}`];
    }
    const last = visit.requests.at(-1);
    if (last === undefined || visit.requests.length !== before + 1) return ['there was no second request'];
    const expected = select(then.upstream_request, pair);
    const problems = [
      ...refusedRequest(last),
      ...(expected === undefined ? [] : upstreamRequestProblems(last, expected, bindings)),
      ...this.#losses(answered, select(then.losses, pair)),
    ];
    return problems.map((problem) => `second request: ${problem}`);
  }

  // ── lanes of their own ──────────────────────────────────────────────────────────────────────────

  /** One after the other: the upstream sees one name for all of them. */
  #inLane(check: Check): Promise<string[]> {
    const { uniqueModels, model: only, renamed } = this.#target;
    const setup = setupOf(check.variation, check.pair);
    const named = renamed?.(setup);
    const done = this.#lane.then(() =>
      this.#visit(uniqueModels ? named : undefined, (visit) =>
        this.#bytes(check, only ?? modelOf(setup), named, visit),
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
    if (request === undefined) return [`nothing went upstream: ${answered.text.slice(0, 500)}`];
    const arrived = filled.replaceAll('{{model}}', named ?? String(request.json['model']));
    const said = plainText(reply(request));
    const expected = select(variation.upstream_request, pair);
    return [
      ...(request.text === arrived ? [] : [`the body became ${shown(request.text)}`]),
      ...(answered.text === said ? [] : [`the answer became ${shown(answered.text)}`]),
      ...(request.head.includes(this.#target.apiKey) ? ["the client's credential went upstream"] : []),
      ...(expected === undefined ? [] : upstreamRequestProblems(request, expected, new Map())),
      ...this.#keyProblems(request.headers),
      ...this.#losses(answered, []),
    ];
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
        return [`the gateway answered ${answered.status}: ${answered.text.slice(0, 500)}`];
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
    const { baseUrl, apiKey } = this.#target;
    const credential: Record<string, string> =
      client === 'messages'
        ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
        : { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
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

function failedProblems({ status, text }: Answered, check: Check, bindings: Bindings): string[] {
  const { variation, pair } = check;
  const expected = select(variation.error, pair);
  if (expected === undefined) return [];
  if (status !== expected.status) {
    return [`the gateway answered ${status} and not ${expected.status}: ${text.slice(0, 500)}`];
  }
  const error = readError(pair.client, JSON.parse(text));
  if (error === undefined) return [`this is no error of the wire: ${text.slice(0, 500)}`];
  return failureProblems(error, expected, pair, bindings);
}

function readAnswer(client: WireName, { headers, text }: Answered, stream: boolean): Received {
  const type = headers.get('content-type') ?? '';
  if (!type.includes(stream ? 'text/event-stream' : 'application/json')) {
    throw new Error(`the content type is ${type}`);
  }
  return stream ? readStream(client, text) : readWhole(client, JSON.parse(text));
}

function receivedProblems(received: Received, check: Check, model: string, bindings: Bindings): string[] {
  const { variation, pair } = check;
  const problems =
    received.model === model || received.model === '' ? [] : [`the answer names the model ${received.model}`];
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
