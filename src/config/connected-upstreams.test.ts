import { expect, it } from 'vitest';
import { withConnected } from './connected-upstreams.js';
import { loadConfig, loadConfigText } from './load.js';

const mine = {
  ...{ name: 'mine', dialect: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' },
  ...{ key: { value: `sk-\${HOME}-secret` }, models: ['m1', 'm2'], agentModel: 'm2' },
};

it('without a file, the agent and Claude’s names go to what was connected, and only demo to the demo model', async () => {
  const base = await loadConfig({ cwd: '/nowhere', env: { XDG_CONFIG_HOME: '/nowhere' } });
  const { loaded, problems } = withConnected(base, [mine], {});
  expect(problems.size).toBe(0);
  const { models, upstreams } = loaded.config;
  expect(models['agent']).toMatchObject({ engine: 'native', upstream: 'mine', model: 'm2' });
  expect(models['claude-*']).toMatchObject({ upstream: 'mine', model: 'm2' });
  expect(models['m1']).toMatchObject({ upstream: 'mine' });
  expect(models['*']).toBeUndefined();
  // A key is taken as it is: nothing in it is a reference.
  expect(upstreams['mine']).toMatchObject({ api_key: mine.key.value });
  expect(loaded.secrets).toContain(mine.key.value);
});

it('what the file says wins: its upstreams and its models stay', async () => {
  const file = 'upstreams: { up: { dialect: demo } }\nmodels: { m1: { upstream: up } }\n';
  const base = await loadConfigText(file, { baseDir: '/nowhere', env: {} });
  const { loaded } = withConnected(base, [mine, { ...mine, name: 'up' }], {});
  expect(loaded.config.models['m1']).toEqual(base.config.models['m1']);
  expect(loaded.config.models['m2']).toMatchObject({ upstream: 'mine' });
  expect(loaded.config.upstreams['up']).toEqual({ dialect: 'demo' });
});

it('one whose variable is not set is left out, and says which', async () => {
  const base = await loadConfigText('{}', { baseDir: '/nowhere', env: {} });
  const { loaded, problems } = withConnected(base, [{ ...mine, key: { variable: 'NOT_SET' } }], {});
  expect(problems.get('mine')).toContain('NOT_SET');
  expect(loaded).toBe(base);
});
