/** The next request of a conversation, as a client makes it from the answer that it got. */
import { isRecord, type JsonRecord } from '../support/violation.js';
import type { FollowUpSpec } from './case-schema.js';
import type { WireName } from './dialects.js';
import type { Received } from './received.js';

export function followUpBody(
  client: WireName,
  body: JsonRecord,
  received: Received,
  then: FollowUpSpec,
): JsonRecord {
  const calls = received.blocks.filter((block) => block.type === 'call');
  const results = calls.map(({ id, name }) => ({ id, name, output: then.results?.[name] ?? 'ok' }));
  const echo = received.echo.map((each) => forget(each, then.forget ?? []));
  if (client === 'messages') {
    const content: JsonRecord[] = results.map(({ id, output }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: output,
    }));
    if (then.user !== undefined) content.push({ type: 'text', text: then.user });
    return { ...body, messages: [...list(body['messages']), ...echo, { role: 'user', content }] };
  }
  if (client === 'chat') {
    const messages: JsonRecord[] = results.map(({ id, output }) => ({
      role: 'tool',
      tool_call_id: id,
      content: output,
    }));
    if (then.user !== undefined) messages.push({ role: 'user', content: then.user });
    return { ...body, messages: [...list(body['messages']), ...echo, ...messages] };
  }
  const items = results.map(({ id, name, output }) => outputItem(name, id, output));
  if (then.user !== undefined) items.push({ type: 'message', role: 'user', content: then.user });
  return { ...body, input: [...list(body['input']), ...echo, ...items] };
}

/** Typed tools of Responses have outputs of their own kind. */
function outputItem(name: string, id: string, output: string): JsonRecord {
  switch (name) {
    case 'shell_call':
      return {
        type: 'shell_call_output',
        call_id: id,
        output: [{ stdout: output, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      };
    case 'local_shell_call':
      return { type: 'local_shell_call_output', id, output };
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', call_id: id, status: 'completed', output };
    default:
      return { type: 'function_call_output', call_id: id, output };
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function forget(message: JsonRecord, fields: readonly string[]): JsonRecord {
  const kept = Object.fromEntries(Object.entries(message).filter(([key]) => !fields.includes(key)));
  const calls = kept['tool_calls'];
  if (!fields.includes('extra_content') || !Array.isArray(calls)) return kept;
  return {
    ...kept,
    tool_calls: calls.map((call) => (isRecord(call) ? { ...call, extra_content: undefined } : call)),
  };
}
