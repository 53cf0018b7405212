/** What every route says of an agent's conversation: refusals in its own shape, keys, what was done. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { newSessionId } from '../../src/sessions/persistence/session-factory.js';
import { startGatewayProcess, startTestGateway, type TestGateway } from '../support/gateway.js';
import { jsonRequest } from '../support/raw-http.js';
import { answer } from '../support/replies.js';
import { inDialect } from '../support/scripted-answers.js';
import { gate, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { repository, startAgent } from './native-agent-harness.js';

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const LOOKUP: Readonly<Record<DialectName, object>> = {
  'anthropic-messages': { name: 'lookup', input_schema: PARAMETERS },
  'openai-chat': { type: 'function', function: { name: 'lookup', parameters: PARAMETERS } },
  'openai-responses': { type: 'function', name: 'lookup', parameters: PARAMETERS },
};

interface Asked {
  status: number;
  headers: Headers;
  text: string;
}

interface AskOptions {
  headers?: Record<string, string>;
  model?: string;
  stream?: boolean;
  fields?: object;
}

/** `said`: what the user says, or the messages in the dialect's own shape. */
async function ask(
  { url }: Pick<TestGateway, 'url'>,
  dialect: DialectName,
  said: string | readonly object[],
  { headers = {}, model = 'coder', stream = false, fields = {} }: AskOptions = {},
): Promise<Asked> {
  const messages = typeof said === 'string' ? [{ role: 'user', content: said }] : said;
  const body = {
    model,
    ...(dialect === 'openai-responses' ? { input: messages } : { messages }),
    ...(dialect === 'anthropic-messages' ? { max_tokens: 1000 } : {}),
    ...(stream ? { stream } : {}),
    ...fields,
  };
  const response = await fetch(url + PATHS[dialect], {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** As the console signs in. */
const bearer = ({ consoleUrl }: Pick<TestGateway, 'consoleUrl'>): string =>
  `Bearer ${new URL(consoleUrl).hash.replace('#token=', '')}`;

const metricsOf = async (gateway: TestGateway): Promise<string> =>
  (await fetch(`${gateway.url}/metrics`, { headers: { authorization: bearer(gateway) } })).text();

function resultFor(dialect: DialectName, id: string, text: string): object {
  switch (dialect) {
    case 'anthropic-messages':
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] };
    case 'openai-chat':
      return { role: 'tool', tool_call_id: id, content: text };
    case 'openai-responses':
      return { type: 'function_call_output', call_id: id, output: text };
  }
}

/** The error in the shape of the dialect, with its finer code. */
function shapeOf(dialect: DialectName, type: string, code: string, message: RegExp): object {
  const text = expect.stringMatching(message);
  return dialect === 'anthropic-messages'
    ? {
        type: 'error',
        error: { type, message: text, details: { error_code: code } },
        request_id: expect.stringMatching(/^req_/),
      }
    : { error: { type: 'invalid_request_error', code, message: text } };
}

const sessionOf = ({ headers }: Asked): string => headers.get('x-session-id') ?? '';

describe.each(DIALECT_NAMES)('%s refuses in its own shape', (dialect) => {
  it('a session that is not there', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, []);
    const gone = newSessionId();
    for (const stream of [false, true]) {
      const headers = { 'x-session-id': gone };
      const { status, text } = await ask(gateway, dialect, 'hi', { headers, stream });
      expect(status).toBe(404);
      expect(JSON.parse(text)).toMatchObject(
        shapeOf(
          dialect,
          'not_found_error',
          'session_not_found',
          new RegExp(`"${gone}".*without X-Session-ID`),
        ),
      );
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('a session that is busy, and one of another folder', async () => {
    const repo = await repository({ a: 'a' });
    const other = await repository({ b: 'b' });
    const hold = gate();
    const upstream = await startUpstream([
      inDialect(textAnswer('One.')),
      inDialect(textAnswer(['Two', '.']), {
        pieces: (text) => {
          const [head = '', ...rest] = text.split(/(?<=\n\n)/);
          return [head, hold, ...rest];
        },
      }),
    ]);
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: Object.fromEntries(
        [
          ['coder', repo.root],
          ['elsewhere', other.root],
        ].map(([name, cwd]) => [name, { engine: 'native', upstream: 'scripted', model: 'm', cwd }]),
      ),
      sandbox: 'off',
    };
    const gateway = await startGatewayProcess({ config });
    const headers = { 'x-session-id': sessionOf(await ask(gateway, dialect, 'one')) };
    const running = ask(gateway, dialect, 'two', { headers, stream: true });
    running.catch(() => {});
    await hold.reached;
    const busy = await ask(gateway, dialect, 'three', { headers });
    expect(busy.status).toBe(409);
    expect(busy.headers.get('x-should-retry')).toBeNull();
    expect(JSON.parse(busy.text)).toMatchObject(
      shapeOf(dialect, 'conflict_error', 'session_busy', /being answered\. Wait/),
    );
    hold.open();
    expect((await running).status).toBe(200);
    const elsewhere = await ask(gateway, dialect, 'four', { headers, model: 'elsewhere' });
    expect(elsewhere.status).toBe(409);
    // The official clients would ask twice more.
    expect(elsewhere.headers.get('x-should-retry')).toBe('false');
    expect(JSON.parse(elsewhere.text)).toMatchObject(
      shapeOf(dialect, 'conflict_error', 'session_of_another_model', /another folder/),
    );
  });

  it('a result for a call that nobody made, and changes nothing', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(call('lookup', { city: 'Bern' }, 'call_to_lookup')),
      textAnswer('Done.'),
    ]);
    const first = await ask(gateway, dialect, 'go', { fields: { tools: [LOOKUP[dialect]] } });
    const headers = { 'x-session-id': sessionOf(first) };
    const wrong = await ask(gateway, dialect, [resultFor(dialect, 'call_made_up', 'x')], { headers });
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.text)).toMatchObject(
      shapeOf(dialect, 'invalid_request_error', 'unknown_tool_call', /"call_made_up"/),
    );
    const [, id = ''] = /"(?:id|call_id)":"(\w*call_to_lookup\w*)"/.exec(first.text) ?? [];
    const right = await ask(gateway, dialect, [resultFor(dialect, id, '42')], { headers });
    expect(right).toMatchObject({ status: 200, text: expect.stringContaining('Done.') });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe.each(DIALECT_NAMES)('an Idempotency-Key on an agent, over %s', (dialect) => {
  it('runs its tools once, and gives the same answer of the same session', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(call('Bash', { command: 'echo x >> made', description: 'x' }, 'c1')),
      textAnswer('Made.'),
      textAnswer('Another.'),
    ]);
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask(gateway, dialect, 'make it', { headers });
    const [again, streamed] = [
      await ask(gateway, dialect, 'make it', { headers }),
      await ask(gateway, dialect, 'make it', { headers, stream: true }),
    ];
    expect(JSON.parse(again.text)).toEqual(JSON.parse(first.text));
    expect(streamed.text).toContain('Made.');
    for (const answer of [again, streamed]) {
      expect(sessionOf(answer)).toBe(sessionOf(first));
      expect(answer.headers.get('x-toolgate-attach')).toBe('new');
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
    }
    expect(await repo.read('made')).toBe('x\n');
    const other = await ask(gateway, dialect, 'make it', { headers: { 'idempotency-key': 'k2' } });
    expect(other.text).toContain('Another.');
    expect(sessionOf(other)).not.toBe(sessionOf(first));
    expect(upstream.requests).toHaveLength(3);
  });
});

describe('an Idempotency-Key on an agent', () => {
  it('goes on with the turn of a gateway that was killed, and then stands for its answer', async () => {
    const repo = await repository({ a: 'a' });
    const hold = gate();
    const upstream = await startUpstream([
      inDialect(callsAnswer(call('Bash', { command: 'echo x >> made', description: 'x' }, 'c1'))),
      async (request, index) => {
        await hold.pass();
        return inDialect(textAnswer('lost'))(request, index);
      },
      inDialect(textAnswer('Made.')),
    ]);
    const config = {
      upstreams: { scripted: upstream.config('openai-chat') },
      models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root } },
      permissions: { mode: 'allow' },
      sandbox: 'off',
    };
    const headers = { 'idempotency-key': 'k1' };
    const before = await startGatewayProcess({ config });
    const cut = expect(ask(before, 'openai-chat', 'make it', { headers })).rejects.toThrow();
    await hold.reached;
    await before.kill();
    await cut;
    hold.open();
    const after = await startGatewayProcess({ config, folder: before.folder });
    const answered = await ask(after, 'openai-chat', 'make it', { headers });
    expect(answered.text).toContain('Made.');
    const again = await ask(after, 'openai-chat', 'make it', { headers });
    expect(JSON.parse(again.text)).toEqual(JSON.parse(answered.text));
    expect(await repo.read('made')).toBe('x\n');
    expect(upstream.requests).toHaveLength(3);
  });
});

describe.each(DIALECT_NAMES)('x-toolgate-events on an agent, over %s', (dialect) => {
  it('tells its steps, its tools and what was handed back', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const { gateway } = await startAgent('openai-chat', repo.root, [
      callsAnswer(
        call('Bash', { command: 'cat notes.txt', description: 'x' }, 'c1'),
        call('lookup', { city: 'Bern' }, 'c2'),
      ),
    ]);
    const answer = await ask(gateway, dialect, 'go', {
      stream: true,
      headers: { 'x-toolgate-events': '1' },
      fields: { tools: [LOOKUP[dialect]] },
    });
    const told = [...answer.text.matchAll(/^: toolgate (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['model_start', 'usage', 'tool_start', 'tool_result', 'handed_back']),
    );
    expect(told.every(({ session }) => session === sessionOf(answer))).toBe(true);
    expect(told.find(({ type }) => type === 'tool_result')).toMatchObject({
      name: 'Bash',
      outcome: 'done',
      content: [{ type: 'text', text: expect.stringContaining('the answer is 42') }],
    });
    expect(answer.text.replaceAll(/^: toolgate .*$/gm, '')).not.toContain('the answer is 42');
  });
});

describe('x-toolgate-events on an agent', () => {
  it('names the approval that a call waits for, by which it can be answered', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent(
      'openai-chat',
      repo.root,
      [callsAnswer(call('Bash', { command: 'touch made', description: 'x' }, 'c1')), textAnswer('Done.')],
      { rest: { permissions: { mode: 'ask', unattended: 'wait' } } },
    );
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-toolgate-events': '1' },
      body: JSON.stringify({
        model: 'coder',
        max_tokens: 1000,
        stream: true,
        messages: [{ role: 'user', content: 'go' }],
      }),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        const step = await reader?.read();
        if (step?.done !== false) throw new Error(`The stream ended: ${text}`);
        text += step.value;
      }
    };
    const [, id] = await until(/"type":"tool_waiting".*"approval":"([\w-]+)"/);
    const authorization = bearer(gateway);
    const shown = await fetch(`${gateway.url}/api/approvals/${id}`, { headers: { authorization } });
    const { digest, tool } = JSON.parse(await shown.text());
    expect(tool).toBe('Bash');
    await fetch(`${gateway.url}/api/approvals/${id}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'allow', digest }),
    });
    await until(/event: message_stop/);
    expect(await repo.read('made')).toBe('');
  });
});

describe('an upstream that fails', () => {
  it('is answered with the conversation that it was about, which goes on with the same request', async () => {
    const repo = await repository({ a: 'a' });
    const refusal = '{"error":{"message":"no","type":"invalid_request_error"}}';
    const upstream = await startUpstream([
      inDialect(textAnswer('Hello.')),
      () => answer(refusal, { status: 400 }),
      inDialect(textAnswer('Again.')),
    ]);
    const gateway = await startTestGateway({
      config: {
        upstreams: { scripted: upstream.config('openai-chat') },
        models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root } },
      },
    });
    const headers = { 'x-session-id': sessionOf(await ask(gateway, 'openai-chat', 'hi')) };
    const failed = await ask(gateway, 'openai-chat', 'more', { headers });
    expect(failed.status).toBe(400);
    expect(sessionOf(failed)).toBe(headers['x-session-id']);
    const again = await ask(gateway, 'openai-chat', 'more', { headers });
    expect(again.text).toContain('Again.');
    const traces = await fetch(`${gateway.url}/api/traces?errors=1&session=${headers['x-session-id']}`, {
      headers: { authorization: bearer(gateway) },
    });
    const { data } = JSON.parse(await traces.text());
    expect(data.map(({ id }: { id: string }) => id)).toEqual([failed.headers.get('x-request-id')]);
  });
});

describe('an answer that its client leaves before it has taken it', () => {
  it.each(['reset', 'close'] as const)('is there for the same request: %s', async (how) => {
    const repo = await repository({ a: 'a' });
    // More than the buffers between the two hold.
    const long = 'All of it. '.repeat(1024 * 1024);
    const { gateway, upstream } = await startAgent('openai-chat', repo.root, [
      callsAnswer(call('Bash', { command: 'echo ran >> made', description: 'x' }, 'c1')),
      textAnswer(long),
    ]);
    const body = { model: 'coder', max_tokens: 1000, messages: [{ role: 'user', content: 'make it' }] };
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(jsonRequest(gateway.url, '/v1/messages', body));
    await once(socket, 'readable');
    const left = once(socket, 'close');
    if (how === 'reset') socket.resetAndDestroy();
    else socket.destroy();
    await left;
    await until(async () => (await metricsOf(gateway)).includes('toolgate_open_requests 1\n'));
    const again = await ask(gateway, 'anthropic-messages', 'make it');
    expect(again.status).toBe(200);
    expect(again.text.length).toBeGreaterThan(long.length);
    expect(upstream.requests).toHaveLength(2);
    expect(await repo.read('made')).toBe('ran\n');
  });
});
