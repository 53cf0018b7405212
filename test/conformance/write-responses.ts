/** A request as a client of OpenAI Responses writes it. */
import type { JsonRecord } from '../support/violation.js';
import type { MediaSpec, PartSpec, RequestSpec, ResultPartSpec } from './case-schema.js';
import { cannot, type Said, toolsOf, turnsOf, urlOf } from './request-parts.js';

const WIRE = 'responses';

/** With what Codex always sends: nothing is stored, and reasoning comes back encrypted. */
export function writeResponses(request: RequestSpec): JsonRecord {
  const body: JsonRecord = { store: false, include: ['reasoning.encrypted_content'] };
  if (request.system !== undefined) body['instructions'] = request.system;
  body['input'] = turnsOf(request).flatMap(writeTurn);
  const tools = toolsOf(request)?.map(({ name, description, schema, strict }) => ({
    type: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { parameters: schema }),
    strict: strict ?? false,
  }));
  if (tools !== undefined) body['tools'] = tools;
  const { tool_choice: choice, parallel, max_tokens, temperature, top_p } = request;
  if (choice !== undefined) {
    body['tool_choice'] =
      typeof choice === 'string'
        ? choice.replace('any', 'required')
        : { type: 'function', name: choice.tool };
  }
  if (parallel !== undefined) body['parallel_tool_calls'] = parallel;
  if (max_tokens !== undefined) body['max_output_tokens'] = max_tokens;
  if (temperature !== undefined) body['temperature'] = temperature;
  if (top_p !== undefined) body['top_p'] = top_p;
  if (request.stop !== undefined) cannot(WIRE, 'stop sequences');
  if (request.thinking !== undefined) cannot(WIRE, 'thinking');
  if (request.effort !== undefined) body['reasoning'] = { effort: request.effort };
  if (request.format !== undefined) {
    const { schema, name = 'answer' } = request.format;
    body['text'] = { format: { type: 'json_schema', name, schema, strict: true } };
  }
  if (request.user !== undefined) body['user'] = request.user;
  if (request.tier !== undefined) body['service_tier'] = request.tier;
  return body;
}

function writeTurn(turn: Said): JsonRecord[] {
  if (turn.role === 'system') {
    return [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: turn.text }] }];
  }
  return turn.role === 'user' ? writeUser(turn.parts) : turn.parts.map(writeAssistantItem);
}

function writeUser(parts: readonly PartSpec[]): JsonRecord[] {
  const out: JsonRecord[] = [];
  let content: JsonRecord[] = [];
  const flush = (): void => {
    if (content.length > 0) out.push({ type: 'message', role: 'user', content });
    content = [];
  };
  for (const part of parts) {
    if (typeof part === 'string' || 'text' in part || 'image' in part || 'document' in part) {
      content.push(writePart(part));
    } else if ('result' in part) {
      flush();
      const { id, content: said, error } = part.result;
      if (error === true) cannot(WIRE, 'a result that is an error');
      const output = said === undefined || typeof said === 'string' ? (said ?? '') : said.map(writePart);
      out.push({ type: 'function_call_output', call_id: id, output });
    } else cannot(WIRE, 'such a part of a user message');
  }
  flush();
  return out;
}

function writeAssistantItem(part: PartSpec, index: number): JsonRecord {
  if (typeof part === 'string') return writeAssistantText(part);
  if ('text' in part) return writeAssistantText(part.text);
  if ('thinking' in part) {
    if (part.signature !== undefined) return cannot(WIRE, 'a signature');
    return { id: `rs_${index}`, type: 'reasoning', summary: [{ type: 'summary_text', text: part.thinking }] };
  }
  if (!('call' in part)) return cannot(WIRE, 'such a part of an assistant message');
  const { id, name, input } = part.call;
  return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) };
}

const writeAssistantText = (text: string): JsonRecord => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});

function writePart(part: ResultPartSpec): JsonRecord {
  if (typeof part === 'string') return { type: 'input_text', text: part };
  if ('text' in part) return { type: 'input_text', text: part.text };
  if ('image' in part) return { type: 'input_image', image_url: urlOf(part.image), detail: 'auto' };
  return { type: 'input_file', ...writeFile(part.document) };
}

const writeFile = (media: MediaSpec): JsonRecord =>
  'url' in media
    ? { file_url: media.url }
    : { filename: media.name ?? 'document.pdf', file_data: urlOf(media) };
