/** Is an answer right? Every one is checked: text, both calls, stop reason, usage, and the order of a stream. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { ANSWER_USAGE, anthropicAnswer, textOf } from './workload.mjs';

const wanted = anthropicAnswer();
const [text, ...calls] = wanted.content;
const TOKENS_IN = ANSWER_USAGE.input + ANSWER_USAGE.cached;

function checkMessage(message) {
  const texts = message.content.filter((block) => block.type === 'text').map((block) => block.text);
  strictEqual(texts.join(''), text.text, 'text');
  const found = message.content.filter((block) => block.type === 'tool_use');
  deepStrictEqual(
    found.map(({ id, name, input }) => ({ id, name, input })),
    calls.map(({ id, name, input }) => ({ id, name, input })),
    'tool calls',
  );
  strictEqual(message.stop_reason, 'tool_use');
  strictEqual(message.usage.output_tokens, ANSWER_USAGE.output, 'output tokens');
  strictEqual(message.usage.input_tokens + message.usage.cache_read_input_tokens, TOKENS_IN, 'input tokens');
}

function checkCompletion({ choices: [{ message, finish_reason: finish }], usage }) {
  strictEqual(message.content, text.text, 'text');
  deepStrictEqual(
    message.tool_calls.map((call) => ({
      id: call.id,
      name: call.function.name,
      input: JSON.parse(call.function.arguments),
    })),
    calls.map(({ id, name, input }) => ({ id, name, input })),
    'tool calls',
  );
  strictEqual(finish, 'tool_calls');
  strictEqual(usage.prompt_tokens, TOKENS_IN, 'prompt tokens');
  strictEqual(usage.completion_tokens, ANSWER_USAGE.output, 'completion tokens');
}

/** The data of a stream's events. Comments (`: ping`), which a server may send at any time, have none. */
export function eventsOf(body) {
  return body
    .toString()
    .split(/\r?\n\r?\n/)
    .map((frame) =>
      frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .filter((data) => data !== '');
}

function checkMessageStream(body) {
  const events = eventsOf(body)
    .map((data) => JSON.parse(data))
    .filter((event) => event.type !== 'ping');
  strictEqual(events[0].type, 'message_start');
  strictEqual(events.at(-1).type, 'message_stop');
  const { message } = events[0];
  const blocks = [];
  let open = -1;
  let json = '';
  for (const event of events.slice(1, -1)) {
    if (event.type === 'content_block_start') {
      strictEqual(open, -1, 'a block starts while another is open');
      strictEqual(event.index, blocks.length, 'index');
      open = event.index;
      json = '';
      blocks.push({ ...event.content_block });
    } else if (event.type === 'content_block_delta') {
      strictEqual(event.index, open, 'a delta for a block that is not open');
      if (event.delta.type === 'text_delta') blocks[open].text += event.delta.text;
      else json += event.delta.partial_json;
    } else if (event.type === 'content_block_stop') {
      strictEqual(event.index, open);
      if (blocks[open].type === 'tool_use') blocks[open].input = JSON.parse(json);
      open = -1;
    } else if (event.type === 'message_delta') {
      Object.assign(message, event.delta);
      Object.assign(message.usage, event.usage);
    }
  }
  checkMessage({ ...message, content: blocks });
}

function checkCompletionStream(body) {
  const events = eventsOf(body);
  strictEqual(events.at(-1), '[DONE]');
  const message = { content: '', tool_calls: [] };
  let finish;
  let usage;
  for (const event of events.slice(0, -1)) {
    const chunk = JSON.parse(event);
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason } of chunk.choices) {
      message.content += delta.content ?? '';
      finish = finish_reason ?? finish;
      for (const piece of delta.tool_calls ?? []) {
        message.tool_calls[piece.index] ??= {
          id: piece.id,
          function: { name: piece.function.name, arguments: '' },
        };
        message.tool_calls[piece.index].function.arguments += piece.function.arguments ?? '';
      }
    }
  }
  checkCompletion({ choices: [{ message, finish_reason: finish }], usage });
}

const CHECKS = {
  anthropic: { json: (body) => checkMessage(JSON.parse(body.toString())), stream: checkMessageStream },
  chat: { json: (body) => checkCompletion(JSON.parse(body.toString())), stream: checkCompletionStream },
};

/** A check for `runLoad`. An answer equal to one already found right needs no second look. */
export function createCheck(dialect, mode) {
  const check = CHECKS[dialect][mode === 'json' ? 'json' : 'stream'];
  let right;
  return (body) => {
    if (right?.equals(body)) return;
    try {
      check(body);
    } catch (error) {
      throw new Error(`wrong answer (${dialect}, ${mode}): ${error.message}\n${body.subarray(0, 600)}`);
    }
    right = body;
  };
}

/** A check of a stream to an Anthropic client that says `pieces` pieces of text, and nothing else. */
export function createTextCheck(pieces) {
  const wantedText = textOf(pieces);
  return (body) => {
    const events = eventsOf(body).map((data) => JSON.parse(data));
    const said = events.map((event) => event.delta?.text ?? '').join('');
    if (said !== wantedText || events.at(-1)?.type !== 'message_stop')
      throw new Error(`wrong answer (${pieces} pieces of text):\n${body.subarray(0, 600)}`);
  };
}
