import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { captureIo, portOf } from '../../test/support/captured-io.js';
import { loadConfigText } from '../config/load.js';
import { configSchema } from '../config/schema.js';
import { openStore } from '../store/open/open-store.js';
import { checkPort } from './checks/port.js';
import { checkUpstream } from './checks/upstream.js';
import { checkBuiltIns, checkSandbox, doctor, renderChecks } from './doctor.js';

let folder: string;
const servers: (Server | TcpServer)[] = [];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-doctor-')));
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(folder, { recursive: true, force: true });
});

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return portOf(server);
}

const serve = (listener: RequestListener) => listen(createServer(listener));

async function upstreamCheck(upstream: string) {
  const { config } = await loadConfigText(`upstreams: { a: ${upstream} }`, { baseDir: folder, env: {} });
  const a = config.upstreams['a'];
  if (a === undefined) throw new Error('no upstream');
  const [check, ...others] = await checkUpstream('a', a);
  if (check === undefined || others.length > 0) throw new Error('expected one check');
  return check;
}

async function runDoctor(source: string | undefined, env: Record<string, string> = {}) {
  if (source !== undefined) await writeFile(join(folder, 'toolgate.yaml'), source);
  const io = captureIo({ cwd: folder, env });
  const values: Record<string, string> = source === undefined ? {} : { config: 'toolgate.yaml' };
  const code = await doctor({ values, switches: new Set(), positionals: [], rest: [] }, io);
  return { code, out: io.lines.join('\n') };
}

describe('checkUpstream', () => {
  it.each([
    ['openai-chat', '/v1', '/v1/models', { authorization: 'Bearer the-key-of-a' }],
    ['openai-responses', '/v1', '/v1/models', { authorization: 'Bearer the-key-of-a' }],
    [
      'anthropic-messages',
      '',
      '/v1/models',
      { 'x-api-key': 'the-key-of-a', 'anthropic-version': '2023-06-01' },
    ],
  ])('asks %s for its models with its credential', async (dialect, path, asked, headers) => {
    let seen: { url: string | undefined; headers: IncomingHttpHeaders } | undefined;
    const port = await serve((request, response) => {
      seen = { url: request.url, headers: request.headers };
      response.end('{"data":[{"id":"x"},{"id":"y"}]}');
    });
    const check = await upstreamCheck(
      `{ dialect: ${dialect}, base_url: "http://127.0.0.1:${port}${path}", api_key: the-key-of-a }`,
    );
    expect(check).toMatchObject({ status: 'ok', subject: 'upstream a' });
    expect(check.finding).toMatch(/: 200 in \d+ ms, 2 models$/);
    expect(seen?.url).toBe(asked);
    expect(seen?.headers).toMatchObject(headers);
  });

  it.each([
    [401, '', 'FAIL', 'it refuses the credential', 'check `api_key`'],
    [403, '', 'FAIL', 'it refuses the credential', 'check `api_key`'],
    [404, '', 'warn', 'it has no list of models', 'usually ends with /v1'],
    [429, '', 'warn', 'too many requests', 'wait'],
    [500, '', 'FAIL', 'it is failing', 'try again later'],
    [200, '<html>', 'warn', 'but no list of models', 'usually ends with /v1'],
  ])('on %i %j says what to do', async (status, body, verdict, finding, advice) => {
    const port = await serve((_, response) => response.writeHead(status).end(body));
    const check = await upstreamCheck(
      `{ dialect: openai-chat, base_url: "http://127.0.0.1:${port}", api_key: the-key-of-a }`,
    );
    expect(check.status).toBe(verdict);
    expect(check.finding).toContain(finding);
    expect(check.advice).toContain(advice);
  });

  it('asks for a credential where there is none', async () => {
    const port = await serve((_, response) => response.writeHead(401).end());
    const check = await upstreamCheck(`{ dialect: openai-chat, base_url: "http://127.0.0.1:${port}/v1" }`);
    expect(check).toMatchObject({ status: 'FAIL', advice: expect.stringContaining('add `api_key`') });
  });

  it('does not take the credential along a redirect', async () => {
    let asked = 0;
    const elsewhere = await serve((_, response) => {
      asked += 1;
      response.end();
    });
    const port = await serve((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${elsewhere}/v1/models` }).end(),
    );
    const check = await upstreamCheck(
      `{ dialect: openai-chat, base_url: "http://127.0.0.1:${port}/v1", api_key: k }`,
    );
    expect(check).toMatchObject({
      status: 'FAIL',
      finding: expect.stringContaining(`127.0.0.1:${elsewhere}`),
    });
    expect(asked).toBe(0);
  });

  it('tells refused, reset and missing TLS apart', async () => {
    const closed = await upstreamCheck('{ dialect: openai-chat, base_url: "http://127.0.0.1:1/v1" }');
    expect(closed).toMatchObject({
      status: 'FAIL',
      finding: expect.stringContaining('nothing listens there'),
    });

    const rude = await listen(createTcpServer((socket) => socket.destroy()));
    const reset = await upstreamCheck(`{ dialect: openai-chat, base_url: "http://127.0.0.1:${rude}/v1" }`);
    expect(reset).toMatchObject({
      status: 'FAIL',
      finding: expect.stringContaining('it closed the connection'),
    });

    const plain = await serve((_, response) => response.end());
    const tls = await upstreamCheck(`{ dialect: openai-chat, base_url: "https://127.0.0.1:${plain}/v1" }`);
    expect(tls).toMatchObject({ status: 'FAIL', advice: expect.stringContaining('http://') });
  });

  it('sends a password in the address as a header, and shows it to nobody', async () => {
    let authorization: string | undefined;
    const port = await serve((request, response) => {
      authorization = request.headers.authorization;
      response.end('{"data":[]}');
    });
    const check = await upstreamCheck(
      `{ dialect: openai-chat, base_url: "http://bob:hunter22@127.0.0.1:${port}/v1" }`,
    );
    expect(authorization).toBe(`Basic ${Buffer.from('bob:hunter22').toString('base64')}`);
    expect(check.status).toBe('ok');
    expect(JSON.stringify(check)).not.toContain('hunter22');
  });

  it('asks each target of a pool by itself, and names none by its credential', async () => {
    const port = await serve((request, response) => {
      const isGood = request.headers.authorization === 'Bearer the-good-one';
      response.writeHead(isGood ? 200 : 401).end('{"data":[]}');
    });
    const { config } = await loadConfigText(
      `upstreams: { a: { dialect: openai-chat, base_url: "http://127.0.0.1:${port}/v1", targets: [{ api_key: the-good-one }, { name: old, api_key: the-bad-one }] } }`,
      { baseDir: folder, env: {} },
    );
    const { a } = config.upstreams;
    const checks = a === undefined ? [] : await checkUpstream('a', a);
    expect(checks).toMatchObject([
      { subject: 'upstream a/1', status: 'ok' },
      {
        subject: 'upstream a/old',
        status: 'FAIL',
        finding: expect.stringContaining('refuses the credential'),
      },
    ]);
    expect(JSON.stringify(checks)).not.toMatch(/the-(good|bad)-one/);
  });

  it('has the version in the path right for each dialect', async () => {
    const port = await serve((_, response) => response.writeHead(404).end());
    const check = await upstreamCheck(
      `{ dialect: anthropic-messages, base_url: "http://127.0.0.1:${port}/v1" }`,
    );
    expect(check.advice).toContain('without /v1');
  });
});

describe('checkPort', () => {
  it('is fine when the port is free or a gateway answers, and not when another program does', async () => {
    const gateway = await serve((_, response) =>
      response.writeHead(200, { 'request-id': 'req_1', 'x-request-id': 'req_1' }).end('ok'),
    );
    const other = await serve((_, response) => response.writeHead(200).end('ok'));
    expect(await checkPort({ host: '127.0.0.1', port: gateway }, 'toolgate')).toMatchObject({
      status: 'ok',
      finding: `a gateway answers on 127.0.0.1:${gateway}`,
    });
    expect(await checkPort({ host: '127.0.0.1', port: other }, 'toolgate')).toMatchObject({
      status: 'FAIL',
      advice: expect.stringContaining('--port'),
    });
    expect(await checkPort({ host: '127.0.0.1', port: 0 }, 'toolgate')).toMatchObject({ status: 'ok' });
    expect(await checkPort({ host: '192.0.2.1', port: 3000 }, 'toolgate')).toMatchObject({
      status: 'FAIL',
      finding: '192.0.2.1 does not belong to this machine',
    });
  });
});

describe('doctor', () => {
  it('passes on the demo model alone, leaves nothing behind, and says how to connect one', async () => {
    const { code, out } = await runDoctor('server: { port: 0 }\nmodels: { "*": { upstream: demo } }\n');
    expect(out).toMatch(/^ok {4}node {11}v\d+/);
    expect(out).toContain(join(folder, 'toolgate.yaml'));
    expect(out).toMatch(/^ok {4}upstream demo {2}the embedded demo model$/m);
    expect(out).toMatch(/^warn {2}models/m);
    expect(out).toContain('→ add one to `upstreams`');
    expect(out).toContain('will be made at the first start');
    expect(out.split('\n').at(-1)).toBe('Everything can be used, 1 warning.');
    expect(code).toBe(0);
    expect(await readdir(folder)).toEqual(['toolgate.yaml']);
  });

  it('fails with 1 when an upstream cannot be used, and prints no secret', async () => {
    const port = await serve((_, response) => response.writeHead(401).end());
    const { code, out } = await runDoctor(
      `server: { port: 0, keys: [{ key: "\${GATE}", name: alice }] }\nupstreams:\n  a: { dialect: openai-chat, base_url: "http://127.0.0.1:${port}/v1", api_key: "\${UP}" }\nmodels: { x: { upstream: a } }\n`,
      { GATE: 'gateway-secret-value', UP: 'upstream-secret-value' },
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}upstream a/m);
    expect(out).toContain('alice (call)');
    expect(out.split('\n').at(-1)).toBe('1 check failed.');
    expect(out).not.toMatch(/secret-value/);
  });

  it('ends with 2 on a wrong configuration, with every problem', async () => {
    const { code, out } = await runDoctor('server: { prot: 1 }\nstore: x\n');
    expect(code).toBe(2);
    expect(out).toMatch(/^FAIL {2}config {2}.*toolgate\.yaml:1:11 {2}server\.prot: unknown key/m);
    expect(out).toMatch(/^FAIL {2}config {2}.*toolgate\.yaml:2:1 {2}store: expected sqlite:PATH/m);
  });

  it('knows profiles and quirks that the schema does not', async () => {
    const { code, out } = await runDoctor(
      'upstreams:\n  a: { dialect: openai-chat, base_url: "http://127.0.0.1:1/v1", profile: nope }\n',
    );
    expect(code).toBe(2);
    expect(out).toMatch(
      /^FAIL {2}config {2}.*toolgate\.yaml:2:65 {2}upstreams\.a\.profile: expected one of/m,
    );
  });

  it('shows the store that is there, and what was learned', async () => {
    const store = await openStore('sqlite:./x.db', { baseDir: folder });
    await store.quirks.put({
      upstream: 'a',
      model: 'm',
      key: 'no effort',
      value: { effortField: 'none' },
      evidence: 'e',
    });
    await store.close();
    const { code, out } = await runDoctor(
      'server: { port: 0 }\nstore: sqlite:./x.db\nmodels: { "*": { upstream: demo } }\n',
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`^ok {4}store +${join(folder, 'x.db')}, [\\d.]+ [KM]B, schema \\d+$`, 'm'),
    );
    expect(out).toContain('a, m: no effort = {"effortField":"none"}');
  });

  it('fails on a store that is no database', async () => {
    await writeFile(join(folder, 'x.db'), 'this is text and not the header of a database '.repeat(99));
    const { code, out } = await runDoctor('server: { port: 0 }\nstore: sqlite:./x.db\n');
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}store .*not a SQLite database/m);
  });

  it('names a file that is called almost right', async () => {
    await writeFile(join(folder, 'toolgate.yml'), '');
    const { out } = await runDoctor(undefined);
    expect(out).toContain('toolgate.yml is not read');
  });

  it('uses colours only where they are wanted', () => {
    const check = { status: 'FAIL', subject: 'a', finding: 'b', advice: 'c' } as const;
    expect(renderChecks([check], false)).toEqual(['FAIL  a  b', '         → c']);
    expect(renderChecks([check], true)[0]).toBe('\u001b[31mFAIL\u001b[0m  a  b');
  });
});

it('counts the tools that are on and names those that are switched off', async () => {
  const [first, ...rest] = await checkBuiltIns(configSchema.parse({}).tools);
  expect(first?.status).toBe('ok');
  expect(first?.finding).toMatch(
    /^\d+ built-ins are on; switched off: WebSearch, Architect, StickerRequest$/,
  );
  expect(rest).toEqual([]);
});

it('does not name what is switched on', async () => {
  const tools = configSchema.parse({ tools: { architect: true, sticker: true, memory: false } }).tools;
  const [first] = await checkBuiltIns(tools);
  expect(first?.finding).toMatch(/switched off: WebSearch, MemoryRead, MemoryWrite$/);
});

describe('checkSandbox', () => {
  it('says what is active', async () => {
    expect(await checkSandbox('auto', process.env)).toMatchObject({
      status: 'ok',
      subject: 'sandbox',
      finding: expect.stringContaining('bubblewrap'),
    });
  });

  it('warns where commands run without one, and says how to get it', async () => {
    expect(await checkSandbox('auto', { PATH: '/nowhere' })).toMatchObject({
      status: 'warn',
      finding: expect.stringContaining('bubblewrap (bwrap) is not installed'),
      advice: expect.stringContaining('apt-get install bubblewrap socat'),
    });
  });

  it('fails where one is required and there is none', async () => {
    expect(await checkSandbox('required', { PATH: '/nowhere' })).toMatchObject({ status: 'FAIL' });
  });

  it('warns where it is switched off', async () => {
    expect(await checkSandbox('off', process.env)).toMatchObject({
      status: 'warn',
      finding: expect.stringContaining('off'),
    });
  });
});
