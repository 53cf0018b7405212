/** What flows about single requests have in common. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect } from 'vitest';
import type { SeenRequest } from '../clients/read-request.js';
import type { AgentRequest, ScriptedTurn } from '../support/scripted-agent-model.js';
import { outline, plainName } from '../support/told.js';
import { isRecord } from '../support/violation.js';
import type { Flow } from './bench.js';
import type { Choice, ClientAnswer, ClientResult } from './clients/thread.js';
import type { ClientKind } from './matrix.js';

export interface ProtocolFlow {
  name: string;
  /** Clients that can do it; all without. */
  clients?(client: ClientKind): boolean;
  run(flow: Flow): Promise<void>;
}

export const sendsAll = ({ byId }: ClientKind): boolean => !byId;

/** What the model was told in the n-th request of a turn, line by line, behind its prompt. */
export function lines({ requests }: ScriptedTurn, index = requests.length - 1): string[] {
  const request = requests[index];
  if (request === undefined) throw new Error(`The model was asked ${requests.length} times`);
  return outline(request.told);
}

export function firstOf({ requests: [first] }: ScriptedTurn): AgentRequest {
  if (first === undefined) throw new Error('The model was not asked');
  return first;
}

export const squeezed = (text: string): string => text.replace(/\s+/g, '');

/** The client was told this and nothing else, and need do nothing. */
export function expectText(answer: ClientAnswer, text: string): void {
  expect(squeezed(answer.text)).toBe(squeezed(text));
  expect(answer.calls).toEqual([]);
  expect(answer.stop).toBe('end');
}

/** Its calls by name, in order; each has an id of its own. */
export function expectCalls({ calls, stop }: ClientAnswer, ...names: readonly string[]): void {
  expect(calls.map(({ name }) => name)).toEqual(names);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(names.length);
  expect(stop).toBe('calls');
}

/** A result for each of the calls, in their order. */
export function resultsFor({ calls }: ClientAnswer, ...texts: readonly string[]): ClientResult[] {
  return calls.map(({ id }, index) => ({ id, text: texts[index] ?? 'nothing' }));
}

export interface Failure {
  status: number;
  message: string;
}

/** The failure of a request, which must have the shape of the route's own dialect. */
export async function failureOf(flow: Flow, sent: Promise<ClientAnswer>): Promise<Failure> {
  const error: unknown = await sent.then(
    (answer) => new Error(`It was answered: ${JSON.stringify(answer)}`),
    (failed: unknown) => failed,
  );
  if (flow.client.route === 'anthropic-messages') {
    if (!(error instanceof Anthropic.APIError)) throw error;
    expect(error.error).toMatchObject({
      type: 'error',
      error: { type: expect.any(String), message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    });
    const { error: inner } = isRecord(error.error) ? error.error : {};
    return { status: Number(error.status), message: String(isRecord(inner) ? inner['message'] : '') };
  }
  if (!(error instanceof OpenAI.APIError)) throw error;
  expect(error.error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
  expect(Object.keys(isRecord(error.error) ? error.error : {})).toEqual(
    expect.arrayContaining(['message', 'type', 'param', 'code']),
  );
  return { status: Number(error.status), message: error.message };
}

const WORDS: Readonly<Record<string, Choice>> = { auto: 'auto', any: 'any', required: 'any', none: 'none' };

/** The choice that a model request carries, whatever its wire. */
export function choiceIn({ body }: SeenRequest): Choice | undefined {
  const choice = body['tool_choice'];
  if (typeof choice === 'string') return WORDS[choice];
  if (!isRecord(choice)) return undefined;
  const { type, name, function: named } = choice;
  if (type === 'tool' || type === 'function')
    return { tool: plainName(String(isRecord(named) ? named['name'] : name)) };
  return WORDS[String(type)];
}
