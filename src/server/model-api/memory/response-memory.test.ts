import { afterEach, describe, expect, it, vi } from 'vitest';
import { AnswerMemory } from '../../../answers/answer-memory.js';
import type { AssistantMessage, Block, JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { StreamLifecycle } from '../../../core/lifecycle.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import { openStore } from '../../../store/open/open-store.js';
import type { Store } from '../../../store/store.js';
import {
  chainOf,
  findStoredResponse,
  forgetStoredResponse,
  RecordingEncoder,
  responseMemory,
} from './response-memory.js';

const DAY_MS = 24 * 3600 * 1000;
const stores: Store[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const store of stores.splice(0)) await store.close();
});

async function open() {
  const warnings: unknown[] = [];
  const silent = () => {};
  const log = {
    debug: silent,
    info: silent,
    warn: (facts: object) => void warnings.push(facts),
    error: silent,
    fatal: silent,
  };
  const store = await openStore('sqlite::memory:', { baseDir: '/', now: () => Date.now() });
  stores.push(store);
  return { store, answers: new AnswerMemory(store.answers), log, warnings };
}

type Context = Awaited<ReturnType<typeof open>>;

const turn = (id: string, content: Block[]): AssistantMessage => ({
  id,
  model: 'm',
  content,
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
});

function keep(context: Context, id: string, body: JsonObject, principal = 'alice') {
  const whole = { model: 'm', ...body };
  const request = openaiResponses.ingress.decodeRequest(whole);
  const answer = { model: 'm', requestId: 'req_1', created: 0 };
  return responseMemory.keep({ principal, id, body: whole, request, answer }, context);
}

async function answer(context: Context, id: string, body: JsonObject, content: Block[]): Promise<void> {
  await keep(context, id, body)?.finish(turn(id, content));
}

const text = (value: string): Block => ({ type: 'text', text: value });
const said = (value: string): JsonObject => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: value }],
});

const recallBody = async (...asked: Parameters<typeof responseMemory.recall>) =>
  (await responseMemory.recall(...asked))?.body;

describe('a conversation by previous_response_id', () => {
  it('is unknown to another end user of the key', async () => {
    const context = await open();
    const alices = [{ user: 'alice' }, { safety_identifier: 'alice' }];
    for (const [index, who] of alices.entries()) {
      await answer(context, `resp_${index}`, { input: 'hi', ...who }, [text('ok')]);
      const recall = (other: JsonObject) =>
        recallBody(
          { model: 'm', input: 'more', previous_response_id: `resp_${index}`, ...other },
          'alice',
          context,
        );
      const kept = await findStoredResponse(`resp_${index}`, 'alice', context.answers);
      const [item] = Array.isArray(kept?.response['output']) ? kept.response['output'] : [];
      const refer = (other: JsonObject) => {
        const input = [{ type: 'item_reference', id: item.id }];
        return recallBody({ model: 'm', input, ...other }, 'alice', context);
      };
      for (const same of alices) {
        expect(await recall(same)).toMatchObject({ $previous: `resp_${index}` });
        expect(await refer(same)).toMatchObject({ input: [item] });
      }
      for (const other of [{ user: 'bob' }, { safety_identifier: 'bob' }, {}]) {
        await expect(recall(other)).rejects.toMatchObject({ status: 404 });
        expect(await refer(other)).toBeUndefined();
      }
    }
  });

  it('is put together from its turns', async () => {
    const context = await open();
    await answer(context, 'resp_1', { input: 'one' }, [text('first')]);
    await answer(context, 'resp_2', { input: [said('two')], previous_response_id: 'resp_1' }, [
      text('second'),
    ]);
    const body = { model: 'm', input: 'three', previous_response_id: 'resp_2', instructions: 'Be brief.' };
    const recalled = await recallBody(body, 'alice', context);
    expect(recalled).toMatchObject({
      model: 'm',
      instructions: 'Be brief.',
      input: [
        said('one'),
        { type: 'message', role: 'assistant', content: [{ text: 'first' }] },
        said('two'),
        { type: 'message', role: 'assistant', content: [{ text: 'second' }] },
        said('three'),
      ],
    });
    expect(recalled).not.toHaveProperty('previous_response_id');
    const request = openaiResponses.ingress.decodeRequest(recalled);
    expect(request.continues).toBeUndefined();
    expect(request.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    const form = openaiResponses.ingress.answerForm?.(request);
    expect(form).toMatchObject({ echo: { previous_response_id: 'resp_2' } });
  });

  it('keeps thinking signatures that the client never saw', async () => {
    const context = await open();
    const thinking: Block = { type: 'thinking', thinking: 'Hm', signature: 'c2ln' };
    await answer(context, 'resp_1', { input: 'one' }, [thinking, text('first')]);
    const recalled = await recallBody(
      { model: 'm', input: 'two', previous_response_id: 'resp_1' },
      'alice',
      context,
    );
    const { messages } = openaiResponses.ingress.decodeRequest(recalled);
    expect(messages[1]?.content[0]).toEqual(thinking);
  });

  it('continues at the upstream that began it', async () => {
    const context = await open();
    await answer(context, 'resp_2', { input: 'two', previous_response_id: 'resp_upstream' }, [
      text('second'),
    ]);
    const recalled = await recallBody(
      { model: 'm', input: 'three', previous_response_id: 'resp_2' },
      'alice',
      context,
    );
    expect(recalled).toMatchObject({ previous_response_id: 'resp_upstream', $previous: 'resp_2' });
  });

  it.each<[string, unknown]>([
    ['of another', { previous_response_id: 'resp_bob' }],
    ['that is not kept', { previous_response_id: 'resp_none' }],
    ['that is not named', { input: 'q' }],
    ['in no body', 'text'],
  ])('%s is left to others', async (_kind, body) => {
    const context = await open();
    await keep(context, 'resp_bob', { input: 'one' }, 'bob')?.finish(turn('resp_bob', [text('a')]));
    expect(await recallBody(body, 'alice', context)).toBeUndefined();
  });

  it('ends at a circle of references', async () => {
    const context = await open();
    await answer(context, 'resp_1', { input: 'one', previous_response_id: 'resp_2' }, [text('a')]);
    await answer(context, 'resp_2', { input: 'two', previous_response_id: 'resp_1' }, [text('b')]);
    const { turns } = await chainOf('resp_2', 'alice', context.answers);
    expect(turns.map(({ id }) => id)).toEqual(['resp_1', 'resp_2']);
  });
});

describe('a stored response', () => {
  it('is found while it is still being written', async () => {
    const context = await open();
    const put = context.store.answers.put.bind(context.store.answers);
    let write = () => {};
    const gate = new Promise<void>((resolve) => {
      write = resolve;
    });
    vi.spyOn(context.store.answers, 'put').mockImplementation((row) => gate.then(() => put(row)));
    const finishing = keep(context, 'resp_1', { input: 'one' })?.finish(turn('resp_1', [text('a')]));
    const finding = findStoredResponse('resp_1', 'alice', context.answers);
    write();
    expect(await finding).toMatchObject({ id: 'resp_1' });
    await finishing;
  });

  it('is absent before it is complete, and when there is none', async () => {
    const context = await open();
    const record = keep(context, 'resp_1', { input: 'one' });
    expect(await findStoredResponse('resp_1', 'alice', context.answers)).toBeUndefined();
    await record?.drop();
    expect(await context.store.answers.get('alice', 'response:resp_1:input')).toBeUndefined();
  });

  it('is not kept with store: false', async () => {
    expect(keep(await open(), 'resp_1', { input: 'one', store: false })).toBeUndefined();
  });

  it('is deleted on request, once', async () => {
    const context = await open();
    await answer(context, 'resp_1', { input: 'one' }, [text('a')]);
    expect(await forgetStoredResponse('resp_1', 'bob', context.answers)).toBe(false);
    expect(await forgetStoredResponse('resp_1', 'alice', context.answers)).toBe(true);
    expect(await forgetStoredResponse('resp_1', 'alice', context.answers)).toBe(false);
    expect(await context.store.answers.get('alice', 'response:resp_1:input')).toBeUndefined();
  });

  it('is kept for a month, and longer while it is used', async () => {
    const context = await open();
    const start = Date.now();
    const clock = vi.spyOn(Date, 'now');
    await answer(context, 'resp_1', { input: 'one' }, [text('a')]);
    const found = async (day: number) => {
      clock.mockReturnValue(start + day * DAY_MS);
      return (await findStoredResponse('resp_1', 'alice', context.answers)) !== undefined;
    };
    expect(await found(10)).toBe(true);
    expect(await found(29)).toBe(true);
    expect(await found(58)).toBe(true);
    expect(await found(90)).toBe(false);
  });

  it('is still answered when it cannot be written', async () => {
    const context = await open();
    vi.spyOn(context.store.answers, 'put').mockRejectedValue(new Error('disk full'));
    await answer(context, 'resp_1', { input: 'one' }, [text('a')]);
    expect(context.warnings).toHaveLength(2);
  });
});

function recording() {
  const finished: AssistantMessage[] = [];
  let dropped = 0;
  const said: string[] = [];
  const encoder = new RecordingEncoder(
    {
      encode: (events) => {
        said.push(...events.map(({ type }) => type));
        return String(events.length);
      },
    },
    {
      finish: async (turn) => void finished.push(turn),
      drop: async () => {
        dropped += 1;
      },
    },
  );
  const lifecycle = new StreamLifecycle({ id: 'resp_1', model: 'm' });
  const push = (...events: ModelEvent[]): string => encoder.encode(lifecycle.push(events));
  const end = (): string => encoder.encode(lifecycle.end());
  return { encoder, finished, said, push, end, dropped: () => dropped };
}

describe('a stream that is recorded', () => {
  it('passes unchanged', () => {
    const { push, said } = recording();
    expect(push({ type: 'text', text: 'Hi' })).toBe('3');
    expect(said).toEqual(['message-start', 'block-start', 'block-delta']);
  });

  it('is stored when it is complete, and once', () => {
    const { encoder, push, end, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    push({ type: 'stop', reason: 'end_turn' });
    expect(finished).toEqual([]);
    end();
    encoder.close();
    expect(finished).toMatchObject([{ id: 'resp_1', content: [{ type: 'text', text: 'Hi' }] }]);
    expect(dropped()).toBe(0);
  });

  it('is not stored when it fails', () => {
    const { encoder, push, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    push({ type: 'error', error: new GatewayError('upstream_failed', 'broke') });
    encoder.close();
    expect(finished).toEqual([]);
    expect(dropped()).toBe(1);
  });

  it('is not stored when its reader leaves', () => {
    const { encoder, push, finished, dropped } = recording();
    push({ type: 'text', text: 'Hi' });
    encoder.close();
    expect(finished).toEqual([]);
    expect(dropped()).toBe(1);
  });
});
