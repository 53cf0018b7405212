/**
 * Runs a recorded request through this version, offline: the inbound body is decoded and encoded
 * again, the upstream's bytes are read in the same pieces, and what comes out is compared with what
 * was recorded. A bug report is one such file.
 */
import { isDeepStrictEqual } from 'node:util';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { Block } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { DIALECTS, dialectOfPath } from '../../dialects/all.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import type { HttpUpstream } from '../../upstreams/http-upstream.js';
import {
  parseRecorded,
  type RecordedAttempt,
  type Replay,
  recordedUpstream,
  type TraceFile,
} from './trace-file.js';

export async function replay(file: TraceFile): Promise<Replay> {
  const { inbound } = file;
  const attempt = file.attempts.at(-1);
  if (file.cut) return nothing('the record is not whole, because some of it was too large to keep.');
  if (attempt === undefined) {
    return nothing(
      file.session === undefined
        ? 'no upstream was asked.'
        : 'no upstream was asked over HTTP. If the agent is Claude Code, its model calls are requests of their own.',
    );
  }
  const dialect = inbound === null ? undefined : dialectOfPath(inbound.path);
  if (inbound === null || dialect === undefined || file.session !== undefined) return readAgain(file);
  if (attempt.wire === dialect.name)
    return { lines: ['Client and upstream speak the same dialect: the bytes were forwarded.'], same: true };

  const sent: string[] = [];
  const emitted = await run(file, inbound.body, dialect, recordedUpstream(file, attempt, sent));
  const outbound = compareOutbound(attempt.body, sent.at(-1) ?? '');
  const answer = compareAnswer(recordedAnswer(file), emitted);
  return {
    lines: [`outbound: ${outbound}`, `answer:   ${answer}`, '', emitted.trimEnd()],
    same: outbound === SAME && answer === SAME,
  };
}

const nothing = (why: string): Replay => ({ lines: [`There is nothing to replay: ${why}`], same: false });

const SAME = 'as recorded';

/** What the client would be sent today. */
async function run(file: TraceFile, body: string, dialect: Dialect, upstream: HttpUpstream): Promise<string> {
  const request = dialect.ingress.decodeRequest(parseRecorded(body, 'what the client sent'));
  const outboundModel = modelOf(file.attempts.at(-1)?.body ?? '') ?? request.model;
  const answerContext = {
    model: request.model,
    requestId: file.request,
    created: Math.floor(file.at / 1000),
  };
  try {
    const signal = new AbortController().signal;
    const answer = await upstream.call({ request, model: outboundModel, headers: {}, signal });
    const lifecycle = new StreamLifecycle({
      id: idOf(recordedAnswer(file)) ?? file.request,
      model: request.model,
      ...(answer.promptTokens === undefined ? {} : { estimate: { inputTokens: answer.promptTokens } }),
      ...(request.parallelToolCalls === undefined ? {} : { parallelToolCalls: request.parallelToolCalls }),
    });
    const collector = new AnswerCollector();
    const encoder = request.stream ? dialect.ingress.createStreamEncoder(request, answerContext) : undefined;
    let text = '';
    const say = (events: ReturnType<StreamLifecycle['push']>) => {
      if (encoder === undefined) collector.push(events);
      else text += encoder.encode(events);
    };
    for await (const batch of answer.batches) say(lifecycle.push(batch));
    say(lifecycle.end());
    if (encoder !== undefined) return text;
    return JSON.stringify(dialect.ingress.encodeResponse(collector.finish(), answerContext, new LossLog()));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return JSON.stringify(dialect.ingress.encodeError(error, file.request));
  }
}

function recordedAnswer({ timeline }: TraceFile): string {
  return timeline
    .filter(({ from }) => from === 'gateway')
    .map(({ data }) => data)
    .join('');
}

function compareOutbound(recorded: string, now: string): string {
  const [before, after] = [parse(recorded), parse(now)];
  if (isDeepStrictEqual(before, after)) return SAME;
  return `differs at ${firstDifference(before, after)}`;
}

/** Event by event: estimates and times may differ, the words must not. */
function compareAnswer(recorded: string, now: string): string {
  const [before, after] = [split(recorded), split(now)];
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    if (!isDeepStrictEqual(before[index], after[index]))
      return `differs at event ${index + 1} of ${after.length}`;
  }
  return SAME;
}

/** Pings come by the clock, and figures before the end are estimates that improve. */
function split(text: string): unknown[] {
  return text
    .split('\n\n')
    .map((event) => event.replace(/^(?:event: .*\n)?data: /, '').trim())
    .filter(
      (event) =>
        event !== '' &&
        !event.startsWith(':') &&
        !event.includes('"type": "ping"') &&
        !event.includes('"type":"ping"'),
    )
    .map((event) => withoutEstimate(parse(event)));
}

function withoutEstimate(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value)) return value;
  if (
    value.type !== 'message_start' &&
    value.type !== 'response.created' &&
    value.type !== 'response.in_progress'
  )
    return value;
  return value.type;
}

function firstDifference(before: unknown, after: unknown, path = ''): string {
  if (typeof before === 'object' && typeof after === 'object' && before !== null && after !== null) {
    const left = new Map(Object.entries(before));
    const right = new Map(Object.entries(after));
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      if (!isDeepStrictEqual(left.get(key), right.get(key))) {
        return firstDifference(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`);
      }
    }
  }
  return path === '' ? 'the body' : path;
}

function idOf(answer: string): string | undefined {
  return /"id":"((?:msg_|chatcmpl-|resp_)[^"]+)"/.exec(answer)?.[1];
}

function modelOf(body: string): string | undefined {
  const value = parse(body);
  if (typeof value !== 'object' || value === null || !('model' in value)) return undefined;
  return typeof value.model === 'string' ? value.model : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const FAILED = 400;

/**
 * A turn of an agent or of the console is no translation between two wires, and no tool is run again:
 * what the model said is read again, call by call, from the bytes that came then.
 */
async function readAgain(file: TraceFile): Promise<Replay> {
  const lines = [
    'A turn that the gateway took itself. No tool is run again; what the model said is read again:',
  ];
  let same = true;
  for (const [index, attempt] of file.attempts.entries()) {
    const { upstream, wire, status } = attempt;
    const title = `request ${index + 1} of ${file.attempts.length} to a model`;
    lines.push(
      '',
      `── ${title}  ${upstream}  ${wire}  ${status === null ? 'no answer' : `answered ${status}`}`,
    );
    const { content, end, error } = await readAttempt(file, attempt);
    lines.push(...content.flatMap(blockLines));
    if (end !== undefined) lines.push(end);
    if (error === undefined) continue;
    lines.push(`error: ${error.message}`);
    // Where the model refused, or its answer broke off then too, that is what there is to read.
    same &&= status === null || status >= FAILED || failedThen(file, index);
  }
  return { lines, same };
}

/** It was asked again, or the turn failed with it. */
function failedThen({ attempts, status = 0 }: TraceFile, index: number): boolean {
  const [attempt, next] = attempts.slice(index, index + 2);
  if (next === undefined) return status >= FAILED;
  return next.upstream !== attempt?.upstream || next.body === attempt.body;
}

interface Read {
  content: readonly Block[];
  end?: string;
  error?: GatewayError;
}

/** With an error also what was said before it. */
async function readAttempt(file: TraceFile, attempt: RecordedAttempt): Promise<Read> {
  const lifecycle = new StreamLifecycle({ id: file.request, model: file.model });
  const collector = new AnswerCollector();
  let error: GatewayError | undefined;
  const take = (events: readonly AnswerEvent[]): void => {
    for (const event of events) {
      if (event.type === 'error') error = event.error;
      else collector.push([event]);
    }
  };
  try {
    for await (const batch of await answerOf(file, attempt)) take(lifecycle.push(batch));
    take(lifecycle.end());
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    take(lifecycle.push([{ type: 'error', error: thrown }]));
  }
  if (error !== undefined) return { content: collector.content, error };
  const { content, stopReason, usage } = collector.finish();
  return {
    content,
    end: `stop: ${stopReason}; ${usage.inputTokens} tokens in, ${usage.outputTokens} out`,
  };
}

async function answerOf(
  file: TraceFile,
  attempt: RecordedAttempt,
): Promise<AsyncIterable<readonly ModelEvent[]>> {
  const request = DIALECTS[attempt.wire].ingress.decodeRequest(
    parseRecorded(attempt.body, 'what a model was sent'),
  );
  const { signal } = new AbortController();
  const upstream = recordedUpstream(file, attempt);
  const { batches } = await upstream.call({ request, model: request.model, headers: {}, signal });
  return batches;
}

function blockLines(block: Block): string[] {
  switch (block.type) {
    case 'text':
      return block.text.split('\n');
    case 'thinking':
      return [`thinking: ${block.thinking}`];
    case 'tool_use':
      return [`call: ${block.name} ${JSON.stringify(block.input)}`];
    default:
      return [`(${block.type})`];
  }
}
