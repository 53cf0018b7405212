/** The package as people get it: packed, installed by npm into an empty folder, started with npx. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SDK_VERSION, sdkFolder } from '../../src/engines/claude-code/processes/load-sdk.js';
import { portOf } from '../support/captured-io.js';
import { closeAfterTest, type TempFolder, tempFolder } from '../support/cleanup.js';
import { GatewayProcess } from '../support/gateway.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = 'node_modules/toolgate/bin/toolgate.js';
const SDK = '@anthropic-ai/claude-agent-sdk';
const PLATFORM_SDK = `${SDK}-${process.platform}-${process.arch}`;
/** npm on a busy machine. */
const TIMEOUT = 300_000;

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As from a shell: what the npm that runs the tests has set is not there. */
const SHELL: Environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|VITEST)/i.test(name)),
);

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Environment = {},
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...SHELL, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code]: unknown[] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, out, err };
}

/** By its path: one test puts another npm before it. */
const npm = (await run('which', ['npm'], ROOT)).out.trim();

const NPM_INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund'];

const folders: TempFolder[] = [];
let tarball: string;
/** Whole, and without optional dependencies. */
let whole: string;
let bare: string;
let installOutput: string;

async function keptFolder(name: string): Promise<string> {
  const folder = await tempFolder(name);
  folders.push(folder);
  return folder.path;
}

beforeAll(async () => {
  expect(inject('buildProblem')).toBe('');
  const packed = await keptFolder('toolgate-pack');
  // It is built already, and other tests run what is built.
  const pack = await run(npm, ['pack', '--ignore-scripts', '--pack-destination', packed], ROOT);
  expect(pack.code, pack.err).toBe(0);
  const [name = ''] = await readdir(packed);
  tarball = join(packed, name);
  whole = await keptFolder('toolgate-install');
  const installed = await run(npm, [...NPM_INSTALL, tarball], whole);
  expect(installed.code, installed.err).toBe(0);
  installOutput = installed.out + installed.err;
  bare = await keptFolder('toolgate-install-bare');
  const without = await run(npm, [...NPM_INSTALL, '--omit=optional', tarball], bare);
  expect(without.code, without.err).toBe(0);
}, TIMEOUT);

afterAll(async () => {
  for (const folder of folders) await folder.remove();
}, TIMEOUT);

/** In a process group of its own, because npx starts a shell that starts the gateway. */
async function npxStart(
  cwd: string,
  env: Environment,
  args: readonly string[] = [],
): Promise<GatewayProcess> {
  const child = spawn('npx', ['toolgate', 'start', '--port', '0', '--log-level', 'silent', ...args], {
    cwd,
    env: { ...SHELL, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const gateway = new GatewayProcess(child, cwd);
  closeAfterTest(async () => {
    process.kill(-gateway.pid, 'SIGTERM');
    await gateway.exited;
  });
  return gateway.listening();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('installed from its tarball into an empty folder', { timeout: TIMEOUT }, () => {
  it('has no install script and no Agent SDK', async () => {
    expect(installOutput).not.toMatch(/install-scripts|prepare/);
    expect(await exists(join(whole, 'node_modules', SDK))).toBe(false);
    const { scripts } = JSON.parse(await readFile(join(whole, 'node_modules/toolgate/package.json'), 'utf8'));
    expect(Object.keys(scripts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(pre|post)?(install|prepare)$/)]),
    );
  });

  it('starts with npx, answers, and says how to get Claude Code', async () => {
    const HOME = (await tempFolder()).path;
    const gateway = await npxStart(whole, { HOME });
    const { choices } = await openaiClient(gateway.url).chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'What is 123 + 456?' }],
    });
    expect(choices[0]?.message.content).toContain('579');
    expect((await fetch(gateway.consoleUrl)).status).toBe(200);
    await gateway.printed(/add claude-code/);
  });

  it('starts where a part that it can do without is missing, and says what to do', async () => {
    const HOME = (await tempFolder()).path;
    const part = join(whole, 'node_modules/web-tree-sitter');
    await rename(part, `${part}-away`);
    closeAfterTest(() => rename(`${part}-away`, part));
    const gateway = await npxStart(whole, { HOME });
    await gateway.printed(
      /^Bash runs no command.*\n.*web-tree-sitter is not installed: .*--include=optional$/m,
    );
  });

  it('answers for a model of that engine with what to run, in the dialect of the client', async () => {
    const HOME = (await tempFolder()).path;
    const config = join(HOME, 'agents.json');
    const coder = { engine: 'claude-code', upstream: 'demo', cwd: HOME };
    await writeFile(config, JSON.stringify({ upstreams: { demo: { dialect: 'demo' } }, models: { coder } }));
    const gateway = await npxStart(whole, { HOME }, ['--config', config]);
    await gateway.printed(/toolgate add claude-code/);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const asked = await Promise.allSettled([
      anthropicClient(gateway.url).messages.create({ model: 'coder', max_tokens: 100, messages }),
      openaiClient(gateway.url).chat.completions.create({ model: 'coder', messages }),
      openaiClient(gateway.url).responses.create({ model: 'coder', input: 'Hello' }),
    ]);
    for (const each of asked) {
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { status: 503, message: expect.stringContaining('toolgate add claude-code') },
      });
    }
  });
});

describe('installed without optional dependencies', { timeout: TIMEOUT }, () => {
  it('says in one sentence what is missing and what to do, and doctor too', async () => {
    const HOME = (await tempFolder()).path;
    const sentence = /@libsql\/\S+ is not installed: .*npm install --include=optional\n/;
    const start = await run(process.execPath, [join(bare, BIN), 'start', '--port', '0'], bare, { HOME });
    expect(start).toEqual({ code: 1, out: '', err: expect.stringMatching(`^${sentence.source}$`) });
    const doctor = await run(process.execPath, [join(bare, BIN), 'doctor'], bare, { HOME });
    expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(sentence), err: '' });
  });
});

/** A registry on loopback with an SDK of a few bytes, whose install script would leave a file. */
async function startRegistry(ran: string): Promise<{ url: string; asked: string[] }> {
  const tarballs = new Map<string, Buffer>();
  const packuments = new Map<string, object>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    asked.push(path);
    const found = tarballs.get(path) ?? packuments.get(path);
    response.statusCode = found === undefined ? 404 : 200;
    response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server)}/`;
  const add = async (name: string, more: object, files: Readonly<Record<string, string>>): Promise<void> => {
    const { path } = await tempFolder();
    const manifest = { name, version: SDK_VERSION, scripts: { postinstall: `touch ${ran}` }, ...more };
    await mkdir(join(path, 'package'));
    for (const [file, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) })) {
      await writeFile(join(path, 'package', file), text, { mode: 0o755 });
    }
    expect(await run('tar', ['-czf', 'package.tgz', 'package'], path)).toMatchObject({ code: 0 });
    const bytes = await readFile(join(path, 'package.tgz'));
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const file = `${name}/-/package.tgz`;
    tarballs.set(file, bytes);
    const version = { ...manifest, hasInstallScript: true, dist: { tarball: url + file, integrity } };
    packuments.set(name, {
      name,
      'dist-tags': { latest: SDK_VERSION },
      versions: { [SDK_VERSION]: version },
    });
  };
  await add(
    SDK,
    { main: 'sdk.mjs', optionalDependencies: { [PLATFORM_SDK]: SDK_VERSION } },
    { 'sdk.mjs': 'export const query = () => {};' },
  );
  await add(PLATFORM_SDK, {}, { claude: '#!/bin/sh\n', 'claude.exe': '' });
  return { url, asked };
}

describe('toolgate add claude-code', { timeout: TIMEOUT }, () => {
  /** A repository that would like to have a say: its registry, its npm, its workspaces, its scripts. */
  async function hostileRepository(marks: string) {
    const { path } = await tempFolder('toolgate-hostile');
    const registry = await startRegistry(join(marks, 'hostile-script'));
    await writeFile(join(path, '.npmrc'), `registry=${registry.url}\nignore-scripts=false\n`);
    const manifest = { name: 'hostile', version: '1.0.0', workspaces: ['state/**'] };
    await writeFile(join(path, 'package.json'), JSON.stringify(manifest));
    const bin = join(path, 'node_modules/.bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'npm'), `#!/bin/sh\ntouch ${join(marks, 'hostile-npm')}\n`, { mode: 0o755 });
    return { path, registry };
  }

  it.each([
    ['typed in a shell', false],
    ['run by npm', true],
  ])(
    'installs from the registry of the user and runs no script, %s in a hostile repository',
    async (_, byNpm) => {
      const HOME = (await tempFolder()).path;
      const marks = (await tempFolder()).path;
      const own = await startRegistry(join(marks, 'script'));
      await writeFile(join(HOME, '.npmrc'), `registry=${own.url}\nignore-scripts=false\n`);
      const hostile = await hostileRepository(marks);
      // In the worst place: npm would find the hostile project above it.
      const env = {
        HOME,
        XDG_STATE_HOME: join(hostile.path, 'state'),
        PATH: [join(hostile.path, 'node_modules/.bin'), SHELL['PATH']].join(delimiter),
      };
      const command = (...args: string[]): Promise<Ended> => {
        const line = [process.execPath, join(whole, BIN), ...args];
        return byNpm
          ? run(npm, ['exec', '--no-update-notifier', '-c', line.join(' ')], hostile.path, env)
          : run(line[0] ?? '', line.slice(1), hostile.path, env);
      };
      const added = await command('add', 'claude-code');
      expect(added, added.err).toMatchObject({ code: 0, out: expect.stringContaining('about 350 MB') });
      expect(added.out).toContain('Installed.');
      expect(own.asked).toContain(`${PLATFORM_SDK}/-/package.tgz`);
      expect(hostile.registry.asked).toEqual([]);
      expect(await readdir(marks)).toEqual([]);
      expect(await readdir(dirname(sdkFolder(env)))).toEqual([SDK_VERSION]);

      const requests = own.asked.length;
      const again = await command('add', 'claude-code');
      expect(again).toMatchObject({ code: 0, out: expect.stringContaining('installed already') });
      expect(own.asked).toHaveLength(requests);
      expect((await command('doctor')).out).toContain(`Agent SDK ${SDK_VERSION}, ${sdkFolder(env)}`);
    },
  );

  const add = async (env: Environment, ...args: string[]): Promise<Ended> => {
    const { path } = await tempFolder();
    return run(process.execPath, [join(whole, BIN), 'add', ...args], path, { HOME: path, ...env });
  };

  it('says in one sentence that the place cannot be written', async () => {
    const { path } = await tempFolder();
    await writeFile(join(path, 'file'), '');
    const { code, err } = await add({ XDG_STATE_HOME: join(path, 'file') }, 'claude-code');
    expect(code).toBe(1);
    expect(err).toMatch(/^\S+ cannot be written \(ENOTDIR\)\. Make that folder writable, or .*\n$/);
  });

  it('says that npm failed, and leaves nothing', async () => {
    const { path } = await tempFolder();
    const ended = await add(
      { HOME: path, npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0' },
      'claude-code',
    );
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(/\nnpm ended with code \d+\. Check the connection .*\n$/);
    expect(await readdir(dirname(sdkFolder({ HOME: path })))).toEqual([]);
  });

  it('names what there is to add', async () => {
    expect(await add({}, 'codex')).toMatchObject({
      code: 2,
      err: expect.stringContaining('`add` installs claude-code, not `codex`.'),
    });
    expect(await add({})).toMatchObject({ code: 2 });
  });
});
