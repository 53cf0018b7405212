/**
 * A bare translator on node:http: both directions, no auth, no configuration, no logs, no retries, no
 * error handling. What the job costs before anything is added to it. Argument: the upstream's port.
 */
import { Agent, createServer, request as httpRequest } from 'node:http';

const upstreamPort = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, noDelay: true });

function readAll(stream) {
  return new Promise((resolve, reject) => {
    const parts = [];
    stream.on('data', (part) => parts.push(part));
    stream.on('end', () => resolve(Buffer.concat(parts)));
    stream.on('error', reject);
  });
}

function post(path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      port: upstreamPort,
      host: '127.0.0.1',
      path,
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    });
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

// ── Anthropic client, OpenAI upstream ──────────────────────────────────────────────────────────

function toChatRequest(body) {
  const messages = [{ role: 'system', content: body.system.map((block) => block.text).join('\n\n') }];
  for (const { role, content } of body.messages) {
    if (typeof content === 'string') {
      messages.push({ role, content });
      continue;
    }
    const text = content.filter((block) => block.type === 'text').map((block) => block.text);
    if (role === 'assistant') {
      const calls = content.filter((block) => block.type === 'tool_use');
      messages.push({
        role,
        content: text.join(''),
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: JSON.stringify(call.input) },
        })),
      });
      continue;
    }
    for (const block of content) {
      if (block.type === 'tool_result') {
        messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: block.content });
      }
    }
    if (text.length > 0) messages.push({ role, content: text.join('\n') });
  }
  return {
    model: 'gpt-5.4',
    max_completion_tokens: body.max_tokens,
    stream: body.stream,
    ...(body.stream ? { stream_options: { include_usage: true } } : {}),
    messages,
    tools: body.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: tool.input_schema },
    })),
  };
}

const STOP_REASONS = { tool_calls: 'tool_use', stop: 'end_turn', length: 'max_tokens' };

function toAnthropicUsage(usage) {
  const cached = usage.prompt_tokens_details.cached_tokens;
  return {
    input_tokens: usage.prompt_tokens - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: usage.completion_tokens,
  };
}

function toAnthropicAnswer(body) {
  const [{ message, finish_reason: finish }] = body.choices;
  return {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [
      { type: 'text', text: message.content },
      ...message.tool_calls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.function.name,
        input: JSON.parse(call.function.arguments),
      })),
    ],
    stop_reason: STOP_REASONS[finish],
    stop_sequence: null,
    usage: toAnthropicUsage(body.usage),
  };
}

const anthropicEvent = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function chatToAnthropicStream() {
  let index = -1;
  let call = -1;
  let stop = 'end_turn';
  let started = false;
  const close = () => (index === -1 ? '' : anthropicEvent({ type: 'content_block_stop', index }));
  const open = (block) => {
    const closed = close();
    index++;
    return closed + anthropicEvent({ type: 'content_block_start', index, content_block: block });
  };
  return (data) => {
    if (data === '[DONE]') return '';
    const chunk = JSON.parse(data);
    let out = '';
    if (!started) {
      started = true;
      const usage = { input_tokens: 0, output_tokens: 0 };
      const message = {
        id: chunk.id,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-5',
        content: [],
      };
      out += anthropicEvent({
        type: 'message_start',
        message: { ...message, stop_reason: null, stop_sequence: null, usage },
      });
    }
    for (const { delta, finish_reason: finish } of chunk.choices) {
      if (delta.content) {
        if (index === -1) out += open({ type: 'text', text: '' });
        out += anthropicEvent({
          type: 'content_block_delta',
          index,
          delta: { type: 'text_delta', text: delta.content },
        });
      }
      for (const piece of delta.tool_calls ?? []) {
        if (piece.index !== call) {
          call = piece.index;
          out += open({ type: 'tool_use', id: piece.id, name: piece.function.name, input: {} });
        }
        if (piece.function.arguments) {
          const delta_ = { type: 'input_json_delta', partial_json: piece.function.arguments };
          out += anthropicEvent({ type: 'content_block_delta', index, delta: delta_ });
        }
      }
      if (finish) stop = STOP_REASONS[finish];
    }
    if (chunk.usage) {
      out += close();
      const delta = { stop_reason: stop, stop_sequence: null };
      out += anthropicEvent({ type: 'message_delta', delta, usage: toAnthropicUsage(chunk.usage) });
      out += anthropicEvent({ type: 'message_stop' });
    }
    return out;
  };
}

// ── OpenAI client, Anthropic upstream ──────────────────────────────────────────────────────────

function toAnthropicRequest(body) {
  const messages = [];
  let system = '';
  const add = (role, block) => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(block);
    else messages.push({ role, content: [block] });
  };
  for (const message of body.messages) {
    if (message.role === 'system') system = message.content;
    else if (message.role === 'tool') {
      add('user', { type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content });
    } else {
      add(message.role, { type: 'text', text: message.content });
      for (const { id, function: called } of message.tool_calls ?? []) {
        add('assistant', { type: 'tool_use', id, name: called.name, input: JSON.parse(called.arguments) });
      }
    }
  }
  return {
    model: 'claude-sonnet-5',
    max_tokens: body.max_completion_tokens,
    stream: body.stream,
    system,
    messages,
    tools: body.tools.map((tool) => ({
      name: tool.function.name,
      description: tool.function.description,
      input_schema: tool.function.parameters,
    })),
  };
}

const FINISH_REASONS = { tool_use: 'tool_calls', end_turn: 'stop', max_tokens: 'length' };

function toChatUsage(usage) {
  const prompt = usage.input_tokens + usage.cache_read_input_tokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output_tokens,
    total_tokens: prompt + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cache_read_input_tokens },
  };
}

function toChatAnswer(body) {
  return {
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_780_000_000,
    model: 'gpt-5.4',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: body.content
            .filter((block) => block.type === 'text')
            .map((block) => block.text)
            .join(''),
          tool_calls: body.content
            .filter((block) => block.type === 'tool_use')
            .map((block) => ({
              id: block.id,
              type: 'function',
              function: { name: block.name, arguments: JSON.stringify(block.input) },
            })),
        },
        finish_reason: FINISH_REASONS[body.stop_reason],
      },
    ],
    usage: toChatUsage(body.usage),
  };
}

function anthropicToChatStream() {
  let call = -1;
  let usage = {};
  const base = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_780_000_000,
    model: 'gpt-5.4',
  };
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  return (data) => {
    const event = JSON.parse(data);
    switch (event.type) {
      case 'message_start':
        usage = event.message.usage;
        return chunk({ role: 'assistant', content: '' });
      case 'content_block_start': {
        if (event.content_block.type !== 'tool_use') return '';
        call++;
        const { id, name } = event.content_block;
        return chunk({
          tool_calls: [{ index: call, id, type: 'function', function: { name, arguments: '' } }],
        });
      }
      case 'content_block_delta':
        return event.delta.type === 'text_delta'
          ? chunk({ content: event.delta.text })
          : chunk({ tool_calls: [{ index: call, function: { arguments: event.delta.partial_json } }] });
      case 'message_delta': {
        const total = toChatUsage({ ...usage, ...event.usage });
        const last = `data: ${JSON.stringify({ ...base, choices: [], usage: total })}\n\n`;
        return chunk({}, FINISH_REASONS[event.delta.stop_reason]) + last;
      }
      case 'message_stop':
        return 'data: [DONE]\n\n';
      default:
        return '';
    }
  };
}

// ── the server ─────────────────────────────────────────────────────────────────────────────────

const PAIRS = {
  '/v1/messages': {
    upstream: '/v1/chat/completions',
    request: toChatRequest,
    answer: toAnthropicAnswer,
    stream: chatToAnthropicStream,
  },
  '/v1/chat/completions': {
    upstream: '/v1/messages',
    request: toAnthropicRequest,
    answer: toChatAnswer,
    stream: anthropicToChatStream,
  },
};

const server = createServer(async (request, response) => {
  const [, mode, path] = /^(\/\w+)(\/v1\/.+)$/.exec(request.url);
  const pair = PAIRS[path];
  const body = JSON.parse((await readAll(request)).toString());
  const upstream = await post(mode + pair.upstream, Buffer.from(JSON.stringify(pair.request(body))));
  if (upstream.headers['content-type'] === 'application/json') {
    const answer = Buffer.from(JSON.stringify(pair.answer(JSON.parse((await readAll(upstream)).toString()))));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const translate = pair.stream();
  let rest = '';
  upstream.setEncoding('utf8');
  upstream.on('data', (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop();
    let out = '';
    for (const event of events) out += translate(event.slice(event.indexOf('data: ') + 6));
    if (out !== '') response.write(out);
  });
  upstream.on('end', () => response.end());
  response.on('close', () => upstream.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
