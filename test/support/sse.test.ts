import { describe, expect, it } from 'vitest';
import {
  parseSse,
  parseSseText,
  type SseEvent,
  validateAnthropicStream,
  validateChatStream,
  validateResponsesStream,
} from './sse.js';
import {
  anthropicError,
  anthropicEvents,
  anthropicSse,
  call,
  callsAnswer,
  chatChunk,
  chatChunks,
  chatSse,
  chatStream,
  numbered,
  openaiError,
  responsesEvents,
  responsesFailure,
  responsesSse,
  type Scripted,
  textAnswer,
  thinkingAnswer,
  type Wire,
} from './wire.js';

const ANSWERS: Readonly<Record<string, Scripted>> = {
  text: textAnswer(['Hel', 'lo ', '世界']),
  nothing: { parts: [] },
  thinking: thinkingAnswer(['Let me ', 'see'], 'Done', 'c2lnbmVk'),
  call: callsAnswer(call('read', { path: 'a.txt', lines: [1, 2] })),
  'parallel calls': callsAnswer(call('read', { path: 'a' }), call('write', { path: 'b' })),
  'text around calls': {
    parts: [{ type: 'text', text: 'first' }, call('read', {}), { type: 'text', text: 'last' }],
  },
  'call without arguments': { parts: [{ type: 'call', id: 'call_1', name: 'now', arguments: '' }] },
  'call that was cut off': {
    parts: [{ type: 'call', id: 'call_1', name: 'write', arguments: ['{"text": "ab'] }],
    stop: 'max_tokens',
  },
};

describe('parsing an event stream', () => {
  it('reads names, ids, comments, multi-line data and every line end', () => {
    const text = '\ufeff: hi\r\nevent: a\rdata: 1\ndata:2\r\nid: 7\r\n\r\nevent: empty\n\ndata: {"b"\n\n';
    expect(parseSseText(text)).toEqual({
      events: [
        { event: 'a', data: '1\n2', id: '7' },
        { event: '', data: '{"b"' },
      ],
      comments: [' hi'],
      rest: '',
    });
  });

  it('refuses a stream that ends inside an event', () => {
    expect(() => parseSse('data: 1\n\ndata: 2\n')).toThrow('ends inside an event: "data: 2\\n"');
    expect(() => parseSse('data: 1\n\ndat')).toThrow('ends inside an event: "dat"');
  });
});

const reparse = (sse: string): SseEvent[] => parseSse(sse);

describe('a stream of messages', () => {
  const validate = (events: readonly Wire[], options = {}): ReturnType<typeof validateAnthropicStream> =>
    validateAnthropicStream(reparse(anthropicSse(events)), options);

  it.each(Object.entries(ANSWERS))('accepts %s', (_, scripted) => {
    const result = validate(anthropicEvents(scripted));
    expect(result.content).toHaveLength(scripted.parts.length);
    expect(result.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  it('returns what a client has assembled', () => {
    expect(validate(anthropicEvents(thinkingAnswer(['a', 'b'], 'c', 'sig'))).content).toEqual([
      { type: 'thinking', thinking: 'ab', signature: 'sig' },
      { type: 'text', text: 'c' },
    ]);
    expect(validate(anthropicEvents(callsAnswer(call('f', { x: 1 }, 'call_9')))).content).toEqual([
      { type: 'tool_use', id: 'call_9', name: 'f', input: { x: 1 } },
    ]);
  });

  it('accepts pings anywhere before the end and an error as the end', () => {
    const events = anthropicEvents(textAnswer('hi'));
    expect(validate(events.flatMap((event) => [{ type: 'ping' }, event])).stopReason).toBe('end_turn');
    const failed = [...events.slice(0, 4), anthropicError('overloaded_error', 'Overloaded')];
    expect(validate(failed, { error: 'expected' }).error).toEqual({
      type: 'overloaded_error',
      message: 'Overloaded',
    });
    expect(() => validate(failed)).toThrow('the stream failed: Overloaded');
    expect(() => validate(events, { error: 'expected' })).toThrow('did not fail');
  });

  const text = anthropicEvents(textAnswer('hi'));
  const two = anthropicEvents(callsAnswer(call('a', {}, 'call_1'), call('b', { x: 1 }, 'call_2')));
  const without = (events: readonly Wire[], index: number): Wire[] =>
    events.filter((_, each) => each !== index);
  const twice = (events: readonly Wire[], index: number): Wire[] =>
    events.flatMap((event, each) => (each === index ? [event, event] : [event]));
  const changed = (events: readonly Wire[], index: number, fields: Wire): Wire[] =>
    events.map((event, each) => (each === index ? { ...event, ...fields } : event));

  it.each<[string, Wire[], string]>([
    ['no start', without(text, 0), 'a block outside of message_start'],
    ['two starts', twice(text, 0), 'a second message_start'],
    [
      'a start without usage',
      changed(text, 0, { message: { ...(text[0]?.['message'] as Wire), usage: null } }),
      'usage',
    ],
    ['a block that is not opened', without(text, 1), 'no block is open'],
    ['a block that is not closed', without(text, 3), 'block 0 is still open'],
    ['a block closed twice', twice(text, 3), 'no block is open'],
    ['a second block over an open one', without(two, 3), 'block 0 is still open'],
    ['an index with a gap', changed(text, 1, { index: 1 }), 'the index is not 0'],
    ['a delta for another block', changed(text, 2, { index: 1 }), 'the open block is 0'],
    [
      'a delta of another kind',
      changed(text, 2, { delta: { type: 'thinking_delta', thinking: 'x' } }),
      'thinking_delta in a text block',
    ],
    [
      'a tool input that does not parse',
      changed(two, 2, { delta: { type: 'input_json_delta', partial_json: '{"a"' } }),
      'the tool input of block 0 is not a JSON object',
    ],
    [
      'a tool input that is no object',
      changed(two, 2, { delta: { type: 'input_json_delta', partial_json: 'null' } }),
      'the tool input of block 0 is not a JSON object',
    ],
    [
      'a tool id twice',
      anthropicEvents(callsAnswer(call('a', {}, 'call_1'), call('b', {}, 'call_1'))),
      'call_1 was used before',
    ],
    ['a tool id with a colon', anthropicEvents(callsAnswer(call('a', {}, 'functions.a:0'))), 'characters'],
    [
      'a tool without a name',
      anthropicEvents(callsAnswer(call('', {}, 'call_1'))),
      'content_block.name is empty',
    ],
    [
      'a call that ends the turn',
      anthropicEvents({ ...callsAnswer(call('a', {})), stop: 'end_turn' }),
      'end_turn',
    ],
    ['tool_use without a call', anthropicEvents(textAnswer('x', { stop: 'tool_use' })), 'no tool was called'],
    ['no message_delta', without(text, 4), 'message_stop without a message_delta'],
    ['two message_deltas', twice(text, 4), 'a second message_delta'],
    ['no message_stop', without(text, 5), 'ends without message_stop'],
    ['something after the end', [...text, { type: 'ping' }], 'nothing may come after the end'],
    ['an unknown stop reason', changed(text, 4, { delta: { stop_reason: 'stop' } }), 'unknown stop_reason'],
    [
      'a stop sequence that is not named',
      changed(text, 4, { delta: { stop_reason: 'stop_sequence', stop_sequence: null } }),
      'stop_sequence is not a string',
    ],
    [
      'an error over an open block',
      [...text.slice(0, 3), anthropicError('api_error', 'x')],
      'block 0 is still open',
    ],
    ['an error without a type', [{ type: 'error', error: { message: 'x' } }], 'error.type is not a string'],
  ])('refuses %s', (_, events, reason) => {
    expect(() => validate(events, { error: 'allowed' })).toThrow(reason);
  });

  it('refuses [DONE] and a name that is not the type', () => {
    const events = reparse(anthropicSse(text));
    expect(() => validateAnthropicStream([...events, { event: '', data: '[DONE]' }])).toThrow('no [DONE]');
    expect(() => validateAnthropicStream(events.map((event) => ({ ...event, event: '' })))).toThrow(
      'is named ""',
    );
  });

  it('refuses thinking after its signature', () => {
    const events = anthropicEvents(thinkingAnswer('a', 'b', 'sig'));
    const [start, open, delta, signature, ...rest] = events;
    const swapped = [start, open, signature, delta, ...rest].filter((event) => event !== undefined);
    expect(() => validate(swapped)).toThrow('thinking after its signature');
  });
});

describe('a stream of chat completions', () => {
  const validate = (chunks: readonly Wire[], options = {}): ReturnType<typeof validateChatStream> =>
    validateChatStream(reparse(chatSse(chunks)), options);

  it.each(Object.entries(ANSWERS))('accepts %s', (_, scripted) => {
    for (const usage of [false, true]) {
      const result = validate(chatChunks(scripted, { usage }), { usage: usage ? 'required' : 'refused' });
      expect(result.calls).toHaveLength(scripted.parts.filter((part) => part.type === 'call').length);
    }
  });

  it('returns what a client has assembled, interleaved calls too', () => {
    const scripted = callsAnswer(call('f', { text: 'one and two' }, 'call_1'), call('g', { n: 1 }, 'call_2'));
    for (const interleave of [false, true]) {
      expect(validate(chatChunks(scripted, { interleave })).calls).toEqual([
        { id: 'call_1', name: 'f', arguments: '{"text":"one and two"}' },
        { id: 'call_2', name: 'g', arguments: '{"n":1}' },
      ]);
    }
    const indices = chatChunks(scripted, { interleave: true }).map(
      (chunk) => /"index":(\d),"(?:function|id)"/.exec(JSON.stringify(chunk))?.[1],
    );
    expect(indices.filter(Boolean).slice(0, 5).join('')).toBe('01010');
  });

  it('accepts an error as the end, with or without [DONE]', () => {
    const failed = [
      chatChunk({ role: 'assistant', content: 'x' }),
      openaiError('no', { type: 'server_error' }),
    ];
    for (const done of [false, true]) {
      const result = validateChatStream(reparse(chatSse(failed, done)), { error: 'expected' });
      expect(result.error).toMatchObject({ message: 'no' });
    }
    expect(() => validate(failed)).toThrow('the stream failed: no');
  });

  const role = chatChunk({ role: 'assistant', content: '' });
  const end = chatChunk({}, 'stop');
  const opening = (index: number, id = `call_${index}`): Wire =>
    chatChunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'f', arguments: '{}' } }] });

  it.each<[string, Wire[], string]>([
    ['a first delta without a role', [chatChunk({ content: 'x' }), end], 'does not name the role'],
    ['another id', [role, { ...end, id: 'other' }], 'id is not the one of the first chunk'],
    ['another model', [role, { ...end, model: 'other' }], 'model is not the one of the first chunk'],
    ['another object', [{ ...role, object: 'chat.completion' }, end], 'object is not'],
    ['no finish', [role], '[DONE] before a finish_reason'],
    ['two finishes', [role, end, end], 'a second finish_reason'],
    ['content after the finish', [role, end, chatChunk({ content: 'x' })], 'content after the finish_reason'],
    ['an unknown finish', [role, chatChunk({}, 'end_turn')], 'unknown finish_reason'],
    ['tool_calls without one', [role, chatChunk({}, 'tool_calls')], 'there are none'],
    ['calls that stop', [role, opening(0), end], 'there are tool calls and finish_reason is stop'],
    ['a call index with a gap', [role, opening(1), end], 'the next is 0'],
    ['a call id twice', [role, opening(0, 'a'), opening(1, 'a'), end], 'was used before'],
    ['a call opened twice', [role, opening(0), opening(0), end], 'the id of call 0 is sent again'],
    [
      'arguments before their call',
      [role, chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }), end],
      'tool_calls[].id is not a string',
    ],
    [
      'arguments that do not parse',
      [...chatChunks({ parts: [{ type: 'call', id: 'a', name: 'f', arguments: '{"a' }] })],
      'the arguments of call 0 are not a JSON object',
    ],
    [
      'usage before the finish',
      [role, { ...role, choices: [], usage: {} }, end],
      'does not follow the finish_reason',
    ],
    [
      'a usage that does not add up',
      [role, { ...end, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 3 } }],
      'total_tokens is not the sum',
    ],
  ])('refuses %s', (_, chunks, reason) => {
    expect(() => validate(chunks)).toThrow(reason);
  });

  it('refuses a stream without [DONE], with something after it, or with named events', () => {
    expect(() => validateChatStream(reparse(chatSse([role, end], false)))).toThrow('without [DONE]');
    expect(() => validateChatStream(reparse(chatStream(textAnswer('x')) + chatSse([role])))).toThrow(
      'after [DONE]',
    );
    expect(() => validateChatStream([{ event: 'x', data: '{}' }])).toThrow('have no name');
  });

  it('asks for usage, or for none', () => {
    expect(() => validate(chatChunks(textAnswer('x')), { usage: 'required' })).toThrow(
      'usage chunk is missing',
    );
    expect(() => validate(chatChunks(textAnswer('x'), { usage: true }), { usage: 'refused' })).toThrow(
      'nobody asked',
    );
  });
});

describe('a stream of responses', () => {
  const validate = (events: readonly Wire[], options = {}): ReturnType<typeof validateResponsesStream> =>
    validateResponsesStream(reparse(responsesSse(events)), options);

  it.each(Object.entries(ANSWERS))('accepts %s', (_, scripted) => {
    expect(validate(responsesEvents(scripted)).output).toHaveLength(scripted.parts.length);
  });

  it('accepts a failure as the end', () => {
    const failed = responsesFailure('server_error', 'It broke', textAnswer('x'));
    expect(validate(failed, { error: 'expected' }).error).toEqual({
      code: 'server_error',
      message: 'It broke',
    });
    expect(() => validate(failed)).toThrow('the stream failed: It broke');
    const error = numbered([{ type: 'error', code: 'x', message: 'early', param: null }]);
    expect(validate(error, { error: 'expected' }).error).toMatchObject({ message: 'early' });
  });

  const text = responsesEvents(textAnswer(['a', 'b']));
  const calls = responsesEvents(callsAnswer(call('f', { x: 1 }, 'call_1')));
  const find = (events: readonly Wire[], type: string): number =>
    events.findIndex((event) => event['type'] === type);
  const without = (events: readonly Wire[], type: string): Wire[] =>
    numbered(events.filter((_, index) => index !== find(events, type)));
  const changed = (events: readonly Wire[], type: string, fields: Wire): Wire[] =>
    events.map((event, index) => (index === find(events, type) ? { ...event, ...fields } : event));

  it.each<[string, Wire[], string]>([
    ['no response.created', without(text, 'response.created'), 'does not come first'],
    ['a sequence with a gap', text.filter((_, index) => index !== 1), 'sequence_number is not 1'],
    ['an item that is not opened', without(text, 'response.output_item.added'), 'no item is open'],
    ['an item that is not closed', without(text, 'response.output_item.done'), 'item 0 is still open'],
    [
      'an output_index with a gap',
      changed(text, 'response.output_item.added', { output_index: 1 }),
      'is not 0',
    ],
    ['text without a part', without(text, 'response.content_part.added'), 'no part is open'],
    ['text that loses a delta', without(text, 'response.output_text.delta'), 'not what its deltas gave'],
    ['text that is not done', without(text, 'response.output_text.done'), 'before its text is done'],
    ['a part that is not closed', without(text, 'response.content_part.done'), 'a part is still open'],
    [
      'another item id',
      changed(text, 'response.output_text.delta', { item_id: 'x' }),
      'the open item is msg_0',
    ],
    [
      'arguments that lose a delta',
      without(calls, 'response.function_call_arguments.delta'),
      'not what their deltas',
    ],
    [
      'arguments that are not done',
      without(calls, 'response.function_call_arguments.done'),
      'arguments are done',
    ],
    [
      'arguments that do not parse',
      responsesEvents({ parts: [{ type: 'call', id: 'a', name: 'f', arguments: '{"a' }] }),
      'the arguments are not a JSON object',
    ],
    ['no end', text.slice(0, -1), 'without its last event'],
    ['something after the end', numbered([...text, ...text.slice(-1)]), 'nothing may come after the end'],
    [
      'an end that forgets an item',
      changed(text, 'response.completed', {
        response: { ...(text.at(-1)?.['response'] as Wire), output: [] },
      }),
      'not the items that were sent',
    ],
    [
      'an end without usage',
      changed(text, 'response.completed', {
        response: { ...(text.at(-1)?.['response'] as Wire), usage: null },
      }),
      'response.usage is not an object',
    ],
  ])('refuses %s', (_, events, reason) => {
    expect(() => validate(events)).toThrow(reason);
  });
});
