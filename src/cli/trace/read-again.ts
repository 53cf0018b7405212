/**
 * A turn of an agent or of the console is no translation between two wires, and no tool is run again:
 * what the model said is read again, call by call, from the bytes that came then.
 */
import type { AssistantTurn, Block } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { TurnCollector } from '../../core/turn-collector.js';
import { DIALECTS } from '../../dialects/all.js';
import { type RecordedAttempt, type Replay, recordedUpstream, type TraceFile } from './trace-file.js';

const FAILED = 400;

export async function readAgain(file: TraceFile): Promise<Replay> {
  const lines = [
    'A turn that the gateway took itself. No tool is run again; what the model said is read again:',
  ];
  let same = true;
  for (const [index, attempt] of file.attempts.entries()) {
    const { upstream, wire, status } = attempt;
    const title = `model call ${index + 1} of ${file.attempts.length}`;
    lines.push(
      '',
      `── ${title}  ${upstream}  ${wire}  ${status === null ? 'no answer' : `answered ${status}`}`,
    );
    try {
      lines.push(...told(await readAttempt(file, attempt)));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      lines.push(`error: ${error.message}`);
      // Where the model refused, that is what there is to read.
      same &&= status === null || status >= FAILED;
    }
  }
  return { lines, same };
}

async function readAttempt(file: TraceFile, attempt: RecordedAttempt): Promise<AssistantTurn> {
  const request = DIALECTS[attempt.wire].ingress.decodeRequest(JSON.parse(attempt.body));
  const { model } = request;
  const signal = new AbortController().signal;
  const answer = await recordedUpstream(file, attempt).call({ request, model, headers: {}, signal });
  const lifecycle = new StreamLifecycle({ id: file.request, model });
  const collector = new TurnCollector();
  for await (const batch of answer.batches) collector.push(lifecycle.push(batch));
  collector.push(lifecycle.end());
  return collector.finish();
}

function told({ content, stopReason, usage }: AssistantTurn): string[] {
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  return [...content.flatMap(blockLines), `stop: ${stopReason}; ${tokens}`];
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
