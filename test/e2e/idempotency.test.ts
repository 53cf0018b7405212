/** `Idempotency-Key` on every route: a request that is sent again is answered once. */
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { startGatewayProcess, startTestGateway, type TestGateway } from '../support/gateway.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import {
  eventByEvent,
  type Gate,
  gate,
  type ScriptedUpstream,
  type ScriptFunction,
  startUpstream,
} from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { callAnswer, type Scripted, textAnswer } from '../support/wire.js';

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};
/** Everything after the first event waits. */
const heldAfterFirst = (scripted: Scripted, hold: Gate): ScriptFunction =>
  inDialect(scripted, {
    pieces: (stream) => {
      const [first = '', ...rest] = eventByEvent(stream);
      return [first, ...rest.slice(0, 3), hold, ...rest.slice(3)];
    },
  });

interface Asked {
  status: number;
  headers: Headers;
  text: string;
}

interface AskOptions {
  key?: string;
  stream?: boolean;
  content?: string;
  fields?: object;
  credential?: string;
  signal?: AbortSignal;
}

function bodyOf(dialect: DialectName, { stream = false, content = 'hi', fields }: AskOptions): object {
  const messages = [{ role: 'user', content }];
  return {
    model: 'm',
    ...(dialect === 'openai-responses' ? { input: messages } : { messages }),
    ...(dialect === 'anthropic-messages' ? { max_tokens: 100 } : {}),
    ...(stream ? { stream } : {}),
    ...fields,
  };
}

const request = (
  { url }: Pick<TestGateway, 'url'>,
  dialect: DialectName,
  options: AskOptions = {},
): Promise<Response> =>
  fetch(url + PATHS[dialect], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
      ...(options.credential === undefined ? {} : { authorization: `Bearer ${options.credential}` }),
    },
    body: JSON.stringify(bodyOf(dialect, options)),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });

async function ask(
  gateway: Pick<TestGateway, 'url'>,
  dialect: DialectName,
  options: AskOptions = {},
): Promise<Asked> {
  const response = await request(gateway, dialect, options);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function start(
  egress: DialectName,
  script: readonly ScriptFunction[],
  rest: object = {},
): Promise<{ gateway: TestGateway; upstream: ScriptedUpstream; config: object }> {
  const upstream = await startUpstream(script);
  const config = {
    upstreams: { scripted: upstream.config(egress) },
    models: { '*': { upstream: 'scripted', model: 'up' } },
    ...rest,
  };
  return { gateway: await startTestGateway({ config }), upstream, config };
}

/** The client's dialect, and the upstream's: translated, or as bytes. */
const LANES = DIALECT_NAMES.flatMap((ingress) =>
  DIALECT_NAMES.map((egress) => [ingress, egress] as const),
).filter(([ingress, egress]) => ingress === egress || egress === 'openai-chat' || ingress === 'openai-chat');

describe.each(LANES)('an answer under an Idempotency-Key, %s on %s', (ingress, egress) => {
  const answer = callAnswer('lookup', { city: 'Zürich 苏黎世' }, { callId: 'call_1' });

  it('is answered once, whole and streamed', async () => {
    const { gateway, upstream } = await start(egress, [inDialect(answer), inDialect(answer)]);
    const whole = await ask(gateway, ingress, { key: 'k1' });
    expect(whole.status).toBe(200);
    expect(whole.headers.get('idempotent-replayed')).toBeNull();
    const again = await ask(gateway, ingress, { key: 'k1' });
    expect(again.status).toBe(200);
    expect(JSON.parse(again.text)).toEqual(JSON.parse(whole.text));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-toolgate-upstream')).toBe('scripted');

    const streamed = await ask(gateway, ingress, { key: 'k2', stream: true });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    const replayed = await ask(gateway, ingress, { key: 'k2', stream: true });
    expect(saidIn(ingress, replayed.text)).toEqual(saidIn(ingress, streamed.text));
    expect(upstream.requests).toHaveLength(2);
  });

  it('is repeated in the form that the repeat asks for', async () => {
    const { gateway, upstream } = await start(egress, [inDialect(answer), inDialect(answer)]);
    const whole = await ask(gateway, ingress, { key: 'k1' });
    const streamed = await ask(gateway, ingress, { key: 'k1', stream: true });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    expect(saidIn(ingress, streamed.text)).toMatchObject({
      calls: ['call_1'],
      input: { city: 'Zürich 苏黎世' },
    });
    expect(saidIn(ingress, streamed.text).id).toBe(JSON.parse(whole.text).id);

    const first = await ask(gateway, ingress, { key: 'k2', stream: true });
    const then = await ask(gateway, ingress, { key: 'k2' });
    expect(then.headers.get('content-type')).toContain('application/json');
    expect(JSON.parse(then.text).id).toBe(saidIn(ingress, first.text).id);
    expect(then.text).toContain('Zürich 苏黎世');
    expect(upstream.requests).toHaveLength(2);
  });

  it('is joined while it is being answered', async () => {
    const hold = gate();
    const { gateway, upstream } = await start(egress, [heldAfterFirst(answer, hold)]);
    const first = ask(gateway, ingress, { key: 'k1', stream: true });
    await hold.reached;
    const others = [true, true, false].map((stream) => ask(gateway, ingress, { key: 'k1', stream }));
    hold.open();
    const [one, two, three, whole] = await Promise.all([first, ...others]);
    expect(saidIn(ingress, two?.text ?? '')).toEqual(saidIn(ingress, one.text));
    expect(saidIn(ingress, three?.text ?? '')).toEqual(saidIn(ingress, one.text));
    expect(JSON.parse(whole?.text ?? '').id).toBe(saidIn(ingress, one.text).id);
    expect(upstream.requests).toHaveLength(1);
  });

  it('goes on for the second when the first client leaves', async () => {
    const hold = gate();
    const { gateway, upstream } = await start(egress, [heldAfterFirst(answer, hold)]);
    const leaving = new AbortController();
    const first = await request(gateway, ingress, { key: 'k1', stream: true, signal: leaving.signal });
    await hold.reached;
    const second = await request(gateway, ingress, { key: 'k1', stream: true });
    leaving.abort();
    await expect(first.text()).rejects.toThrow();
    hold.open();
    expect(saidIn(ingress, await second.text())).toMatchObject({ calls: ['call_1'] });
    const third = await ask(gateway, ingress, { key: 'k1', stream: true });
    expect(third.headers.get('idempotent-replayed')).toBe('true');
    expect(upstream.requests).toHaveLength(1);
  });

  it('is not kept when it fails, so that it can be tried again', async () => {
    const { gateway, upstream } = await start(egress, [
      errorInDialect(400, 'invalid_request_error', 'No.'),
      inDialect(answer, { end: 'truncate', pieces: (stream) => eventByEvent(stream).slice(0, 5) }),
      inDialect(answer),
    ]);
    expect((await ask(gateway, ingress, { key: 'k1' })).status).toBe(400);
    const broken = await ask(gateway, ingress, { key: 'k1', stream: true });
    expect(broken.text).toContain('error');
    const right = await ask(gateway, ingress, { key: 'k1', stream: true });
    expect(saidIn(ingress, right.text)).toMatchObject({ calls: ['call_1'] });
    expect(upstream.requests).toHaveLength(3);
  });
});

/** What a client makes of a stream. */
function saidIn(dialect: DialectName, text: string): { id: string; calls: string[]; input: unknown } {
  const events = text
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data));
  switch (dialect) {
    case 'anthropic-messages': {
      expect(events.at(-1)?.type).toBe('message_stop');
      const json = events.map((event) => event.delta?.partial_json ?? '').join('');
      const calls = events.flatMap((event) => event.content_block?.id ?? []);
      return { id: events[0]?.message.id, calls, input: JSON.parse(json) };
    }
    case 'openai-chat': {
      expect(text).toMatch(/\[DONE\]\n\n$/);
      const deltas = events.flatMap((event) => event.choices[0]?.delta.tool_calls ?? []);
      const json = deltas.map((delta) => delta.function?.arguments ?? '').join('');
      return {
        id: events[0]?.id,
        calls: deltas.flatMap((delta) => delta.id ?? []),
        input: JSON.parse(json),
      };
    }
    case 'openai-responses': {
      const { type, response } = events.at(-1);
      expect(type).toBe('response.completed');
      const calls = response.output.filter((item: { type: string }) => item.type === 'function_call');
      return {
        id: response.id,
        calls: calls.map((call: { call_id: string }) => call.call_id),
        input: JSON.parse(calls[0].arguments),
      };
    }
  }
}

async function usageIn({ url, consoleUrl }: TestGateway): Promise<unknown> {
  const token = new URL(consoleUrl).hash.replace('#token=', '');
  const response = await fetch(`${url}/api/usage`, { headers: { authorization: `Bearer ${token}` } });
  return JSON.parse(await response.text()).data;
}

describe('an Idempotency-Key', () => {
  const hello = inDialect(textAnswer('Hello.'));

  it.each(DIALECT_NAMES)('that stands for another request is refused in the shape of %s', async (dialect) => {
    const { gateway, upstream } = await start(dialect, [hello]);
    await ask(gateway, dialect, { key: 'k1' });
    const other = await ask(gateway, dialect, { key: 'k1', content: 'something else' });
    expect(other.status).toBe(422);
    const { error } = JSON.parse(other.text);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringMatching(/Idempotency-Key: the key was used for another request/),
    });
    expect(other.text).toContain('idempotency_key_reused');
    expect(upstream.requests).toHaveLength(1);
  });

  it('is refused for another request also while the first is being answered', async () => {
    const hold = gate();
    const { gateway } = await start('openai-chat', [heldAfterFirst(textAnswer(['a', 'b']), hold)]);
    const first = ask(gateway, 'openai-chat', { key: 'k1', stream: true });
    await hold.reached;
    expect((await ask(gateway, 'openai-chat', { key: 'k1', content: 'other' })).status).toBe(422);
    hold.open();
    expect((await first).status).toBe(200);
  });

  it('means the same for the same body in another order of its fields', async () => {
    const { gateway, upstream } = await start('openai-chat', [hello]);
    await ask(gateway, 'openai-chat', { key: 'k1', fields: { temperature: 1, user: 'x' } });
    const again = await ask(gateway, 'openai-chat', { key: 'k1', fields: { user: 'x', temperature: 1 } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(upstream.requests).toHaveLength(1);
  });

  it('is the key of one credential', async () => {
    const keys = ['alice', 'bob'].map((name) => ({ key: `secret-of-${name}`, name, scopes: ['call'] }));
    const { gateway, upstream } = await start('openai-chat', [hello, hello], { server: { keys } });
    await ask(gateway, 'openai-chat', { key: 'k1', credential: 'secret-of-alice' });
    const other = await ask(gateway, 'openai-chat', { key: 'k1', credential: 'secret-of-bob' });
    expect(other.headers.get('idempotent-replayed')).toBeNull();
    expect(upstream.requests).toHaveLength(2);
  });

  it.each(['', 'two words', 'x'.repeat(256)])('that is %j is refused', async (key) => {
    const { gateway, upstream } = await start('openai-chat', []);
    const { status, text } = await ask(gateway, 'openai-chat', { key });
    expect(status).toBe(400);
    expect(text).toContain('invalid_idempotency_key');
    expect(upstream.requests).toHaveLength(0);
  });

  it('does not count the figures of an answer twice', async () => {
    const { gateway } = await start('openai-chat', [
      inDialect({ ...textAnswer('Hi.'), usage: { input: 100, output: 7 } }),
    ]);
    for (const _ of [1, 2, 3]) {
      const { text } = await ask(gateway, 'anthropic-messages', { key: 'k1' });
      expect(JSON.parse(text).usage).toMatchObject({ input_tokens: 100, output_tokens: 7 });
    }
    expect(await usageIn(gateway)).toMatchObject([{ requests: 3, input_tokens: 100, output_tokens: 7 }]);
  });

  it('counts the figures of a shared answer once', async () => {
    const hold = gate();
    const usage = { input: 100, output: 7 };
    const { gateway } = await start('openai-chat', [
      heldAfterFirst({ ...textAnswer(['a', 'b']), usage }, hold),
    ]);
    const first = ask(gateway, 'anthropic-messages', { key: 'k1', stream: true });
    await hold.reached;
    const second = await request(gateway, 'anthropic-messages', { key: 'k1', stream: true });
    hold.open();
    await Promise.all([first, second.text()]);
    expect(await usageIn(gateway)).toMatchObject([{ requests: 2, input_tokens: 100, output_tokens: 7 }]);
  });

  it('leads to the stored response that a client goes on from', async () => {
    const { gateway, upstream } = await start('openai-chat', [
      inDialect(textAnswer('It is 42.')),
      inDialect(textAnswer('As I said.')),
    ]);
    const openai = openaiClient(gateway.url);
    const ask = () =>
      openai.responses.create({ model: 'm', input: 'What is it?' }, { headers: { 'idempotency-key': 'k1' } });
    const [first, second] = [await ask(), await ask()];
    expect(second.id).toBe(first.id);
    expect(await openai.responses.retrieve(second.id)).toMatchObject({ output_text: 'It is 42.' });
    await openai.responses.create({ model: 'm', input: 'Again?', previous_response_id: second.id });
    expect(upstream.requests[1]?.text).toContain('It is 42.');
  });
});

describe('a request without an Idempotency-Key', () => {
  it('is answered each time', async () => {
    const { gateway, upstream } = await start('openai-chat', [
      inDialect(textAnswer('One.')),
      inDialect(textAnswer('Two.')),
    ]);
    expect((await ask(gateway, 'openai-chat')).text).toContain('One.');
    expect((await ask(gateway, 'openai-chat')).text).toContain('Two.');
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a gateway that is killed', () => {
  it('still has the answers it has given, and does not wait for what its dead process began', async () => {
    const hold = gate();
    const upstream = await startUpstream([
      inDialect(textAnswer('The first answer.')),
      heldAfterFirst(textAnswer(['never', ' seen']), hold),
      inDialect(textAnswer('The second answer.')),
    ]);
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { '*': { upstream: 'scripted' } },
    };
    const before = await startGatewayProcess({ config });
    const first = await ask(before, 'anthropic-messages', { key: 'k1' });
    const cut = ask(before, 'anthropic-messages', { key: 'k2', stream: true, content: 'two' });
    const isCut = expect(cut).rejects.toThrow();
    await hold.reached;
    await before.kill();
    await isCut;
    const after = await startGatewayProcess({ config, folder: before.folder });
    const again = await ask(after, 'anthropic-messages', { key: 'k1' });
    expect(JSON.parse(again.text)).toEqual(JSON.parse(first.text));
    const second = await ask(after, 'anthropic-messages', { key: 'k2', content: 'two' });
    expect(second.text).toContain('The second answer.');
    expect(upstream.requests).toHaveLength(3);
  });

  it('shares what it answers with another on the same store', async () => {
    const hold = gate();
    const upstream = await startUpstream([heldAfterFirst(textAnswer(['Said', ' once.']), hold)]);
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { '*': { upstream: 'scripted' } },
    };
    const one = await startGatewayProcess({ config });
    const other = await startGatewayProcess({ config, folder: one.folder });
    const first = ask(one, 'openai-chat', { key: 'k1', stream: true });
    await hold.reached;
    const second = ask(other, 'openai-chat', { key: 'k1' });
    hold.open();
    const [streamed, whole] = await Promise.all([first, second]);
    expect(JSON.parse(whole.text).choices[0].message.content).toBe('Said once.');
    expect(streamed.text).toContain('Said');
    expect(upstream.requests).toHaveLength(1);
  });
});
