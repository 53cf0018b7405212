/** `background: true` with the official client, where no upstream does it itself: the gateway makes the answer. */
import type OpenAI from 'openai';
import type { Response } from 'openai/resources/responses/responses.js';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { startGatewayProcess, startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { gate, type Script, sse, startUpstream } from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { until } from '../support/until.js';
import { call, callsAnswer, chatStream, textAnswer } from '../support/wire.js';
import { repository } from './native-agent-harness.js';

const KEYS = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));

async function open(dialect: DialectName, script: Script) {
  const upstream = await startUpstream(script);
  const config = {
    server: { keys: KEYS },
    upstreams: { theirs: upstream.config(dialect) },
    models: { m: { upstream: 'theirs', model: 'their-model' } },
  };
  const gateway = await startTestGateway({ config });
  const client = (name: string, url = gateway.url) => openaiClient(url, { apiKey: `secret-of-${name}` });
  return { upstream, gateway, config, client, alice: client('alice'), bob: client('bob') };
}

/** Once it is over. */
const ended = (client: OpenAI, id: string): Promise<Response> =>
  until(async () => {
    const response = await client.responses.retrieve(id);
    return response.status !== 'queued' && response.status !== 'in_progress' && response;
  });

const ASK = { model: 'm', input: 'What colour?', background: true } as const;

describe.each(['openai-chat', 'anthropic-messages'] as const)(
  'an answer in the background on %s',
  (dialect) => {
    it('is made without a reader, and goes on as any other does', async () => {
      const { alice, upstream } = await open(dialect, [
        inDialect(textAnswer('It is blue.')),
        inDialect(textAnswer('Sure.')),
      ]);
      const begun = await alice.responses.create(ASK);
      expect(begun).toMatchObject({ status: 'queued', background: true, output: [] });
      const whole = await ended(alice, begun.id);
      expect(whole).toMatchObject({
        id: begun.id,
        status: 'completed',
        background: true,
        output_text: 'It is blue.',
      });
      expect((await alice.responses.inputItems.list(begun.id)).data).toMatchObject([{ role: 'user' }]);
      const next = await alice.responses.create({
        model: 'm',
        input: 'Sure?',
        previous_response_id: begun.id,
      });
      expect(next.output_text).toBe('Sure.');
      expect(upstream.requests[1]?.text).toContain('It is blue.');
      // It is over: cancelling changes nothing.
      expect((await alice.responses.cancel(begun.id)).status).toBe('completed');
      await alice.responses.delete(begun.id);
      await expect(alice.responses.retrieve(begun.id)).rejects.toMatchObject({ status: 404 });
    });

    it('is read from any point on, while it is made and after', async () => {
      const held = gate();
      const { alice } = await open(dialect, async (request, index) => {
        await held.pass();
        return inDialect(textAnswer('It is blue.'))(request, index);
      });
      const seen: { type: string; sequence_number: number }[] = [];
      let id = '';
      for await (const event of await alice.responses.create({ ...ASK, stream: true })) {
        seen.push(event);
        if (event.type !== 'response.queued') continue;
        id = event.response.id;
        // The reader leaves here; the answer goes on.
        break;
      }
      held.open();
      const rest = await alice.responses.retrieve(id, {
        stream: true,
        starting_after: seen.at(-1)?.sequence_number ?? 0,
      });
      for await (const event of rest) seen.push(event);
      expect(seen.map(({ sequence_number: sequence }) => sequence)).toEqual(seen.map((_, index) => index));
      expect(seen.at(-1)?.type).toBe('response.completed');
      expect((await ended(alice, id)).output_text).toBe('It is blue.');
      const again: string[] = [];
      for await (const event of await alice.responses.retrieve(id, { stream: true, starting_after: 1 }))
        again.push(event.type);
      expect(again).toEqual(seen.slice(2).map(({ type }) => type));
    });
  },
);

describe('an answer in the background', () => {
  it('is cancelled, and its upstream with it', async () => {
    const held = gate();
    const { alice, upstream } = await open('openai-chat', [
      sse([chatStream(textAnswer('It is')).slice(0, 200), held]),
    ]);
    const { id } = await alice.responses.create(ASK);
    await held.reached;
    expect((await alice.responses.cancel(id)).status).toBe('cancelled');
    expect(await upstream.requests[0]?.outcome).toBe('aborted');
    expect((await alice.responses.retrieve(id)).status).toBe('cancelled');
  });

  it('is known to nobody else, while it is made and after', async () => {
    const held = gate();
    const { alice, bob } = await open('openai-chat', [sse([held, chatStream(textAnswer('Secret.'))])]);
    const { id } = await alice.responses.create(ASK);
    await held.reached;
    const strangers = async (unknown: string) => {
      const missing = { status: 404, code: 'response_not_found' };
      await expect(bob.responses.retrieve(unknown)).rejects.toMatchObject(missing);
      await expect(bob.responses.retrieve(unknown, { stream: true })).rejects.toMatchObject(missing);
      await expect(bob.responses.cancel(unknown)).rejects.toMatchObject(missing);
      await expect(bob.responses.delete(unknown)).rejects.toMatchObject(missing);
    };
    await strangers(id);
    await strangers('resp_unknown');
    held.open();
    await ended(alice, id);
    await strangers(id);
  });

  it('that fails is kept as failed, with the reason', async () => {
    const { alice } = await open('openai-chat', [{ kind: 'reset' }, { kind: 'reset' }, { kind: 'reset' }]);
    const { id } = await alice.responses.create(ASK);
    expect(await ended(alice, id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: expect.any(String) },
    });
  });

  it('has to be stored', async () => {
    const { alice, upstream } = await open('openai-chat', []);
    await expect(alice.responses.create({ ...ASK, store: false })).rejects.toMatchObject({
      status: 400,
      param: 'store',
    });
    expect(upstream.requests).toEqual([]);
  });

  it('that was relayed when the gateway stopped is failed afterwards, and says so', async () => {
    const held = gate();
    const { alice, gateway, config, client } = await open('openai-chat', [sse([held])]);
    const { id } = await alice.responses.create(ASK);
    await held.reached;
    await gateway.close();
    const again = await startTestGateway({ config, folder: gateway.folder });
    const response = await client('alice', again.url).responses.retrieve(id);
    expect(response).toMatchObject({
      id,
      status: 'failed',
      background: true,
      error: { message: expect.any(String) },
    });
  });
});

describe('an agent in the background', () => {
  it('works without a reader, and goes on after a restart where it was', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const held = gate();
    const upstream = await startUpstream([
      inDialect(callsAnswer(call('Read', { file_path: repo.path('notes.txt') }, 'call_read'))),
      sse([held]),
      inDialect(textAnswer('It is 42.')),
    ]);
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root } },
      permissions: { mode: 'allow' },
      sandbox: 'off',
    };
    const gateway = await startTestGateway({ config });
    const asked = { model: 'coder', input: 'What is it?', background: true };
    const { id } = await openaiClient(gateway.url).responses.create(asked);
    await held.reached;
    await gateway.close();
    const again = await startTestGateway({ config, folder: gateway.folder });
    const response = await ended(openaiClient(again.url), id);
    expect(response).toMatchObject({ id, status: 'completed', background: true, output_text: 'It is 42.' });
    // The call before the restart was made once, and its result is what the model goes on from.
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.requests[2]?.text).toContain('the answer is 42');
  });
});

describe('a gateway that is killed', () => {
  it('shows what it relayed as failed, and goes on with an agent', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const relayed = gate();
    const working = gate();
    let tries = 0;
    const upstream = await startUpstream((request, index) => {
      if (request.text.includes('What colour?')) return sse([relayed]);
      if (!request.text.includes('the answer is 42')) {
        return inDialect(callsAnswer(call('Read', { file_path: repo.path('notes.txt') }, 'call_read')))(
          request,
          index,
        );
      }
      tries += 1;
      return tries === 1 ? sse([working]) : inDialect(textAnswer('It is 42.'))(request, index);
    });
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: {
        m: { upstream: 'scripted' },
        coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root },
      },
      permissions: { mode: 'allow' },
      sandbox: 'off',
    };
    const first = await startGatewayProcess({ config });
    const client = openaiClient(first.url);
    const plain = await client.responses.create(ASK);
    const agent = await client.responses.create({ model: 'coder', input: 'What is it?', background: true });
    await Promise.all([relayed.reached, working.reached]);
    await first.kill();
    const second = await startGatewayProcess({ config, folder: first.folder });
    const again = openaiClient(second.url);
    expect(await again.responses.retrieve(plain.id)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('Send the request again') },
    });
    expect(await ended(again, agent.id)).toMatchObject({ status: 'completed', output_text: 'It is 42.' });
  });
});
