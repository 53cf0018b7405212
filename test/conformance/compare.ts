/** Expectations of a case against what came: each function returns what is wrong. */
import { readRequest } from '../clients/read-request.js';
import { checkRequest } from '../clients/strict-request.js';
import type { RecordedRequest } from '../support/upstream-server.js';
import type { AnswerSpec, FailureSpec, UpstreamRequestSpec } from './case-schema.js';
import { type Pair, select } from './dialects.js';
import { at, type Bindings, isMatcher, mismatches, shown } from './match.js';
import { STOP_WORDS } from './read-answer.js';
import type { Received, ReceivedBlock } from './received.js';

export function upstreamRequestProblems(
  request: RecordedRequest,
  expected: UpstreamRequestSpec,
  bindings: Bindings,
): string[] {
  const body: unknown = JSON.parse(request.text);
  const { has, lacks = [], text_has = [], text_lacks = [], headers = {} } = expected;
  return [
    ...(has === undefined ? [] : mismatches(body, has, 'upstream request', bindings)),
    ...lacks
      .filter((path) => at(body, path).length > 0)
      .map((path) => `upstream request.${path} is there: ${shown(at(body, path)[0])}`),
    ...text_has
      .filter((text) => !request.text.includes(text))
      .map((text) => `the upstream request lacks ${text}: ${shown(body)}`),
    ...text_lacks
      .filter((text) => request.text.includes(text))
      .map((text) => `the upstream request has ${text}: ${shown(body)}`),
    ...mismatches(request.headers, headers, 'upstream headers', bindings),
  ];
}

/** Where the strictest upstream of the wire would answer 400. */
export function refusedRequest(request: RecordedRequest): string[] {
  try {
    checkRequest(readRequest(request));
    return [];
  } catch (error) {
    return [`a strict upstream refuses the request: ${error instanceof Error ? error.message : error}`];
  }
}

export function answerProblems(
  received: Received,
  expected: AnswerSpec,
  { client }: Pair,
  bindings: Bindings,
): string[] {
  const { blocks, stop, stop_sequence: sequence, usage, start_input: startInput } = expected;
  const problems: string[] = [];
  if (blocks !== undefined) {
    const wanted = blocks.map(toWanted);
    const ordered = client === 'chat' ? asChat(wanted) : wanted;
    problems.push(...mismatches(received.blocks, ordered, 'answer', bindings));
  }
  if (stop !== undefined) {
    problems.push(...mismatches(received.stop, STOP_WORDS[client][stop] ?? stop, 'stop', bindings));
  }
  if (client === 'messages' && sequence !== undefined) {
    problems.push(...mismatches(received.stopSequence, sequence, 'stop_sequence', bindings));
  }
  if (usage !== undefined) problems.push(...mismatches(received.usage, usage, 'usage', bindings));
  if (startInput !== undefined && received.startInput !== undefined) {
    problems.push(...mismatches(received.startInput, startInput, 'input tokens at the start', bindings));
  }
  return problems;
}

type Wanted = { type: ReceivedBlock['type'] } & Record<string, unknown>;

function toWanted(block: NonNullable<AnswerSpec['blocks']>[number]): Wanted {
  if (typeof block === 'string') return { type: 'text', text: block };
  if ('text' in block) return { type: 'text', text: block.text };
  if ('thinking' in block) {
    return {
      type: 'thinking',
      text: block.thinking,
      ...(block.signature === undefined ? {} : { signature: block.signature }),
    };
  }
  if ('redacted' in block) return { type: 'redacted', data: block.redacted };
  return {
    type: 'call',
    name: block.call,
    ...(block.input === undefined
      ? {}
      : { input: isMatcher(block.input) ? block.input : { $exact: block.input } }),
    ...(block.id === undefined ? {} : { id: block.id }),
  };
}

/** A chat answer is one text and one reasoning, and says nothing of an order among them and its calls. */
function asChat(blocks: readonly Wanted[]): Wanted[] {
  const out: Wanted[] = [];
  for (const type of ['thinking', 'text'] as const) {
    const texts = blocks.filter((block) => block.type === type).map(({ text }) => text);
    const [only] = texts;
    const text = texts.length === 1 ? only : texts.join('');
    if (text !== '' && texts.length > 0) out.push({ type, text });
  }
  return [...out, ...blocks.filter(({ type }) => type === 'call')];
}

export interface Failure {
  type: string;
  message: string;
  code?: unknown;
}

export function failureProblems(
  failure: Failure,
  expected: FailureSpec,
  pair: Pair,
  bindings: Bindings,
): string[] {
  const { message, type: types, code: codes } = expected;
  const own = { client: pair.client, upstream: pair.client };
  const type = select(types, own);
  const code = select(codes, own);
  return [
    ...(message === undefined ? [] : mismatches(failure.message, message, 'error.message', bindings)),
    ...(type === undefined ? [] : mismatches(failure.type, type, 'error.type', bindings)),
    ...(code === undefined ? [] : mismatches(failure.code, code, 'error.code', bindings)),
  ];
}

/** `header` is what the gateway says was lost; empty where it says nothing. */
export function lossProblems(header: string, expected: readonly string[]): string[] {
  if (expected.length === 0) return header === '' ? [] : [`something was lost: ${header}`];
  return expected
    .filter((words) => !header.includes(words))
    .map((words) => `the losses do not say ${JSON.stringify(words)}: ${JSON.stringify(header)}`);
}
