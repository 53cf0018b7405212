/** What a model request says, whatever its wire: turns with their texts, calls and results. */
import type { DialectName } from '../../src/core/conversation.js';
import { dialectOf } from '../support/scripted-answers.js';
import type { RecordedRequest } from '../support/upstream-server.js';
import { isRecord, type JsonRecord } from '../support/violation.js';

export interface SeenCall {
  id: string;
  name: string;
  /** As it stood on the wire, parsed. */
  input: unknown;
}

export interface SeenResult {
  id: string;
  text: string;
  images: number;
  /** Where the wire has a field for it. */
  isError: boolean;
}

export type SeenTurn =
  | { role: 'user' | 'system'; texts: string[]; images: string[] }
  | { role: 'assistant'; texts: string[]; thinking: string[]; sealed: string[]; calls: SeenCall[] }
  | { role: 'tool'; results: SeenResult[] };

export type AssistantTurn = Extract<SeenTurn, { role: 'assistant' }>;

export interface SeenRequest {
  dialect: DialectName;
  recorded: RecordedRequest;
  body: JsonRecord;
  model: string;
  /** The system prompt that stands before the conversation. */
  instructions: string;
  turns: SeenTurn[];
  tools: string[];
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const records = (value: unknown): JsonRecord[] => list(value).filter(isRecord);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Content as a list of parts; a string is one text part. */
const partsOf = (content: unknown): JsonRecord[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : records(content);

const TEXT_PARTS = new Set(['text', 'input_text', 'output_text']);
const IMAGE_PARTS = new Set(['image', 'image_url', 'input_image']);

const textsOf = (parts: readonly JsonRecord[]): string[] =>
  parts.filter(({ type }) => TEXT_PARTS.has(text(type))).map((part) => text(part['text']));

/** The address of each image, as a data URL where it is inline. */
function imagesOf(parts: readonly JsonRecord[]): string[] {
  return parts
    .filter(({ type }) => IMAGE_PARTS.has(text(type)))
    .map(({ image_url: url, source }) => {
      if (isRecord(source)) return `data:${source['media_type']};base64,${text(source['data'])}`;
      return isRecord(url) ? text(url['url']) : text(url);
    });
}

/** Turns in order; what one side says in several items is one turn. */
class Turns {
  readonly list: SeenTurn[] = [];

  said(role: 'user' | 'system', parts: readonly JsonRecord[]): void {
    this.list.push({ role, texts: textsOf(parts), images: imagesOf(parts) });
  }

  /** `fresh`: a message of its own, also directly after another one. */
  assistant(fresh: boolean): AssistantTurn {
    const last = this.list.at(-1);
    if (!fresh && last?.role === 'assistant') return last;
    const turn: AssistantTurn = { role: 'assistant', texts: [], thinking: [], sealed: [], calls: [] };
    this.list.push(turn);
    return turn;
  }

  result(id: string, content: unknown, isError = false): void {
    const parts = partsOf(content);
    const result = { id, text: textsOf(parts).join('\n'), images: imagesOf(parts).length, isError };
    const last = this.list.at(-1);
    if (last?.role === 'tool') last.results.push(result);
    else this.list.push({ role: 'tool', results: [result] });
  }
}

function anthropicTurns(body: JsonRecord): SeenTurn[] {
  const turns = new Turns();
  for (const message of records(body['messages'])) {
    const parts = partsOf(message['content']);
    if (message['role'] === 'assistant') {
      const turn = turns.assistant(true);
      turn.texts.push(...textsOf(parts));
      for (const part of parts) {
        if (part['type'] === 'thinking') {
          turn.thinking.push(text(part['thinking']));
          turn.sealed.push(text(part['signature']));
        }
        if (part['type'] === 'tool_use')
          turn.calls.push({ id: text(part['id']), name: text(part['name']), input: part['input'] });
      }
      continue;
    }
    const results = parts.filter(({ type }) => type === 'tool_result');
    for (const part of results)
      turns.result(text(part['tool_use_id']), part['content'], part['is_error'] === true);
    const rest = parts.filter((part) => !results.includes(part));
    if (rest.length > 0) turns.said(message['role'] === 'system' ? 'system' : 'user', rest);
  }
  return turns.list;
}

function chatTurns(messages: readonly JsonRecord[]): SeenTurn[] {
  const turns = new Turns();
  for (const message of messages) {
    const parts = partsOf(message['content']);
    if (message['role'] === 'tool') turns.result(text(message['tool_call_id']), message['content']);
    else if (message['role'] === 'assistant') {
      const turn = turns.assistant(true);
      turn.texts.push(...textsOf(parts));
      if (typeof message['reasoning_content'] === 'string') turn.thinking.push(message['reasoning_content']);
      for (const { id, function: called } of records(message['tool_calls'])) {
        if (isRecord(called))
          turn.calls.push({ id: text(id), name: text(called['name']), input: parsed(called['arguments']) });
      }
    } else turns.said(message['role'] === 'user' ? 'user' : 'system', parts);
  }
  return turns.list;
}

function responsesTurns(body: JsonRecord): SeenTurn[] {
  const turns = new Turns();
  for (const item of records(body['input'])) {
    switch (item['type'] ?? 'message') {
      case 'message': {
        const parts = partsOf(item['content']);
        if (item['role'] === 'assistant') turns.assistant(false).texts.push(...textsOf(parts));
        else turns.said(item['role'] === 'user' ? 'user' : 'system', parts);
        break;
      }
      case 'reasoning': {
        const turn = turns.assistant(false);
        turn.thinking.push(
          records(item['summary'])
            .map((part) => text(part['text']))
            .join('\n'),
        );
        turn.sealed.push(text(item['encrypted_content']));
        break;
      }
      case 'function_call':
      case 'custom_tool_call': {
        const input = item['type'] === 'function_call' ? parsed(item['arguments']) : item['input'];
        turns.assistant(false).calls.push({ id: text(item['call_id']), name: text(item['name']), input });
        break;
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        turns.result(text(item['call_id']), item['output']);
    }
  }
  return turns.list;
}

function toolNames(body: JsonRecord): string[] {
  return records(body['tools']).map((tool) => {
    const { function: declared } = tool;
    return text(isRecord(declared) ? declared['name'] : (tool['name'] ?? tool['type']));
  });
}

const leading = (messages: readonly JsonRecord[]): number => {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  return first < 0 ? messages.length : first;
};

export function readRequest(recorded: RecordedRequest): SeenRequest {
  const body = recorded.json;
  const dialect = dialectOf(recorded);
  const common = { dialect, recorded, body, model: text(body['model']), tools: toolNames(body) };
  if (dialect === 'anthropic-messages') {
    const instructions = textsOf(partsOf(body['system'])).join('\n');
    return { ...common, instructions, turns: anthropicTurns(body) };
  }
  if (dialect === 'openai-chat') {
    const messages = records(body['messages']);
    const split = leading(messages);
    const instructions = messages
      .slice(0, split)
      .flatMap(({ content }) => textsOf(partsOf(content)))
      .join('\n');
    return { ...common, instructions, turns: chatTurns(messages.slice(split)) };
  }
  return { ...common, instructions: text(body['instructions']), turns: responsesTurns(body) };
}

export const resultsOf = (seen: SeenRequest): SeenResult[] =>
  seen.turns.flatMap((turn) => (turn.role === 'tool' ? turn.results : []));

/** By id: results of calls that ran together come in any order. */
export const sortedResults = (seen: SeenRequest): SeenResult[] =>
  resultsOf(seen).toSorted((a, b) => (a.id < b.id ? -1 : 1));

export const assistantTurns = (seen: SeenRequest): AssistantTurn[] =>
  seen.turns.filter((turn) => turn.role === 'assistant');

export const userTexts = (seen: SeenRequest): string[] =>
  seen.turns.flatMap((turn) => (turn.role === 'user' ? turn.texts : []));
