/**
 * A turn of an agent or of the console is no translation between two wires, and no tool is run again:
 * what the model said is read again, call by call, from the bytes that came then.
 */
import { AnswerCollector } from '../../core/answer-collector.js';
import type { Block } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { DIALECTS } from '../../dialects/all.js';
import {
  parseRecorded,
  type RecordedAttempt,
  type Replay,
  recordedUpstream,
  type TraceFile,
} from './trace-file.js';

const FAILED = 400;

export async function readAgain(file: TraceFile): Promise<Replay> {
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
