import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelRouter } from '../routing/model-router.js';
import { DEFAULTS } from './defaults.js';
import { ENVIRONMENT_UPSTREAMS } from './from-environment.js';
import { loadConfig, loadConfigText } from './load.js';
import type { Config } from './schema.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-environment-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const load = (env: Record<string, string>) => loadConfig({ cwd: folder, env: { HOME: folder, ...env } });

function routeIn(config: Config, asked: string): { upstream: string | undefined; model: string } | undefined {
  const rules = Object.fromEntries(
    Object.entries(config.models).map(([name, { engine, upstream, model }]) => [
      name,
      {
        engine,
        upstreams: typeof upstream === 'string' ? [upstream] : upstream,
        ...(model === undefined ? {} : { model }),
      },
    ]),
  );
  const route = new ModelRouter(rules).route(asked);
  return route === undefined ? undefined : { upstream: route.rule.upstreams[0], model: route.model };
}

const ALL_KEYS = Object.fromEntries(ENVIRONMENT_UPSTREAMS.map(({ keys }) => [keys[0], `key-of-${keys[0]}`]));

describe('the guide', () => {
  it('lists every variable and every model name', () => {
    const guide = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    const missing = ENVIRONMENT_UPSTREAMS.flatMap(({ name, keys, baseUrlVariable, models }) =>
      [name, ...keys, ...(baseUrlVariable === undefined ? [] : [baseUrlVariable]), ...models].filter(
        (word) => !guide.includes(`\`${word}\``),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('shows a file that loads', async () => {
    const guide = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    const source = /```yaml\n(server:[\s\S]*?)```/.exec(guide)?.[1] ?? '';
    const env = { TOOLGATE_KEY: 'a-gateway-key', OPENAI_API_KEY: 'b', ANTHROPIC_API_KEY: 'c' };
    const { config } = await loadConfigText(source, { baseDir: folder, env });
    expect(Object.keys(config.models)).toContain('claude-code-opus');
  });
});

describe('without a file', () => {
  it('sends everything to the demo model when there is no key', async () => {
    const { config, secrets, file } = await load({});
    expect(file).toBeUndefined();
    expect(config.upstreams).toEqual({ demo: { dialect: 'demo' } });
    expect(config.models).toEqual({
      agent: { ...DEFAULTS.agent, engine: 'native', upstream: 'demo', model: 'demo' },
      demo: { engine: 'relay', upstream: 'demo' },
      '*': { engine: 'relay', upstream: 'demo' },
    });
    expect(config.permissions.allow).toEqual([]);
    expect(secrets).toEqual([]);
  });

  it('has the agent claude-code where the Agent SDK is there, on the same model', async () => {
    const env = { HOME: folder, MISTRAL_API_KEY: 'a', OPENAI_API_KEY: 'b' };
    const { config } = await loadConfig({ cwd: folder, env, claudeCode: async () => true });
    expect(config.models['agent']).toMatchObject({ engine: 'native', upstream: 'openai' });
    expect(config.models['claude-code']).toEqual({ ...config.models['agent'], engine: 'claude-code' });
  });

  it.each(ENVIRONMENT_UPSTREAMS)(
    "with the key of $name alone leads its agents and Claude's tiers to its models",
    async ({ name, keys: [key], tiers }) => {
      const { config } = await load({ [key]: 'a-key' });
      expect(config.models['agent']).toMatchObject({ upstream: name, model: tiers.sonnet });
      const routed = Object.fromEntries(
        ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-3-5-haiku-20241022', 'claude-fable-5-2'].map(
          (asked) => [asked, routeIn(config, asked)],
        ),
      );
      const own = name === 'anthropic';
      expect(routed).toEqual({
        'claude-opus-5-5': { upstream: name, model: own ? 'claude-opus-5-5' : tiers.opus },
        'claude-sonnet-5-5': { upstream: name, model: own ? 'claude-sonnet-5-5' : tiers.sonnet },
        'claude-3-5-haiku-20241022': {
          upstream: name,
          model: own ? 'claude-3-5-haiku-20241022' : tiers.haiku,
        },
        'claude-fable-5-2': { upstream: name, model: own ? 'claude-fable-5-2' : tiers.sonnet },
      });
      for (const tier of Object.values(tiers)) expect(routeIn(config, tier)?.upstream, tier).toBe(name);
      expect(routeIn(config, 'demo')).toEqual({ upstream: 'demo', model: 'demo' });
      expect(routeIn(config, 'some-other-name'), 'no name falls to the demo model').toBeUndefined();
    },
  );

  it.each([
    ['claude-opus-5-5', 'anthropic'],
    ['gpt-5.4', 'openai'],
    ['o3-mini', 'openai'],
    ['demo', 'demo'],
    ['opus', undefined],
    ['deepseek-chat', 'deepseek'],
    ['gemini-3-pro', 'gemini'],
    ['llama-3.3-70b-versatile', 'groq'],
    ['codestral-latest', 'mistral'],
    ['kimi-k2', 'moonshot'],
    ['qwen3-coder-plus', 'dashscope'],
    ['grok-4', 'xai'],
    ['anthropic/claude-opus-5.5', 'openrouter'],
    ['qwen/qwen3-32b', 'openrouter'],
    ['custom-claude-4-sonnet', undefined],
  ])('routes %s to %s with every key set', async (model, upstream) => {
    expect(routeIn((await load(ALL_KEYS)).config, model)?.upstream).toBe(upstream);
  });

  it('makes an upstream with its key a secret, and counts an empty key as none', async () => {
    const { config, secrets } = await load({
      ANTHROPIC_API_KEY: 'anthropic-key',
      GEMINI_API_KEY: '',
      GOOGLE_API_KEY: 'google-key',
    });
    expect(config.upstreams['anthropic']).toMatchObject({
      dialect: 'anthropic-messages',
      base_url: 'https://api.anthropic.com',
      api_key: 'anthropic-key',
    });
    expect(config.upstreams['gemini']).toMatchObject({ api_key: 'google-key' });
    expect(secrets).toEqual(['anthropic-key', 'google-key']);
  });

  it('takes another address from the environment, and speaks chat there', async () => {
    const { config } = await load({ OPENAI_API_KEY: 'a-key', OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' });
    expect(config.upstreams['openai']).toMatchObject({
      dialect: 'openai-chat',
      base_url: 'http://127.0.0.1:8000/v1',
    });
    const own = await load({ OPENAI_API_KEY: 'a-key', OPENAI_BASE_URL: 'https://api.openai.com/v1/' });
    expect(own.config.upstreams['openai']).toMatchObject({ dialect: 'openai-responses' });
  });

  it('passes over a key that is meant for clients of this gateway', async () => {
    const { config, notices } = await load({
      ANTHROPIC_API_KEY: 'a-key',
      ANTHROPIC_BASE_URL: 'http://localhost:3000',
    });
    expect(Object.keys(config.upstreams)).toEqual(['demo']);
    expect(notices?.[0]?.finding).toContain('ANTHROPIC_BASE_URL points to this gateway');
  });

  it('names the variable that holds something unusable', async () => {
    await expect(load({ OPENAI_API_KEY: 'a-key', OPENAI_BASE_URL: 'localhost:8000' })).rejects.toThrow(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the reference is shown as it is written
      'upstreams.openai.base_url: expected an address that starts with http:// or https:// (the value comes from ${OPENAI_BASE_URL})',
    );
  });
});
