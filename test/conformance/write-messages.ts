/** A request as a client of the Anthropic Messages API writes it. */
import type { JsonRecord } from '../support/violation.js';
import type { MediaSpec, PartSpec, RequestSpec } from './case-schema.js';
import { type Said, toolsOf, turnsOf } from './request-parts.js';

const MAX_TOKENS = 4096;

export function writeMessages(request: RequestSpec): JsonRecord {
  const body: JsonRecord = { max_tokens: request.max_tokens ?? MAX_TOKENS };
  if (request.system !== undefined) body['system'] = request.system;
  body['messages'] = turnsOf(request).map(writeTurn);
  const tools = toolsOf(request)?.map(({ name, description, schema, strict }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { input_schema: schema }),
    ...(strict === undefined ? {} : { strict }),
  }));
  if (tools !== undefined) body['tools'] = tools;
  const choice = writeChoice(request);
  if (choice !== undefined) body['tool_choice'] = choice;
  const { temperature, top_p, stop, thinking, effort, format, user, tier } = request;
  if (temperature !== undefined) body['temperature'] = temperature;
  if (top_p !== undefined) body['top_p'] = top_p;
  if (stop !== undefined) body['stop_sequences'] = stop;
  if (thinking !== undefined) {
    body['thinking'] =
      typeof thinking === 'string' ? { type: thinking } : { type: 'enabled', budget_tokens: thinking.budget };
  }
  if (effort !== undefined || format !== undefined) {
    body['output_config'] = {
      ...(effort === undefined ? {} : { effort }),
      ...(format === undefined ? {} : { format: { type: 'json_schema', schema: format.schema } }),
    };
  }
  if (user !== undefined) body['metadata'] = { user_id: user };
  if (tier !== undefined) body['service_tier'] = tier;
  return body;
}

function writeChoice({ tool_choice: choice, parallel }: RequestSpec): JsonRecord | undefined {
  if (choice === undefined && parallel === undefined) return undefined;
  return {
    ...(choice !== undefined && typeof choice !== 'string'
      ? { type: 'tool', name: choice.tool }
      : { type: choice ?? 'auto' }),
    ...(parallel === undefined ? {} : { disable_parallel_tool_use: !parallel }),
  };
}

function writeTurn(turn: Said): JsonRecord {
  if (turn.role === 'system') return { role: 'system', content: turn.text };
  const [first, ...rest] = turn.parts;
  if (typeof first === 'string' && rest.length === 0) return { role: turn.role, content: first };
  return { role: turn.role, content: turn.parts.map(writePart) };
}

function writePart(part: PartSpec): JsonRecord {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('text' in part) return { type: 'text', text: part.text };
  if ('image' in part) return { type: 'image', source: writeSource(part.image) };
  if ('document' in part)
    return { type: 'document', source: writeSource(part.document), ...titleOf(part.document) };
  if ('thinking' in part) {
    return { type: 'thinking', thinking: part.thinking, signature: part.signature ?? '' };
  }
  if ('call' in part) return { type: 'tool_use', ...part.call };
  const { id, content, error } = part.result;
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content === undefined
      ? {}
      : { content: typeof content === 'string' ? content : content.map(writePart) }),
    ...(error === undefined ? {} : { is_error: error }),
  };
}

const writeSource = (media: MediaSpec): JsonRecord =>
  'url' in media
    ? { type: 'url', url: media.url }
    : { type: 'base64', media_type: media.type, data: media.data };

const titleOf = (media: MediaSpec): JsonRecord =>
  'url' in media || media.name === undefined ? {} : { title: media.name };
