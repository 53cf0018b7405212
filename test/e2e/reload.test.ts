/** The configuration is loaded again while the gateway runs: by SIGHUP, and by `POST /api/reload`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { EventReader } from '../support/event-reader.js';
import { type GatewayProcess, runCommand, startGatewayProcess } from '../support/gateway.js';
import { newestServer } from '../support/mcp-servers.js';
import { freePort, gate, json, sse, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const ROOT = { key: 'root-key', name: 'root', scopes: ['call', 'admin'] };
const ALICE = { key: 'alice-key', name: 'alice' };

const piece = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const said = (content: string) =>
  json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

const write = (folder: string, config: object | string): Promise<void> =>
  writeFile(join(folder, 'toolgate.yaml'), typeof config === 'string' ? config : JSON.stringify(config));

const start = (config: object): Promise<GatewayProcess> => startGatewayProcess({ config, logLevel: 'info' });

const call = (url: string, path: string, key = 'root-key', body?: object): Promise<Response> =>
  fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const ask = (url: string, key: string, model: string, stream = false): Promise<Response> =>
  call(url, '/v1/chat/completions', key, { model, stream, messages: [{ role: 'user', content: 'Hi' }] });

const statusOf = async (answer: Promise<Response>): Promise<number> => {
  const { status, text } = await answer.then(async (got) => ({ status: got.status, text: await got.text() }));
  expect(text).not.toBe('');
  return status;
};

interface Reloaded {
  changed: string[];
  restart: string[];
  error?: { message: string };
}

async function reload(url: string, key = 'root-key'): Promise<{ status: number; body: Reloaded }> {
  const answer = await call(url, '/api/reload', key, {});
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

it('SIGHUP takes keys, models and upstreams; a stream that runs keeps its upstream to the end', async () => {
  const held = gate();
  const old = await startUpstream([
    sse([piece({ content: 'begun ' }), held, piece({ content: 'and whole' }), piece({}, 'stop')]),
  ]);
  const fresh = await startUpstream(() => said('from the new one'));
  const gateway = await start({
    server: { keys: [ROOT, ALICE] },
    upstreams: { up: old.config('openai-chat') },
    models: { m: { upstream: 'up' } },
  });
  const running = ask(gateway.url, 'alice-key', 'm', true);
  await held.reached;
  await write(gateway.folder, {
    server: { keys: [ROOT, { key: 'bob-key', name: 'bob' }] },
    upstreams: { up: fresh.config('openai-chat') },
    models: { m: { upstream: 'up' }, added: { upstream: 'up' } },
  });
  gateway.signal('SIGHUP');
  await until(async () => (await statusOf(ask(gateway.url, 'bob-key', 'added'))) === 200);
  expect(await statusOf(ask(gateway.url, 'alice-key', 'm'))).toBe(401);
  expect(await (await ask(gateway.url, 'bob-key', 'm')).text()).toContain('from the new one');
  held.open();
  expect(await (await running).text()).toContain('and whole');
  expect(gateway.stderr).toContain('the configuration was reloaded');
  expect(gateway.running).toBe(true);
});

it('a key that loses `admin` loses the stream of everybody’s events', async () => {
  const boss = { key: 'boss-key', name: 'boss', scopes: ['call', 'approve', 'admin'] };
  const bystander = { key: 'other-key', name: 'other', scopes: ['call', 'approve', 'admin'] };
  const config = { server: { keys: [ROOT, boss, bystander] }, models: { demo: { upstream: 'demo' } } };
  const gateway = await start(config);
  const [events, others] = await Promise.all(
    [boss, bystander].map(({ key }) => EventReader.open(gateway.url, { key })),
  );
  const keys = [ROOT, { ...boss, scopes: ['call'] }, bystander];
  await write(gateway.folder, { ...config, server: { keys } });
  expect((await reload(gateway.url)).status).toBe(200);
  await events?.ended;
  expect(others?.over).toBe(false);
});

it('a wrong file changes nothing, and says where it is wrong as a start does', async () => {
  const gateway = await start({ server: { keys: [ROOT, ALICE] }, models: { demo: { upstream: 'demo' } } });
  for (const [wrong, where] of [
    ['server: { prot: 1 }\n', ':1:11  server.prot: unknown key. Did you mean `port`?'],
    ['models: { m: { upstream: nobody } }\n', 'models.m.upstream: expected the name of an upstream'],
    ['server: [\n', 'toolgate.yaml'],
    [`server: { keys: [{ key: "\${NOT_SET}" }] }\n`, 'NOT_SET'],
  ] as const) {
    await write(gateway.folder, wrong);
    const { status, body } = await reload(gateway.url);
    expect(status).toBe(422);
    expect(body.error?.message).toContain(where);
    expect(body.error?.message).toContain('Nothing was changed.');
    expect(await statusOf(ask(gateway.url, 'alice-key', 'demo'))).toBe(200);
  }
  gateway.signal('SIGHUP');
  await until(() => gateway.stderr.split('was not reloaded').length === 6);
  expect(gateway.running).toBe(true);
});

it('names what needs a restart, and takes the rest', async () => {
  const gateway = await start({ server: { keys: [ROOT] }, models: { demo: { upstream: 'demo' } } });
  await write(gateway.folder, {
    server: { keys: [ROOT], body_limit_mb: 1, drain_s: 1 },
    models: { demo: { upstream: 'demo' }, other: { upstream: 'demo' } },
    permissions: { mode: 'deny', unattended: 'wait' },
    store: 'sqlite:./elsewhere.db',
  });
  const { status, body } = await reload(gateway.url);
  expect([status, body]).toMatchObject([
    200,
    {
      changed: expect.arrayContaining(['models', 'permissions.mode']),
      restart: expect.arrayContaining([
        'server.body_limit_mb',
        'server.drain_s',
        'permissions.unattended',
        'store',
      ]),
    },
  ]);
  expect(body.changed).toHaveLength(2);
  const rules: unknown = await (await call(gateway.url, '/api/rules')).json();
  expect(rules).toMatchObject({ mode: 'deny' });
  expect(await statusOf(ask(gateway.url, 'root-key', 'other'))).toBe(200);
  expect((await reload(gateway.url)).body.changed).toEqual([]);
});

it('is for administrators alone', async () => {
  const gateway = await start({ server: { keys: [ROOT, ALICE] }, models: { demo: { upstream: 'demo' } } });
  expect((await reload(gateway.url, 'alice-key')).status).toBe(403);
  expect((await reload(gateway.url, 'nobody')).status).toBe(401);
});

it('MCP servers come and go with the file; one that stays is not connected anew, and those of people stay', async () => {
  const echo = newestServer();
  const gateway = await start({
    server: { keys: [ROOT] },
    models: { demo: { upstream: 'demo' } },
    mcp_servers: { stays: echo, goes: echo },
  });
  const servers = async () => {
    const { data }: { data: { name: string; state: string; connected_at: string }[] } = JSON.parse(
      await (await call(gateway.url, '/api/mcp')).text(),
    );
    return data.map(({ name, state, connected_at }) => ({ name, state, connected_at }));
  };
  const connected = async (names: readonly string[]): Promise<boolean> => {
    const found = await servers();
    return (
      found.map(({ name }) => name).join() === names.join() &&
      found.every(({ state }) => state === 'connected')
    );
  };
  await until(() => connected(['stays', 'goes']));
  await call(gateway.url, '/api/mcp', 'root-key', { name: 'added-by-hand', config: echo });
  const [before] = await servers();
  await write(gateway.folder, {
    server: { keys: [ROOT] },
    models: { demo: { upstream: 'demo' } },
    mcp_servers: { stays: echo, comes: echo },
  });
  expect((await reload(gateway.url)).body.changed).toEqual(['mcp_servers']);
  await until(() => connected(['stays', 'added-by-hand', 'comes']));
  expect((await servers())[0]).toEqual(before);
});

it('an agent can be the first one that the gateway has', async () => {
  const gateway = await start({ server: { keys: [ROOT] }, models: { demo: { upstream: 'demo' } } });
  await write(gateway.folder, {
    server: { keys: [ROOT] },
    models: { demo: { upstream: 'demo' }, coder: { engine: 'native', upstream: 'demo', cwd: '.' } },
  });
  expect((await reload(gateway.url)).status).toBe(200);
  expect(await statusOf(ask(gateway.url, 'root-key', 'coder'))).toBe(200);
});

it('a file that was found in the folder is taken again only while it is trusted', async () => {
  const { path: folder } = await tempFolder();
  const port = await freePort();
  const config = (model: string) => ({
    server: { port, keys: [ROOT] },
    models: { [model]: { upstream: 'demo' } },
  });
  const trust = async () =>
    expect((await (await runCommand({ folder, args: ['trust'] })).exited).code).toBe(0);
  await write(folder, config('one'));
  await trust();
  const gateway = await startGatewayProcess({ folder, args: ['start', '--log-level', 'silent'] });
  await write(folder, config('two'));
  const refused = await reload(gateway.url);
  expect([refused.status, refused.body.error?.message]).toEqual([
    422,
    expect.stringContaining('has changed since it was trusted'),
  ]);
  expect(await statusOf(ask(gateway.url, 'root-key', 'one'))).toBe(200);
  await trust();
  expect((await reload(gateway.url)).body.changed).toEqual(['models']);
  expect(await statusOf(ask(gateway.url, 'root-key', 'two'))).toBe(200);
});
