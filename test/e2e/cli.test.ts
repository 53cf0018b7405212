import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { COMMAND, runCommand, startGatewayProcess } from '../support/gateway.js';

const packageJson: { version: string } = JSON.parse(
  await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
);

async function run(args: readonly string[], options: Parameters<typeof runCommand>[0] = {}) {
  const command = await runCommand({ ...options, args });
  const { code } = await command.exited;
  return { code, stdout: command.stdout, stderr: command.stderr, folder: command.folder };
}

describe('the command', () => {
  it('prints its version and its help', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(
      /^Commands:\n {2}start .*\n {2}code .*\n {2}codex .*\n {2}opencode .*\n {2}pi .*\n {2}qwen .*\n {2}chat .*\n {2}trace .*\n {2}init .*\n {2}trust .*\n {2}keys .*\n {2}backup .*\n {2}export .*\n {2}import .*\n {2}add .*\n {2}doctor /m,
    );
  });

  it('ends with 2 for wrong usage and a wrong configuration', async () => {
    const usage = await run(['docter']);
    expect(usage.code).toBe(2);
    expect(usage.stderr).toContain('Did you mean `doctor`?');

    const config = await run(['start', '--config', 'toolgate.yaml'], { config: 'server: { prot: 1 }\n' });
    expect(config.code).toBe(2);
    expect(config.stdout).toBe('');
    expect(config.stderr).toBe(
      `${join(await realpath(config.folder), 'toolgate.yaml')}:1:11  server.prot: unknown key. Did you mean \`port\`?\n`,
    );

    const postgres = await run(['start', '--config', 'toolgate.yaml'], {
      config: 'store: postgres://me:hunter22@host/db?sslmode=maybe\n',
    });
    expect(postgres.code).toBe(2);
    expect(postgres.stderr).toContain('store: expected sslmode to be one of disable');
    expect(postgres.stderr).not.toContain('hunter22');

    const quirks = await run(['start', '--port', '0', '--config', 'toolgate.yaml'], {
      config:
        'upstreams: { a: { dialect: openai-chat, base_url: "http://127.0.0.1:1/v1", profile: nope } }\n',
    });
    expect(quirks.code).toBe(2);
    expect(quirks.stderr).toContain('upstreams.a.profile');
  });

  it('refuses to listen where others reach it, without keys', async () => {
    const { code, stderr } = await run(['--host', '0.0.0.0', '--port', '0']);
    expect(code).toBe(2);
    expect(stderr).toContain('without `server.keys`');
  });

  it('prints one line with the address and the console, then how to connect a model, and stops with 0', async () => {
    const gateway = await startGatewayProcess();
    await gateway.printed(/init/);
    const [address, ...hints] = gateway.stdout.trimEnd().split('\n');
    expect(address).toMatch(
      /^toolgate listens on (http:\/\/127\.0\.0\.1:\d+) · console \1\/#token=[A-Za-z0-9_-]{20,}$/,
    );
    expect(hints[0]).toContain('No model is connected');
    expect(hints.join('\n')).not.toContain('http');
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    await gateway.close();
  });

  it('prints nothing but the address when a model is connected, and never its key', async () => {
    const gateway = await startGatewayProcess({
      env: { DEEPSEEK_API_KEY: 'value-of-the-deepseek-key' },
      logLevel: 'trace',
    });
    await gateway.close();
    expect(gateway.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(gateway.stdout + gateway.stderr).not.toContain('value-of-the-deepseek-key');
  });

  it('ends with 1 and what to do when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    closeAfterTest(() => other.close());
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, stdout, stderr } = await run(['start', '--port', port, '--log-level', 'silent']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`Port ${port}`);
    expect(stderr).toContain('--port');
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('starts on what init wrote, and doctor finds it in order', async () => {
    const env = { MISTRAL_API_KEY: 'value-of-the-mistral-key' };
    const folder = (await tempFolder()).path;
    const file = join(folder, 'toolgate.yaml');

    const first = await run(['init'], { env, folder });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(file, 'utf8')).not.toContain(env.MISTRAL_API_KEY);
    const second = await run(['init'], { env, folder });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('init --force');

    // The upstream is taken out, so that nothing leaves this machine.
    const source = (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => !/^ {2}\S.*mistral/.test(line))
      .join('\n');
    await writeFile(file, source.replace('port: 3000', 'port: 0'));
    expect((await run(['trust'], { env, folder })).code).toBe(0);
    const doctor = await run(['doctor'], { env, folder });
    expect(doctor.stdout).toContain(file);
    expect(doctor).toMatchObject({ code: 0, stderr: '' });
    const gateway = await startGatewayProcess({ env, folder });
    await gateway.close();
  });
});

describe('bin/toolgate.js', () => {
  it('says what to do when it is not built', async () => {
    const folder = (await tempFolder()).path;
    await mkdir(join(folder, 'bin'));
    await cp(COMMAND, join(folder, 'bin/toolgate.js'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const { status, stderr } = spawnSync(process.execPath, ['bin/toolgate.js'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('npm ci');
  });

  it('says what it needs on a Node that is too old', async () => {
    const folder = (await tempFolder()).path;
    const pretend = join(folder, 'old-node.cjs');
    await writeFile(
      pretend,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } });",
    );
    const { status, stderr } = spawnSync(process.execPath, ['--require', pretend, COMMAND, '--version'], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('needs Node 20.19 or newer; this is 20.18.3');
  });
});
