/** Checking a 49 KB body: readers written by hand against zod 4, both over the parsed JSON, unknown keys passing. */
import { z } from 'zod';
import { spread, table } from '../lib/stats.mjs';
import { anthropicRequest } from '../lib/workload.mjs';

// ── by hand: checks and builds the internal request in the same pass ───────────────────────────

function fail(path, expected) {
  throw new Error(`${path}: expected ${expected}`);
}
const string = (value, path) => (typeof value === 'string' ? value : fail(path, 'a string'));
const array = (value, path) => (Array.isArray(value) ? value : fail(path, 'an array'));
const integer = (value, path) => (Number.isInteger(value) ? value : fail(path, 'a whole number'));
const object = (value, path) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : fail(path, 'an object');

const BLOCKS = {
  text: (block, path) => ({ type: 'text', text: string(block.text, `${path}.text`) }),
  tool_use: (block, path) => ({
    type: 'tool_use',
    id: string(block.id, `${path}.id`),
    name: string(block.name, `${path}.name`),
    input: object(block.input, `${path}.input`),
  }),
  tool_result: (block, path) => ({
    type: 'tool_result',
    toolUseId: string(block.tool_use_id, `${path}.tool_use_id`),
    content: content(block.content, `${path}.content`),
    isError: block.is_error === true,
  }),
};

function content(value, path) {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  const blocks = [];
  for (const [index, each] of array(value, path).entries()) {
    const at = `${path}.${index}`;
    const block = object(each, at);
    blocks.push((BLOCKS[block.type] ?? fail(`${at}.type`, 'a block type'))(block, at));
  }
  return blocks;
}

function decode(body) {
  const request = object(body, 'the body');
  return {
    model: string(request.model, 'model'),
    maxTokens: integer(request.max_tokens, 'max_tokens'),
    stream: request.stream === true,
    system: content(request.system, 'system'),
    messages: array(request.messages, 'messages').map((each, index) => {
      const message = object(each, `messages.${index}`);
      if (message.role !== 'user' && message.role !== 'assistant') fail(`messages.${index}.role`, 'a role');
      return { role: message.role, content: content(message.content, `messages.${index}.content`) };
    }),
    tools: array(request.tools, 'tools').map((each, index) => {
      const tool = object(each, `tools.${index}`);
      return {
        name: string(tool.name, `tools.${index}.name`),
        description: string(tool.description, `tools.${index}.description`),
        schema: object(tool.input_schema, `tools.${index}.input_schema`),
      };
    }),
  };
}

// ── zod ────────────────────────────────────────────────────────────────────────────────────────

const free = z.record(z.string(), z.unknown());
const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const use = z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: free });
const result = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(text)]).optional(),
  is_error: z.boolean().optional(),
});
const schema = z.looseObject({
  model: z.string(),
  max_tokens: z.int(),
  stream: z.boolean().optional(),
  system: z.union([z.string(), z.array(text)]).optional(),
  messages: z.array(
    z.looseObject({
      role: z.enum(['user', 'assistant']),
      content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, use, result]))]),
    }),
  ),
  tools: z
    .array(z.looseObject({ name: z.string(), description: z.string().optional(), input_schema: free }))
    .optional(),
});

export function measureValidation(rounds) {
  const bytes = anthropicRequest(true);
  const body = JSON.parse(bytes.toString());
  const jobs = {
    'JSON.parse of the text (for scale)': (
      (source) => () =>
        JSON.parse(source)
    )(bytes.toString()),
    'by hand: check and decode': () => decode(body),
    'zod 4: check only': () => schema.parse(body),
    'zod 4: check, then decode by hand': () => decode(schema.parse(body)),
  };
  const found = new Map(Object.keys(jobs).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) {
      const begun = process.cpuUsage();
      for (let i = 0; i < 3000; i++) job();
      const used = process.cpuUsage(begun);
      if (round >= 0) found.get(name).push((used.user + used.system) / 3000);
    }
  }
  return table([
    ['49,450-byte Anthropic body', 'CPU µs'],
    ...[...found].map(([name, us]) => [name, spread(us, 1)]),
  ]);
}
