/** A request as a client of OpenAI Chat Completions writes it. */
import type { JsonRecord } from '../support/violation.js';
import type { MediaSpec, PartSpec, RequestSpec, ResultPartSpec } from './case-schema.js';
import { cannot, type Said, toolsOf, turnsOf, urlOf } from './request-parts.js';

const WIRE = 'chat';

export function writeChat(request: RequestSpec): JsonRecord {
  const messages: JsonRecord[] = turnsOf(request).flatMap(writeTurn);
  if (request.system !== undefined) messages.unshift({ role: 'system', content: request.system });
  const body: JsonRecord = { messages };
  const tools = toolsOf(request)?.map(({ name, description, schema, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { parameters: schema }),
      ...(strict === undefined ? {} : { strict }),
    },
  }));
  if (tools !== undefined) body['tools'] = tools;
  const { tool_choice: choice, parallel, max_tokens, temperature, top_p, stop } = request;
  if (choice !== undefined) {
    body['tool_choice'] =
      typeof choice === 'string'
        ? choice.replace('any', 'required')
        : { type: 'function', function: { name: choice.tool } };
  }
  if (parallel !== undefined) body['parallel_tool_calls'] = parallel;
  if (max_tokens !== undefined) body['max_completion_tokens'] = max_tokens;
  if (temperature !== undefined) body['temperature'] = temperature;
  if (top_p !== undefined) body['top_p'] = top_p;
  if (stop !== undefined) body['stop'] = stop;
  if (request.thinking !== undefined) cannot(WIRE, 'thinking');
  if (request.effort !== undefined) body['reasoning_effort'] = request.effort;
  if (request.format !== undefined) {
    const { schema, name = 'answer' } = request.format;
    body['response_format'] = { type: 'json_schema', json_schema: { name, schema, strict: true } };
  }
  if (request.user !== undefined) body['user'] = request.user;
  if (request.tier !== undefined) body['service_tier'] = request.tier;
  return body;
}

function writeTurn(turn: Said): JsonRecord[] {
  if (turn.role === 'system') return [{ role: 'system', content: turn.text }];
  return turn.role === 'user' ? writeUser(turn.parts) : [writeAssistant(turn.parts)];
}

function writeUser(parts: readonly PartSpec[]): JsonRecord[] {
  const out: JsonRecord[] = [];
  let content: JsonRecord[] = [];
  const flush = (): void => {
    const [only] = content;
    if (only !== undefined) {
      const plain = content.length === 1 && only['type'] === 'text';
      out.push({ role: 'user', content: plain ? only['text'] : content });
    }
    content = [];
  };
  for (const part of parts) {
    if (typeof part === 'string' || 'text' in part || 'image' in part || 'document' in part) {
      content.push(writePart(part));
    } else if ('result' in part) {
      flush();
      const { id, content: said, error } = part.result;
      if (error === true) cannot(WIRE, 'a result that is an error');
      out.push({
        role: 'tool',
        tool_call_id: id,
        content: said === undefined || typeof said === 'string' ? (said ?? '') : said.map(writePart),
      });
    } else cannot(WIRE, 'such a part of a user message');
  }
  flush();
  return out;
}

function writeAssistant(parts: readonly PartSpec[]): JsonRecord {
  const texts: string[] = [];
  const thinking: string[] = [];
  const calls: JsonRecord[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else if ('text' in part) texts.push(part.text);
    else if ('thinking' in part) {
      if (part.signature !== undefined) cannot(WIRE, 'a signature');
      thinking.push(part.thinking);
    } else if ('call' in part) {
      const { id, name, input } = part.call;
      calls.push({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } });
    } else cannot(WIRE, 'such a part of an assistant message');
  }
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(thinking.length === 0 ? {} : { reasoning_content: thinking.join('') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function writePart(part: ResultPartSpec): JsonRecord {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('text' in part) return { type: 'text', text: part.text };
  if ('image' in part) return { type: 'image_url', image_url: { url: urlOf(part.image) } };
  return { type: 'file', file: writeFile(part.document) };
}

function writeFile(media: MediaSpec): JsonRecord {
  if ('url' in media) return cannot(WIRE, 'a document by its address');
  return { filename: media.name ?? 'document.pdf', file_data: urlOf(media) };
}
