/**
 * The job every benchmark does: an agent's request in the middle of a session, answered with text
 * and two tool calls. Sizes are those of real traffic: 49,450 bytes in; 3 KB of JSON or 285 events out.
 */
import { toChatMessages, toChatTools } from './chat-form.mjs';

const REQUEST_BYTES = 49_450;
/** Stands in the last message of a request; the load generator writes another number there each time. */
export const NUMBER = '#00000000';
const WORDS =
  'the parser reads each line once and keeps only what the next state needs so that a long file costs no more memory than a short one'.split(
    ' ',
  );

export function prose(words, seed) {
  let text = '';
  for (let i = 0; i < words; i++) text += `${i === 0 ? '' : ' '}${WORDS[(i * 7 + seed) % WORDS.length]}`;
  return text;
}

export const TOOL_NAMES = [
  'Read', 'Write', 'Edit', 'MultiEdit', 'Bash', 'Grep', 'Glob',
  'LS', 'WebFetch', 'WebSearch', 'TodoWrite', 'Task', 'NotebookEdit', 'NotebookRead',
]; // biome-ignore format: a list

export function toolSchema(index) {
  return {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: `The absolute path. ${prose(18, index)}` },
      pattern: { type: 'string', description: prose(24, index + 3) },
      limit: { type: 'integer', minimum: 1, maximum: 2000, description: prose(12, index + 5) },
      options: {
        type: 'object',
        properties: {
          recursive: { type: 'boolean' },
          kind: { type: 'string', enum: ['file', 'folder', 'any'] },
        },
        additionalProperties: false,
      },
    },
    required: ['file_path'],
    additionalProperties: false,
  };
}

function anthropicBody(stream, padding) {
  const messages = [{ role: 'user', content: `修复 parser.ts 里的错误 — ${prose(60, 1)} 🙂` }];
  for (let turn = 0; turn < 6; turn++) {
    messages.push({
      role: 'assistant',
      content: [
        { type: 'text', text: prose(40, turn) },
        {
          type: 'tool_use',
          id: `toolu_01A${turn}`,
          name: TOOL_NAMES[turn],
          input: { file_path: `/home/dev/project/src/file-${turn}.ts`, pattern: prose(6, turn), limit: 200 },
        },
      ],
    });
    const result = { type: 'tool_result', tool_use_id: `toolu_01A${turn}`, content: prose(430, turn + 2) };
    messages.push({
      role: 'user',
      content: turn < 5 ? [result] : [result, { type: 'text', text: `继续。${NUMBER} ${padding}` }],
    });
  }
  return {
    model: 'claude-sonnet-5',
    max_tokens: 32000,
    stream,
    temperature: 1,
    metadata: { user_id: 'user_bench_session_1' },
    system: [
      { type: 'text', text: prose(40, 2) },
      { type: 'text', text: prose(900, 4), cache_control: { type: 'ephemeral' } },
    ],
    tools: TOOL_NAMES.map((name, index) => ({
      name,
      description: prose(110, index),
      input_schema: toolSchema(index),
    })),
    messages,
  };
}

/** The same conversation as OpenAI Chat Completions. */
function chatBody(stream) {
  const source = anthropicBody(stream, '');
  return {
    model: 'gpt-5.4',
    max_completion_tokens: 32000,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages: toChatMessages(source.system, source.messages),
    tools: toChatTools(source.tools),
  };
}

export function anthropicRequest(stream) {
  const bare = Buffer.byteLength(JSON.stringify(anthropicBody(stream, '')));
  if (bare > REQUEST_BYTES) throw new Error(`the request is ${bare - REQUEST_BYTES} bytes too long`);
  // Words, as people write them: one of thousands of letters would be a case of its own for a tokenizer.
  const padding = prose(REQUEST_BYTES, 6).slice(0, REQUEST_BYTES - bare);
  return Buffer.from(JSON.stringify(anthropicBody(stream, padding)));
}

export function chatRequest(stream) {
  return Buffer.from(JSON.stringify(chatBody(stream)));
}

// ── answers ────────────────────────────────────────────────────────────────────────────────────

const TEXT_DELTAS = Array.from({ length: 200 }, (_, i) => `${WORDS[i % WORDS.length]} `);
TEXT_DELTAS[100] = '解析 ';
export const ANSWER_TEXT = TEXT_DELTAS.join('');

/** Argument text of a call in `count` pieces; the pieces joined are one JSON object. */
function argumentPieces(count, seed) {
  const text = JSON.stringify({
    file_path: `/home/dev/project/src/file-${seed}.ts`,
    content: prose(120, seed),
  });
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, i) => text.slice(i * size, (i + 1) * size));
}

export const ANSWER_USAGE = { input: 2000, cached: 9000, output: 275 };
const CREATED = 1_780_000_000;

function chatChunk(delta, finish = null) {
  return {
    id: 'chatcmpl-Bench0000000001',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: 'gpt-5.4-2026-03-05',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  };
}

const CHAT_USAGE = {
  prompt_tokens: ANSWER_USAGE.input + ANSWER_USAGE.cached,
  completion_tokens: ANSWER_USAGE.output,
  total_tokens: ANSWER_USAGE.input + ANSWER_USAGE.cached + ANSWER_USAGE.output,
  prompt_tokens_details: { cached_tokens: ANSWER_USAGE.cached },
};

function calls(counts) {
  return counts.map((count, index) => ({
    index,
    id: `call_Bench000${index}`,
    name: TOOL_NAMES[index],
    pieces: argumentPieces(count, index),
  }));
}

const chatData = (chunks) => [
  ...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
  'data: [DONE]\n\n',
];
const chatStart = () => chatChunk({ role: 'assistant', content: '', refusal: null });
const chatEnd = (finish) => [chatChunk({}, finish), { ...chatChunk({}), choices: [], usage: CHAT_USAGE }];

/** 285 frames: role, 200 text, two calls, finish, usage, [DONE]. */
export function chatFrames() {
  const chunks = [chatStart(), ...TEXT_DELTAS.map((content) => chatChunk({ content }))];
  for (const { index, id, name, pieces } of calls([40, 39])) {
    chunks.push(
      chatChunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    );
    for (const piece of pieces)
      chunks.push(chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  return chatData([...chunks, ...chatEnd('tool_calls')]);
}

const anthropicData = (events) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** The frames around the blocks of an Anthropic stream. */
function anthropicStream(blocks, stop_reason) {
  const usage = {
    input_tokens: ANSWER_USAGE.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: ANSWER_USAGE.cached,
    output_tokens: 1,
  };
  const message = {
    id: 'msg_BenchBenchBenchBench0001', type: 'message', role: 'assistant', model: 'claude-sonnet-5',
    content: [], stop_reason: null, stop_sequence: null, usage,
  }; // biome-ignore format: one record
  return anthropicData([
    { type: 'message_start', message },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: ANSWER_USAGE.output },
    },
    { type: 'message_stop' },
  ]);
}

const block = (index, content_block, deltas) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const textBlock = (texts) =>
  block(
    0,
    { type: 'text', text: '' },
    texts.map((text) => ({ type: 'text_delta', text })),
  );
const callBlock = (index, { id, name, pieces }) =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  );

/** 285 frames of the Anthropic stream with the same content. */
export function anthropicFrames() {
  const called = calls([38, 38]).flatMap((call) => callBlock(call.index + 1, call));
  return anthropicStream([...textBlock(TEXT_DELTAS), ...called], 'tool_use');
}

// ── answers of text alone, and of an agent's model ─────────────────────────────────────────────

const textPieces = (count) => Array.from({ length: count }, (_, index) => `piece ${index} of the answer, `);

/** What an answer of `count` pieces says. */
export const textOf = (count) => textPieces(count).join('');

export function chatTextFrames(count) {
  const said = textPieces(count).map((content) => chatChunk({ content }));
  return chatData([chatStart(), ...said, ...chatEnd('stop')]);
}

export const anthropicTextFrames = (count) => anthropicStream(textBlock(textPieces(count)), 'end_turn');

export const AGENT_PIECES = 200;
let agentCalls = 0;

/** A call of Read for notes.txt. Each has an id of its own: one that comes twice would be the same call. */
export function agentCallFrames() {
  const call = { id: `toolu_bench${++agentCalls}`, name: 'Read', pieces: ['{"file_path":', '"notes.txt"}'] };
  return anthropicStream(callBlock(0, call), 'tool_use');
}

export const agentTextFrames = () => anthropicTextFrames(AGENT_PIECES);

// ── whole answers ──────────────────────────────────────────────────────────────────────────────

export function chatAnswer() {
  return {
    ...chatChunk({}),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: ANSWER_TEXT,
          refusal: null,
          tool_calls: calls([1, 1]).map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.pieces.join('') },
          })),
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: CHAT_USAGE,
  };
}

export function anthropicAnswer() {
  return {
    id: 'msg_BenchBenchBenchBench0001',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [
      { type: 'text', text: ANSWER_TEXT },
      ...calls([1, 1]).map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: JSON.parse(call.pieces.join('')),
      })),
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: ANSWER_USAGE.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: ANSWER_USAGE.cached,
      output_tokens: ANSWER_USAGE.output,
    },
  };
}
