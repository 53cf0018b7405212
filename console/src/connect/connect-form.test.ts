import { describe, expect, it } from 'vitest';
import {
  agentModelOf,
  checkConnected,
  checkReached,
  connectionOf,
  fieldOf,
  fieldOfProblem,
  fromLocal,
  fromNothing,
  fromProvider,
  modelsOf,
  withModels,
} from './connect-form.js';
import { ofField, upstreamSentence } from './problem-sentences.js';

const PROVIDER = {
  ...{ name: 'anthropic', title: 'Anthropic', dialect: 'anthropic-messages' },
  ...{ base_url: 'https://api.anthropic.com', key_variable: 'ANTHROPIC_API_KEY', key_is_set: false },
  suggested: ['sonnet', 'opus'],
};
const SITUATION = { taken: ['demo'], canStore: true };

describe('a form for a provider', () => {
  it('begins with what is known, under a name that is free', () => {
    expect(fromProvider(PROVIDER, SITUATION).form).toMatchObject({
      ...{ name: 'anthropic', address: 'https://api.anthropic.com', keyFrom: 'typed', key: '' },
    });
    const taken = { ...SITUATION, taken: ['anthropic', 'anthropic-2'] };
    expect(fromProvider(PROVIDER, taken).form.name).toBe('anthropic-3');
  });

  it.each([
    ['the environment has the key', { ...PROVIDER, key_is_set: true }, SITUATION],
    ['a typed key could not be stored', PROVIDER, { ...SITUATION, canStore: false }],
  ])('names the variable where %s', (_why, provider, situation) => {
    const { form } = fromProvider(provider, situation);
    expect(form).toMatchObject({ keyFrom: 'environment', variable: 'ANTHROPIC_API_KEY' });
    expect(connectionOf(form, ['sonnet'])).toMatchObject({ api_key_env: 'ANTHROPIC_API_KEY' });
    expect(connectionOf(form, ['sonnet'])).not.toHaveProperty('api_key');
  });

  it('chooses what is suggested, else a short list, else nothing', () => {
    const { form, starting } = fromProvider(PROVIDER, SITUATION);
    const many = Array.from({ length: 50 }, (_, index) => `m${index}`);
    expect(withModels(form, starting, [...many, 'opus']).models).toEqual(['opus']);
    expect(withModels(form, starting, ['a', 'b']).models).toEqual(['a', 'b']);
    expect(withModels(form, starting, many).models).toEqual([]);
    expect(withModels({ ...form, models: ['m7', 'gone'] }, starting, many).models).toEqual(['m7']);
  });

  it('needs a key, which a server of one’s own may not', () => {
    const { form, starting } = fromProvider(PROVIDER, SITUATION);
    expect(checkReached(form, starting)).toEqual({ key: 'key-missing' });
    const other = fromNothing('Other', SITUATION);
    expect(checkReached(other.form, other.starting)).toEqual({ address: 'address-missing' });
    expect(checkReached({ ...other.form, address: 'localhost:1' }, other.starting)).toEqual({
      address: 'address-scheme',
    });
  });
});

it('a server of this machine is ready as it is', () => {
  const server = {
    name: 'ollama',
    title: 'Ollama',
    dialect: 'openai-chat',
    base_url: 'http://127.0.0.1:1/v1',
  };
  const { form, starting } = fromLocal({ ...server, models: ['a', 'b'] }, SITUATION);
  const models = modelsOf(form, { ok: true, problem: null, models: ['a', 'b'] });
  expect(checkConnected(form, starting, models, ['demo'])).toEqual({});
  expect(connectionOf({ ...form, agentModel: 'b' }, models)).toEqual({
    ...{ name: 'ollama', dialect: 'openai-chat', base_url: 'http://127.0.0.1:1/v1' },
    ...{ models: ['a', 'b'], agent_model: 'b' },
  });
  expect(agentModelOf({ ...form, agentModel: 'gone' }, models)).toBe('a');
});

it('names that were typed count where the server has no list', () => {
  const { form } = fromNothing('Other', SITUATION);
  const typed = { ...form, typedModels: ' one\ntwo, one\n' };
  expect(modelsOf(typed, { ok: false, problem: 'no list', models: null })).toEqual(['one', 'two']);
});

it('what the gateway says stands at its field, in both languages', () => {
  const { form } = fromProvider(PROVIDER, SITUATION);
  expect(['base_url', 'models.3', 'agent_model', 'nothing'].map(fieldOf)).toEqual([
    ...['address', 'models', 'agent', undefined],
  ]);
  const refused = 'It refuses the key (401). Is the key whole, not revoked, and of this provider?';
  expect(fieldOfProblem(refused, form)).toBe('key');
  expect(fieldOfProblem('Could not fetch from x: nothing listens there.', form)).toBe('address');
  expect(upstreamSentence(refused, 'zh')).toBe(
    '密钥被拒绝（401）。请确认密钥完整、未被吊销，并且属于该服务商。',
  );
  expect(upstreamSentence(refused, 'en')).toBe(refused);
  const message = 'name: there is an upstream "a" already; choose another name, or remove that one.';
  expect(ofField(message, 'name')).toBe(
    'There is an upstream "a" already; choose another name, or remove that one.',
  );
  expect(upstreamSentence(ofField(message, 'name'), 'zh')).toContain('已有名为“a”的上游服务');
});
