// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a hostile name holds one
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { captureIo, portOf } from '../../test/support/captured-io.js';
import { ENVIRONMENT_UPSTREAMS } from '../config/from-environment.js';
import { loadConfig, loadConfigText } from '../config/load.js';
import type { LocalServer } from '../upstreams/local-servers.js';
import { init } from './init.js';

let folder: string;
const servers: Server[] = [];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-init-')));
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(folder, { recursive: true, force: true });
});

async function serve(name: string, status: number, body: string): Promise<LocalServer> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { name, title: name.toUpperCase(), baseUrl: `http://127.0.0.1:${portOf(server)}/v1` };
}

async function runInit(env: Record<string, string> = {}, local: LocalServer[] = [], switches: string[] = []) {
  const io = captureIo({ cwd: folder, env });
  const args = { values: {}, switches: new Set(switches), positionals: [], rest: [] };
  const code = await init(args, io, local);
  return { code, out: io.lines.join('\n'), err: io.errors.join('\n') };
}

const written = () => readFile(join(folder, 'toolgate.yaml'), 'utf8');
const loadWritten = (env: Record<string, string>) =>
  loadConfig({ cwd: folder, env: { HOME: folder, ...env } });

describe('init', () => {
  it('writes a file that loads, with the demo model alone when nothing is found', async () => {
    const { code, out } = await runInit();
    expect(code).toBe(0);
    expect(out).toContain(`Wrote ${join(folder, 'toolgate.yaml')}`);
    expect(out).toContain('only the demo model is connected');
    const { config, file } = await loadWritten({});
    expect(file).toBe(join(folder, 'toolgate.yaml'));
    expect(config.upstreams).toEqual({ demo: { dialect: 'demo' } });
    expect(config.models['agent']).toMatchObject({ engine: 'native', upstream: 'demo' });
    expect(config.models['claude-code']).toMatchObject({ engine: 'claude-code', upstream: 'demo' });
    expect(config.models['*']).toEqual({ engine: 'relay', upstream: 'demo' });
    expect((await written()).split('\n')[0]).toMatch(
      /^# yaml-language-server: \$schema=.*toolgate\.schema\.json$/,
    );
  });

  it('refers to every key in the environment and holds the value of none', async () => {
    const env = Object.fromEntries(
      ENVIRONMENT_UPSTREAMS.map(({ keys }, index) => [keys[0], `value-of-key-number-${index}`]),
    );
    env['OPENAI_BASE_URL'] = 'https://someone:password-in-url@example.com/v1';
    const { code, out, err } = await runInit(env);
    expect(code).toBe(0);
    const source = await written();
    for (const value of [...Object.values(env), 'password-in-url']) {
      expect(source + out + err).not.toContain(value);
    }
    for (const name of Object.keys(env)) expect(source).toContain(`\${${name}}`);
    const { config } = await loadWritten(env);
    expect(Object.keys(config.upstreams)).toEqual([...ENVIRONMENT_UPSTREAMS.map(({ name }) => name), 'demo']);
    expect(config.models['claude-*']).toEqual({ engine: 'relay', upstream: 'anthropic' });
  });

  it.each(ENVIRONMENT_UPSTREAMS)(
    'with the key of $name writes the models that there are without a file',
    async ({ keys: [key], tiers }) => {
      const env = { [key]: 'value-of-a-key' };
      const without = await loadConfig({
        cwd: folder,
        env: { HOME: folder, ...env },
        claudeCode: async () => true,
      });
      await runInit(env);
      const { config } = await loadWritten(env);
      expect(config.models).toEqual(without.config.models);
      expect(config.models['*']).toBeUndefined();
      expect(config.models['agent']).toMatchObject({ engine: 'native', model: tiers.sonnet });
    },
  );

  it('puts its agents and the names of Claude Code on a local model where there is no key', async () => {
    const odd = await serve('odd', 200, JSON.stringify({ data: [{ id: 'a ${X}: "b"' }, { id: 'true' }] }));
    await runInit({}, [odd]);
    const { config } = await loadWritten({});
    const driver = { upstream: 'odd', model: 'a ${X}: "b"' };
    expect(config.models['agent']).toMatchObject({ engine: 'native', ...driver });
    for (const glob of ['claude-*opus*', 'claude-*haiku*', 'claude-*']) {
      expect(config.models[glob]).toEqual({ engine: 'relay', ...driver });
    }
    expect(config.models['true']).toEqual({ engine: 'relay', upstream: 'odd' });
    expect(config.models['*']).toBeUndefined();
  });

  it('has the comments that become valid when they are uncommented', async () => {
    await runInit({ ANTHROPIC_API_KEY: 'a-key-of-anthropic' });
    const source = (await written())
      .replace(/^# ?(?=mcp_servers|sessions|tools|traces| {2}\w+:)/gm, '')
      .replace(/^( +)# (?=[a-z_"]+[a-z_*"-]*:| {2}- \{)/gm, '$1');
    const { config } = await loadConfigText(source, {
      baseDir: folder,
      env: { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', TOOLGATE_KEY: 'c' },
    });
    expect(config.server.keys[0]?.name).toBe('alice');
    expect(Object.keys(config.mcp_servers)).toEqual(['docs', 'web']);
    expect(config.models['coder']?.engine).toBe('native');
    expect(config.permissions.deny).toEqual(['Read(./.env)', 'Bash(curl:*)']);
  });

  it('finds local model servers, whatever their models are called', async () => {
    const names = ['qwen3:8b', 'a "b" \\ : # ${X}', 'line\nbreak', '*', 'opus[1m]', ''];
    const ollama = await serve(
      'ollama',
      200,
      JSON.stringify({ object: 'list', data: names.map((id) => ({ id })) }),
    );
    const many = await serve(
      'vllm',
      200,
      JSON.stringify({ data: Array.from({ length: 50 }, (_, i) => ({ id: `m${i}` })) }),
    );
    const { code, out } = await runInit({}, [ollama, many]);
    expect(code).toBe(0);
    expect(out).toContain(`ollama: OLLAMA at ${ollama.baseUrl}, 5 models`);
    const { config } = await loadWritten({});
    expect(config.upstreams['ollama']).toMatchObject({ dialect: 'openai-chat', base_url: ollama.baseUrl });
    expect(config.models['qwen3:8b']).toEqual({ engine: 'relay', upstream: 'ollama' });
    expect(config.models['a "b" \\ : # ${X}']).toBeDefined();
    expect(config.models['line\nbreak']).toBeDefined();
    expect(config.models['demo']).toEqual({ engine: 'relay', upstream: 'demo' });
    expect(Object.values(config.models).filter(({ upstream }) => upstream === 'vllm')).toHaveLength(20);
    expect(await written()).toContain('# and 30 more on vllm');
  });

  it('passes over what is no model server', async () => {
    const local = [
      await serve('web', 200, '<html>'),
      await serve('list', 200, '{"data":"x"}'),
      await serve('closed', 401, '{"data":[]}'),
      { name: 'nobody', title: 'Nobody', baseUrl: 'http://127.0.0.1:1/v1' },
    ];
    await runInit({}, local);
    expect(Object.keys((await loadWritten({})).config.upstreams)).toEqual(['demo']);
  });

  it('leaves a file that is there alone, and overwrites it with --force', async () => {
    await writeFile(join(folder, 'toolgate.yaml'), 'mine');
    const refused = await runInit();
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('--force');
    expect(await written()).toBe('mine');

    expect((await runInit({}, [], ['force'])).code).toBe(0);
    expect(await written()).toContain('upstreams:');
    expect(await readdir(folder)).toEqual(['.local', 'toolgate.yaml']);
  });

  it('does not write through a link that leads nowhere', async () => {
    const { symlink, lstat } = await import('node:fs/promises');
    await symlink(join(folder, 'elsewhere'), join(folder, 'toolgate.yaml'));
    expect((await runInit()).code).toBe(1);
    expect((await lstat(join(folder, 'toolgate.yaml'))).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toEqual(['toolgate.yaml']);
  });
});
