/**
 * The job every benchmark does: an agent's request in the middle of a session, answered with text
 * and two tool calls. Sizes are those of real traffic: 49,450 bytes in; 3 KB of JSON or 285 events out.
 */
const REQUEST_BYTES = 49_450;
const WORDS =
  'the parser reads each line once and keeps only what the next state needs so that a long file costs no more memory than a short one'.split(
    ' ',
  );

function prose(words, seed) {
  let text = '';
  for (let i = 0; i < words; i++) text += `${i === 0 ? '' : ' '}${WORDS[(i * 7 + seed) % WORDS.length]}`;
  return text;
}

const TOOL_NAMES = [
  'Read', 'Write', 'Edit', 'MultiEdit', 'Bash', 'Grep', 'Glob',
  'LS', 'WebFetch', 'WebSearch', 'TodoWrite', 'Task', 'NotebookEdit', 'NotebookRead',
]; // biome-ignore format: a list

function toolSchema(index) {
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
      content: turn < 5 ? [result] : [result, { type: 'text', text: `继续。${padding}` }],
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
  const messages = [{ role: 'system', content: source.system.map((block) => block.text).join('\n\n') }];
  for (const message of source.messages) {
    if (typeof message.content === 'string') {
      messages.push({ role: message.role, content: message.content });
    } else if (message.role === 'assistant') {
      const [text, call] = message.content;
      messages.push({
        role: 'assistant',
        content: text.text,
        tool_calls: [
          {
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          },
        ],
      });
    } else {
      for (const block of message.content) {
        messages.push(
          block.type === 'tool_result'
            ? { role: 'tool', tool_call_id: block.tool_use_id, content: block.content }
            : { role: 'user', content: block.text },
        );
      }
    }
  }
  return {
    model: 'gpt-5.4',
    max_completion_tokens: 32000,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages,
    tools: source.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: tool.input_schema },
    })),
  };
}

export function anthropicRequest(stream) {
  const bare = Buffer.byteLength(JSON.stringify(anthropicBody(stream, '')));
  if (bare > REQUEST_BYTES) throw new Error(`the request is ${bare - REQUEST_BYTES} bytes too long`);
  return Buffer.from(JSON.stringify(anthropicBody(stream, 'x'.repeat(REQUEST_BYTES - bare))));
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

/** 285 frames: role, 200 text, two calls, finish, usage, [DONE]. */
export function chatFrames() {
  const frames = [chatChunk({ role: 'assistant', content: '', refusal: null })];
  for (const content of TEXT_DELTAS) frames.push(chatChunk({ content }));
  for (const call of calls([40, 39])) {
    const { index } = call;
    frames.push(
      chatChunk({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
    );
    for (const piece of call.pieces)
      frames.push(chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  frames.push(chatChunk({}, 'tool_calls'));
  frames.push({ ...chatChunk({}), choices: [], usage: CHAT_USAGE });
  return [...frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), 'data: [DONE]\n\n'];
}

/** 285 frames of the Anthropic stream with the same content. */
export function anthropicFrames() {
  const frames = [];
  const push = (event) => frames.push(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const usage = {
    input_tokens: ANSWER_USAGE.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: ANSWER_USAGE.cached,
    output_tokens: 1,
  };
  push({
    type: 'message_start',
    message: {
      id: 'msg_BenchBenchBenchBench0001', type: 'message', role: 'assistant', model: 'claude-sonnet-5',
      content: [], stop_reason: null, stop_sequence: null, usage,
    }, // biome-ignore format: one record
  });
  push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  for (const text of TEXT_DELTAS)
    push({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  push({ type: 'content_block_stop', index: 0 });
  for (const call of calls([38, 38])) {
    const index = call.index + 1;
    push({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
    });
    for (const piece of call.pieces) {
      push({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece } });
    }
    push({ type: 'content_block_stop', index });
  }
  push({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: ANSWER_USAGE.output },
  });
  push({ type: 'message_stop' });
  return frames;
}

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
