import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { runCommand, startGatewayProcess, startTestGateway, type TestGateway } from '../support/gateway.js';
import { jsonRequest, openAndAbandon, sendRaw } from '../support/raw-http.js';
import { inDialect } from '../support/scripted-answers.js';
import { eventByEvent, gate, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { parseSse, validateAnthropicStream, validateChatStream } from '../support/sse.js';
import { call, callsAnswer, chatStream, textAnswer } from '../support/wire.js';

const user = [{ role: 'user' as const, content: 'Hello' }];

const STARTS: Readonly<Record<string, (options: { config?: object | string }) => Promise<TestGateway>>> = {
  'in this process': startTestGateway,
  'as a process': startGatewayProcess,
};

describe.each(Object.entries(STARTS))('a gateway %s', (_, start) => {
  it('answers the official clients with the demo model', async () => {
    const gateway = await start({});
    const message = await anthropicClient(gateway.url).messages.create({
      model: 'any-name',
      max_tokens: 100,
      messages: user,
    });
    expect(message.content[0]).toMatchObject({ type: 'text' });
    const completion = await openaiClient(gateway.url).chat.completions.create({
      model: 'other',
      messages: user,
    });
    expect(completion.choices[0]?.finish_reason).toBe('stop');
  });

  it('takes a configuration as an object or as text', async () => {
    const upstream = await startUpstream(inDialect(textAnswer('from upstream')));
    const config = {
      upstreams: { up: upstream.config('openai-chat') },
      models: { m: { upstream: 'up' } },
    };
    const yaml = `upstreams:\n  up: ${JSON.stringify(config.upstreams.up)}\nmodels:\n  m: { upstream: up }\n`;
    for (const given of [config, yaml]) {
      const gateway = await start({ config: given });
      const answer = await openaiClient(gateway.url).chat.completions.create({ model: 'm', messages: user });
      expect(answer.choices[0]?.message.content).toBe('from upstream');
    }
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer upstream-secret');
  });

  it('keeps its store in its own folder and closes', async () => {
    const gateway = await start({});
    expect(existsSync(join(gateway.folder, '.toolgate', 'toolgate.db'))).toBe(true);
    await gateway.close();
    await expect(sendRaw(gateway.url, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('streams through a gateway', () => {
  it('come out valid in both dialects', async () => {
    const scripted = callsAnswer(
      call('read', { path: 'a' }, 'call_1'),
      call('write', { path: 'b' }, 'call_2'),
    );
    const upstream = await startUpstream(inDialect(scripted, { interleave: true }));
    const gateway = await startTestGateway({
      config: { upstreams: { up: upstream.config('openai-chat') }, models: { m: { upstream: 'up' } } },
    });
    const body = { model: 'm', max_tokens: 100, stream: true, messages: user };
    const anthropic = await sendRaw(gateway.url, jsonRequest(gateway.url, '/v1/messages', body));
    expect(validateAnthropicStream(parseSse(anthropic.body)).content).toMatchObject([
      { type: 'tool_use', name: 'read', input: { path: 'a' } },
      { type: 'tool_use', name: 'write', input: { path: 'b' } },
    ]);
    const chat = await sendRaw(gateway.url, jsonRequest(gateway.url, '/v1/chat/completions', body));
    expect(validateChatStream(parseSse(chat.body)).calls).toMatchObject([
      { name: 'read', arguments: '{"path":"a"}' },
      { name: 'write', arguments: '{"path":"b"}' },
    ]);
  });

  it('end at the upstream when the client leaves', async () => {
    const held = gate();
    const [first = '', ...rest] = eventByEvent(chatStream(textAnswer(['Hello', ' world'])));
    const upstream = await startUpstream([sse([first, ...rest.slice(0, 1), held])]);
    const gateway = await startTestGateway({
      config: { upstreams: { up: upstream.config('openai-chat') }, models: { m: { upstream: 'up' } } },
    });
    const body = { model: 'm', max_tokens: 100, stream: true, messages: user };
    await openAndAbandon(gateway.url, jsonRequest(gateway.url, '/v1/messages', body), { after: 'Hello' });
    const request = await upstream.nextRequest();
    await request.aborted;
    await upstream.whenIdle();
    expect(upstream.openRequests).toBe(0);
  });
});

describe('the command', () => {
  it('prints one line with both addresses and ends with 0 on SIGTERM', async () => {
    const gateway = await startGatewayProcess();
    expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(gateway.consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=\S+$/);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it('runs with other words and gives what it printed', async () => {
    const run = await runCommand({ args: ['--version'] });
    expect(await run.exited).toEqual({ code: 0, signal: null });
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(run.stdout).toBe(`${version}\n`);
    expect(run.stderr).toBe('');
  });

  it('tells what was printed when it does not come to listen', async () => {
    await expect(startGatewayProcess({ config: 'server: { prt: 1 }' })).rejects.toThrow(/code 2[\s\S]*prt/);
  });

  it('starts again in the folder of another', async () => {
    const { path } = await tempFolder();
    const first = await startGatewayProcess({ folder: path });
    await first.kill();
    const second = await startGatewayProcess({ folder: path });
    expect(
      (await sendRaw(second.url, `GET /healthz HTTP/1.1\r\nhost: ${new URL(second.url).host}\r\n\r\n`))
        .status,
    ).toBe(200);
  });
});
