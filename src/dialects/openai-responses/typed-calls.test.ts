import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { LossLog } from '../../core/losses.js';
import { openaiChat } from '../openai-chat/index.js';
import { STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { openaiResponses } from './index.js';

const TOOLS = [
  { type: 'shell', environment: { type: 'local' } },
  { type: 'local_shell' },
  { type: 'apply_patch' },
];
const ITEMS: readonly JsonObject[] = [
  {
    type: 'shell_call',
    id: 'sh_1',
    call_id: 'c1',
    status: 'completed',
    action: { commands: ['ls'], timeout_ms: null, max_output_length: 9 },
  },
  {
    type: 'shell_call_output',
    call_id: 'c1',
    output: [{ stdout: 'a.txt', stderr: 'oh', outcome: { type: 'exit', exit_code: 2 } }],
  },
  {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'c2',
    status: 'completed',
    action: { type: 'exec', command: ['ls'], env: {} },
  },
  { type: 'local_shell_call_output', id: 'lsh_1', output: '{"ok":1}' },
  {
    type: 'apply_patch_call',
    id: 'apc_1',
    call_id: 'c3',
    status: 'completed',
    operation: { type: 'delete_file', path: 'a' },
  },
  { type: 'apply_patch_call_output', call_id: 'c3', status: 'failed', output: 'no such file' },
];

const request = (input: readonly JsonObject[], tools: readonly JsonObject[] = TOOLS) =>
  decodeRequest({ model: 'm', input: [{ role: 'user', content: 'q' }, ...input], tools });
const target = () => ({ model: 'm', quirks: STANDARD_QUIRKS, losses: new LossLog() });

describe('calls of typed tools in history', () => {
  it('are calls of functions to another wire, and their outputs are results', () => {
    const encoded = openaiChat.egress.encodeRequest(request(ITEMS), target());
    expect(encoded.body['messages']).toMatchObject([
      { role: 'user' },
      {
        tool_calls: [
          { id: 'c1', function: { name: 'shell', arguments: '{"commands":["ls"],"max_output_length":9}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a.txt\noh\n[exit code 2]' },
      { tool_calls: [{ id: 'c2', function: { name: 'local_shell', arguments: '{"command":["ls"]}' } }] },
      { role: 'tool', tool_call_id: 'c2', content: '{"ok":1}' },
      {
        tool_calls: [
          { id: 'c3', function: { name: 'apply_patch', arguments: '{"type":"delete_file","path":"a"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c3', content: 'Error: no such file' },
    ]);
  });

  it('come back to this wire as they were', () => {
    const encoded = openaiResponses.egress.encodeRequest(request(ITEMS), target());
    expect(encoded.body['input']).toMatchObject([{ role: 'user' }, ...ITEMS]);
    expect(encoded.body['tools']).toEqual(TOOLS);
  });

  it('what a container of the provider did stays its own', () => {
    const hosted = [
      { ...ITEMS[0], environment: { type: 'container_reference', container_id: 'k' } },
      ...ITEMS.slice(1, 2),
    ];
    expect(
      request(hosted)
        .messages.slice(1)
        .map(({ role, content }) => [role, content[0]?.type]),
    ).toEqual([
      ['assistant', 'opaque'],
      ['user', 'opaque'],
    ]);
  });

  it('an answer that nobody gave has the kind of its call', () => {
    const [call = {}] = ITEMS;
    const encoded = openaiResponses.egress.encodeRequest(request([call]), target());
    expect(encoded.body['input']).toMatchObject([
      { role: 'user' },
      call,
      { type: 'shell_call_output', call_id: 'c1', output: [{ outcome: { type: 'exit', exit_code: 1 } }] },
    ]);
  });
});

describe('typed tools beside others', () => {
  it('a function of the same name keeps it', () => {
    const fn = { type: 'function', name: 'shell', parameters: {}, strict: false };
    const decoded = request(ITEMS.slice(0, 1), [fn, { type: 'shell' }]);
    expect(decoded.tools.map(({ name }) => name)).toEqual(['shell', 'shell_']);
    expect(decoded.messages[1]?.content[0]).toMatchObject({ name: 'shell_' });
  });

  it.each([
    [{ type: 'shell' }, { type: 'tool', name: 'shell' }],
    [{ type: 'apply_patch' }, { type: 'tool', name: 'apply_patch' }],
  ])('%j is chosen by its type, there and back', (choice, neutral) => {
    const decoded = decodeRequest({ model: 'm', input: 'q', tools: TOOLS, tool_choice: choice });
    expect(decoded.toolChoice).toEqual(neutral);
    expect(openaiResponses.egress.encodeRequest(decoded, target()).body['tool_choice']).toEqual(choice);
  });
});

describe('calls of typed tools in an answer', () => {
  const [shellCall = {}] = ITEMS;
  const decode = (tools: readonly JsonObject[]): ModelEvent[] => {
    const { names } = openaiResponses.egress.encodeRequest(request([], tools), target());
    return openaiResponses.egress.decodeResponse(
      { id: 'r', model: 'm', status: 'completed', output: [shellCall] },
      names,
    );
  };

  it('are calls of the client where it offered the tool', () => {
    expect(decode(TOOLS)).toMatchObject([
      { type: 'start' },
      { type: 'tool', id: 'c1', name: 'shell' },
      { type: 'tool-input', json: '{"commands":["ls"],"max_output_length":9}' },
      { type: 'tool-end' },
      { type: 'stop', reason: 'tool_use' },
    ]);
  });

  it("are the provider's where it did not", () => {
    expect(decode([])).toMatchObject([
      { type: 'start' },
      { type: 'block', block: { kind: 'shell_call' } },
      { type: 'stop', reason: 'end_turn' },
    ]);
  });

  it('one that the limit cut says so', () => {
    const form = openaiResponses.ingress.answerForm?.(request([]));
    const encoder = openaiResponses.ingress.createStreamEncoder(request([]), {
      model: 'm',
      requestId: 'r',
      created: 1,
      ...(form === undefined ? {} : { form }),
    });
    const text = encoder.encode([
      {
        type: 'message-start',
        id: 'resp_1',
        model: 'm',
        usage: { inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      },
      { type: 'block-start', index: 0, block: { type: 'tool_use', id: 'c1', name: 'shell' } },
      { type: 'block-delta', index: 0, delta: { type: 'input', json: '{"commands":["l' } },
      { type: 'block-stop', index: 0 },
    ]);
    expect(text).toContain('"type":"shell_call","status":"incomplete"');
  });
});
