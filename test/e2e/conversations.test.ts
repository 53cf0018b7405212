/** `/v1/conversations` with the official client, on upstreams of every wire. */
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { type Script, startUpstream } from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { until } from '../support/until.js';
import { textAnswer } from '../support/wire.js';

const KEYS = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));

async function open(dialect: DialectName, script: Script) {
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    config: {
      server: { keys: KEYS },
      upstreams: { theirs: upstream.config(dialect) },
      models: { m: { upstream: 'theirs', model: 'their-model' } },
    },
  });
  const client = (name: string) => openaiClient(gateway.url, { apiKey: `secret-of-${name}` });
  return { upstream, alice: client('alice'), bob: client('bob') };
}

const NOT_THERE = { status: 404 };

describe.each(['openai-chat', 'anthropic-messages', 'openai-responses'] as const)(
  'a conversation on %s',
  (dialect) => {
    it('is what its turns go on from, whole, streamed and in the background', async () => {
      const answers = ['Blue.', 'Sure.', 'Again.'].map((text) => inDialect(textAnswer(text)));
      const { upstream, alice, bob } = await open(dialect, answers);
      const { id } = await alice.conversations.create({
        items: [{ type: 'message', role: 'user', content: 'My name is Ada.' }],
      });
      const first = await alice.responses.create({ model: 'm', input: 'What colour?', conversation: id });
      expect(first).toMatchObject({ output_text: 'Blue.', conversation: { id } });
      expect(upstream.requests[0]?.text).toContain('My name is Ada.');
      const stream = alice.responses.stream({
        model: 'm',
        input: 'Sure?',
        conversation: { id },
        store: false,
      });
      expect((await stream.finalResponse()).output_text).toBe('Sure.');
      expect(upstream.requests[1]?.text).toContain('Blue.');
      const { data } = await alice.conversations.items.list(id, { order: 'asc' });
      expect(
        data.map((item) => (item.type === 'message' ? [item.role, item.content[0]] : item.type)),
      ).toMatchObject([
        ['user', { type: 'input_text', text: 'My name is Ada.' }],
        ['user', { type: 'input_text', text: 'What colour?' }],
        ['assistant', { type: 'output_text', text: 'Blue.' }],
        ['user', { type: 'input_text', text: 'Sure?' }],
        ['assistant', { type: 'output_text', text: 'Sure.' }],
      ]);
      // It is no one else's, and what it said is not continued without it.
      await expect(
        bob.responses.create({ model: 'm', input: 'What was said?', conversation: id }),
      ).rejects.toMatchObject(NOT_THERE);
      await expect(
        alice.responses.create({ model: 'm', input: 'And?', previous_response_id: first.id }),
      ).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
      expect(upstream.requests).toHaveLength(2);
      const { id: last } = await alice.responses.create({
        model: 'm',
        input: 'And now?',
        conversation: id,
        background: true,
      });
      const again = await until(async () => {
        const response = await alice.responses.retrieve(last);
        return response.status === 'completed' && response;
      });
      expect(again.output_text).toBe('Again.');
      expect((await alice.conversations.items.list(id, { order: 'asc' })).data).toHaveLength(7);
    });
  },
);

describe('conversations', () => {
  it('are made, changed, read and deleted by their key alone', async () => {
    const { alice, bob } = await open('openai-chat', []);
    const made = await alice.conversations.create({ metadata: { topic: 'demo' } });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'demo' } });
    expect(await alice.conversations.retrieve(made.id)).toEqual(made);
    const changed = await alice.conversations.update(made.id, { metadata: { topic: 'other' } });
    expect(changed).toEqual({ ...made, metadata: { topic: 'other' } });
    const added = await alice.conversations.items.create(made.id, {
      items: [
        { type: 'message', role: 'user', content: 'One' },
        { type: 'message', role: 'assistant', content: 'Two' },
      ],
    });
    expect(added.data).toMatchObject([{ role: 'user' }, { role: 'assistant', content: [{ text: 'Two' }] }]);
    const [one, two] = added.data.map((item) => ('id' in item ? (item.id ?? '') : ''));
    if (one === undefined || two === undefined) throw new Error('no ids');
    expect(await alice.conversations.items.retrieve(one, { conversation_id: made.id })).toMatchObject({
      id: one,
    });
    for (const attempt of [
      () => bob.conversations.retrieve(made.id),
      () => bob.conversations.update(made.id, { metadata: {} }),
      () => bob.conversations.delete(made.id),
      () => bob.conversations.items.list(made.id),
      () => bob.conversations.items.create(made.id, { items: [{ role: 'user', content: 'x' }] }),
      () => bob.conversations.items.retrieve(one, { conversation_id: made.id }),
      () => bob.conversations.items.delete(one, { conversation_id: made.id }),
      () => alice.conversations.retrieve('conv_unknown'),
      () => alice.conversations.items.retrieve('msg_unknown', { conversation_id: made.id }),
    ]) {
      await expect(attempt()).rejects.toMatchObject(NOT_THERE);
    }
    expect(await alice.conversations.items.delete(one, { conversation_id: made.id })).toEqual(changed);
    expect((await alice.conversations.items.list(made.id)).data).toMatchObject([{ id: two }]);
    expect(await alice.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    await expect(alice.conversations.retrieve(made.id)).rejects.toMatchObject(NOT_THERE);
  });

  it('are listed in pages', async () => {
    const { alice } = await open('openai-chat', []);
    const items = Array.from({ length: 20 }, (_, index) => ({ role: 'user', content: `${index}` }) as const);
    const { id } = await alice.conversations.create({ items });
    await alice.conversations.items.create(id, { items });
    const seen: unknown[] = [];
    for await (const item of alice.conversations.items.list(id, { order: 'asc', limit: 7 }))
      seen.push(item.id);
    expect(new Set(seen).size).toBe(40);
    expect(seen).toHaveLength(40);
  });

  it('refuse what is no item, no metadata, or too much, and say what is', async () => {
    const { alice } = await open('openai-chat', []);
    const { id } = await alice.conversations.create({});
    const many = Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' }) as const);
    await expect(alice.conversations.items.create(id, { items: many })).rejects.toMatchObject({
      status: 400,
      param: 'items',
    });
    await expect(alice.conversations.items.create(id, { items: [] })).rejects.toMatchObject({ status: 400 });
    await expect(
      alice.conversations.items.create(id, { items: [{ type: 'item_reference', id: 'msg_1' }] }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(
      alice.conversations.update(id, { metadata: { long: 'x'.repeat(513) } }),
    ).rejects.toMatchObject({ status: 400, param: 'metadata' });
    expect((await alice.conversations.items.list(id)).data).toEqual([]);
  });
});
