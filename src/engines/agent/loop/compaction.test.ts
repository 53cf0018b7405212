import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  callOf,
  calls,
  FakeRuntime,
  hear,
  nativeEngine,
  routeTo,
  ScriptedRelay,
  says,
  userSays,
} from '../../../../test/support/native-engine-bench.js';
import type { AgentActivity } from '../../../activity/activity.js';
import type { ConversationRequest, Message } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { splitAt } from './compaction.js';

const root = tmpdir();
const LONG = 'lorem ipsum dolor '.repeat(400);

/** Without figures of the upstream the estimate counts. */
const uncounted = (events: readonly ModelEvent[]): ModelEvent[] =>
  events.filter(({ type }) => type !== 'usage');

const textsOf = (request: ConversationRequest | undefined): string =>
  JSON.stringify((request?.messages ?? []).map(({ content }) => content));

const isWhole = (messages: readonly Message[]): boolean =>
  messages.every(({ content }, index) =>
    content.every((block) => {
      if (block.type !== 'tool_result') return true;
      const before = messages[index - 1]?.content ?? [];
      return before.some((call) => call.type === 'tool_use' && call.id === block.toolUseId);
    }),
  );

describe('a transcript that fills the model', () => {
  it('has its older part replaced by notes that the model writes, and its newest messages kept', async () => {
    let page = 0;
    const relay = new ScriptedRelay(async function* ({ request }) {
      if (request.tools.length === 0) yield uncounted(says('NOTES OF IT'));
      else if (page < 6) yield uncounted(calls(['Read', { page: page++ }]));
      else yield uncounted(says('Done.'));
    });
    const seen: AgentActivity[] = [];
    const runtime = new FakeRuntime({ Read: (input) => `${JSON.stringify(input)} ${LONG}` });
    const heard = await hear(
      await nativeEngine(relay, runtime, root),
      callOf([userSays('Summarise the whole book')], {}, { observe: (activity) => seen.push(activity) }),
      routeTo({ contextWindow: 8_000, maxSteps: 20 }),
    );
    expect(heard.text).toBe('Done.');
    const asked = relay.requests.find(({ tools }) => tools.length === 0);
    expect(textsOf(asked)).toContain('Summarise the whole book');
    const after = relay.requests.find((request) => textsOf(request).includes('NOTES OF IT'));
    expect(textsOf(after)).toContain('word for word');
    expect(textsOf(after)).not.toContain('{\\"page\\":0}');
    expect(isWhole(after?.messages ?? [])).toBe(true);
    const compacted = seen.find(({ type }) => type === 'compacted');
    expect(compacted?.type === 'compacted' && compacted.after < compacted.before).toBe(true);
  });

  it('is made shorter when the upstream refuses it, and the call is made again', async () => {
    const overflow = new GatewayError('context_overflow', 'prompt is too long: 9 > 8');
    const relay = new ScriptedRelay(
      calls(['Read', {}]),
      calls(['Read', {}]),
      overflow,
      says('NOTES'),
      says('Done.'),
    );
    const runtime = new FakeRuntime({ Read: () => LONG });
    const heard = await hear(await nativeEngine(relay, runtime, root), callOf([userSays('x')]));
    expect(heard.text).toBe('Done.');
    expect(textsOf(relay.requests.at(-1))).toContain('NOTES');
  });

  it('has its oldest results left out where no notes can be had', async () => {
    const overflow = new GatewayError('context_overflow', 'prompt is too long');
    const down = new GatewayError('overloaded', 'busy');
    const relay = new ScriptedRelay(calls(['Read', {}]), calls(['Read', {}]), overflow, down, says('Done.'));
    const runtime = new FakeRuntime({ Read: () => LONG });
    const heard = await hear(await nativeEngine(relay, runtime, root), callOf([userSays('x')]));
    expect(heard.text).toBe('Done.');
    expect(textsOf(relay.requests.at(-1))).toContain('Left out to make room');
    expect(isWhole(relay.requests.at(-1)?.messages ?? [])).toBe(true);
  });

  it("that does not fit whatever is done ends with the upstream's own error", async () => {
    const overflow = new GatewayError('context_overflow', 'prompt is too long');
    const reads = Array.from({ length: 16 }, () => calls(['Read', {}]));
    const relay = new ScriptedRelay(...reads, overflow);
    const runtime = new FakeRuntime({ Read: () => LONG });
    const engine = await nativeEngine(relay, runtime, root);
    const heard = await hear(engine, callOf([userSays('x')]), routeTo({ maxSteps: 20 }));
    expect(heard.events.at(-1)).toEqual({ type: 'error', error: overflow });
    // Three tries, and one for the notes.
    expect(relay.requests).toHaveLength(reads.length + 4);
  });

  it('that is too long at once keeps its status', async () => {
    const overflow = new GatewayError('context_overflow', 'prompt is too long');
    const engine = await nativeEngine(new ScriptedRelay(overflow), new FakeRuntime(), root);
    await expect(engine.run(callOf([userSays('x')]), routeTo())).rejects.toBe(overflow);
  });
});

describe('where a transcript is divided', () => {
  const call = (id: string): Message => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'Read', input: {} }],
  });
  const result = (id: string): Message => ({
    role: 'user',
    content: [{ type: 'tool_result', toolUseId: id, content: [], isError: false }],
  });
  const messages = [userSays('a'), call('1'), result('1'), call('2'), result('2')];

  it.each([
    [0, 3],
    [2, 3],
    [3, 3],
    [4, 1],
    [100, 1],
  ])('never parts a call from its result (%i tokens kept: from message %i on)', (keep, from) => {
    expect(splitAt(messages, keep, () => 1)).toBe(from);
  });

  it('is nowhere in one message', () => {
    expect(splitAt([userSays('a')], 10, () => 1)).toBeUndefined();
  });
});
