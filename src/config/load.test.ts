// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are what is tested
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.js';
import { candidateFiles, loadConfig, loadConfigText } from './load.js';
import { resolveModelCwd, resolvePath, resolveToolPaths } from './paths.js';
import type { Config } from './schema.js';
import { type FoundConfig, trustConfig } from './trust.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-config-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, source: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, source);
  return file;
}

async function parse(source: string, env: Record<string, string> = {}): Promise<Config> {
  return (await loadConfigText(source, { baseDir: folder, env })).config;
}

const storeIs = (name: string) => `store: sqlite:${name}.db\n`;

describe('where the configuration is found', () => {
  it('prefers --config to ./toolgate.yaml to XDG_CONFIG_HOME', async () => {
    const env = { XDG_CONFIG_HOME: join(folder, 'xdg'), HOME: folder };
    const cwd = join(folder, 'here');
    await mkdir(cwd);

    expect(await loadConfig({ cwd, env })).toMatchObject({ file: undefined, baseDir: cwd });

    const xdg = await write('xdg/toolgate/toolgate.yaml', storeIs('xdg'));
    expect(await loadConfig({ cwd, env })).toMatchObject({
      file: xdg,
      baseDir: join(folder, 'xdg/toolgate'),
      config: { store: 'sqlite:xdg.db' },
    });

    const local = await write('here/toolgate.yaml', storeIs('local'));
    expect(await loadConfig({ cwd, env })).toMatchObject({ file: xdg, origin: 'user' });
    const seen: string[] = [];
    const onUntrusted = async (found: FoundConfig) => {
      seen.push(found.file);
      await trustConfig(found, [], env);
      return true;
    };
    const trusted = { file: local, origin: 'folder', config: { store: 'sqlite:local.db' } };
    expect(await loadConfig({ cwd, env, onUntrusted })).toMatchObject(trusted);
    expect(await loadConfig({ cwd, env, onUntrusted })).toMatchObject(trusted);
    expect(seen).toEqual([local]);

    const given = await write('other/given.yaml', storeIs('given'));
    expect(await loadConfig({ cwd, env, file: '../other/given.yaml' })).toMatchObject({
      file: given,
      baseDir: join(folder, 'other'),
      config: { store: 'sqlite:given.db' },
    });
  });

  it('falls back to ~/.config, also where XDG_CONFIG_HOME is relative', () => {
    expect(candidateFiles('/a', { HOME: '/home/b' })[1]).toBe('/home/b/.config/toolgate/toolgate.yaml');
    expect(candidateFiles('/a', { HOME: '/home/b', XDG_CONFIG_HOME: 'x' })[1]).toBe(
      '/home/b/.config/toolgate/toolgate.yaml',
    );
    expect(candidateFiles('/a', {})[1]).toBe(join(homedir(), '.config/toolgate/toolgate.yaml'));
  });

  it('names a --config that is not there or is a folder', async () => {
    await expect(loadConfig({ cwd: folder, env: {}, file: 'nope.yaml' })).rejects.toThrow(
      `${join(folder, 'nope.yaml')}: there is no such file`,
    );
    await expect(loadConfig({ cwd: folder, env: {}, file: '.' })).rejects.toThrow(ConfigError);
  });
});

describe('what the file may look like', () => {
  it('takes JSON, tabs included', async () => {
    expect((await parse('{\n\t"server": {\n\t\t"port": 4000\n\t}\n}')).server.port).toBe(4000);
  });

  it('takes an empty file, and sections of which everything is commented out', async () => {
    expect((await parse('')).upstreams).toEqual({ demo: { dialect: 'demo' } });
    const config = await parse('server:\n  keys:\n  # - { key: a }\nmodels:\npermissions:\n  # mode: deny\n');
    expect(config).toMatchObject({ server: { keys: [] }, models: {}, permissions: { mode: 'ask' } });
  });

  it('takes anchors', async () => {
    const config = await parse(
      'upstreams:\n  a: &base { dialect: openai-chat, base_url: "${URL}" }\n  b: *base\n',
      { URL: 'https://a/v1' },
    );
    expect(config.upstreams['b']).toEqual(config.upstreams['a']);
  });

  it('knows no YAML 1.1 booleans: off is a word', async () => {
    expect((await parse('sandbox: off\n')).sandbox).toBe('off');
  });
});

describe('environment references', () => {
  it('stand anywhere in a text, more than once', async () => {
    const config = await parse('store: "sqlite:${DIR}/${NAME}.db"\n', { DIR: '/data', NAME: 'x' });
    expect(config.store).toBe('sqlite:/data/x.db');
  });

  it('are escaped by a second dollar sign', async () => {
    expect((await parse('store: "sqlite:$${DIR}/$DIR/$$"\n')).store).toBe('sqlite:${DIR}/$DIR/$$');
  });

  it('are not looked for in what a variable holds', async () => {
    expect((await parse('store: "sqlite:${DIR}"\n', { DIR: '${OTHER}' })).store).toBe('sqlite:${OTHER}');
  });

  it('are read as numbers and booleans where these are expected, and stay text elsewhere', async () => {
    const config = await parse(
      'server: { port: "${PORT}", keys: [{ key: "${PORT}" }] }\ntools: { memory: "${NO}" }\n',
      { PORT: '4000', NO: 'false' },
    );
    expect(config.server.port).toBe(4000);
    expect(config.server.keys[0]?.key).toBe('4000');
    expect(config.tools.memory).toBe(false);
  });
});

describe('overrides of the command line', () => {
  it('stand above the file and are checked with it', async () => {
    await write('toolgate.yaml', 'server: { host: "::1", port: 4000 }\n');
    const { config } = await loadConfig({
      file: 'toolgate.yaml',
      cwd: folder,
      env: {},
      overrides: { host: '[::1]', port: 5000 },
    });
    expect(config.server).toMatchObject({ host: '::1', port: 5000 });
    await expect(
      loadConfig({ file: 'toolgate.yaml', cwd: folder, env: {}, overrides: { host: '0.0.0.0' } }),
    ).rejects.toThrow('--host: without `server.keys` the gateway listens on loopback only');
  });

  it('make an address with keys usable', async () => {
    await write('toolgate.yaml', 'server: { keys: [{ key: abcdefgh }] }\n');
    const { config } = await loadConfig({
      file: 'toolgate.yaml',
      cwd: folder,
      env: {},
      overrides: { host: '0.0.0.0' },
    });
    expect(config.server.host).toBe('0.0.0.0');
  });
});

describe('paths', () => {
  it('are relative to the file, and an agent without cwd works where start ran', async () => {
    const config = await parse('tools: { paths: [./tools, /abs] }\n');
    expect(resolveToolPaths(config, '/etc')).toEqual(['/etc/tools', '/abs']);
    expect(resolvePath('~/x', '/etc')).toBe(join(homedir(), 'x'));
    const folders = { baseDir: '/etc', startDir: '/start' };
    expect(resolveModelCwd({ cwd: './work' }, folders)).toBe('/etc/work');
    expect(resolveModelCwd({}, folders)).toBe('/start');
  });
});

it('an alias inside its own anchor is an error and no endless walk', async () => {
  await expect(parse('server: &a { keys: [*a] }\n')).rejects.toThrow('inside its own anchor');
});
