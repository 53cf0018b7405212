import { describe, expect, it } from 'vitest';
import { loadConfigText } from '../config/load.js';
import { chatModel } from './chat.js';
import { UsageError } from './shared/command.js';

const HEAD = `
upstreams:
  local: { dialect: openai-chat, base_url: http://127.0.0.1:1/v1 }
`;

async function configOf(models: string) {
  const { config } = await loadConfigText(`${HEAD}models:\n${models}`, { baseDir: '/', env: {} });
  return config;
}

describe('the model of a chat', () => {
  it('is the agent of the configuration', async () => {
    const config = await configOf(
      '  fast: { upstream: local }\n  coder: { engine: native, upstream: local, max_turns: 7 }',
    );
    const chosen = chatModel(config, undefined, '/here');
    expect(chosen).toMatchObject({ model: 'coder', upstreams: ['local'] });
  });

  it('works in the folder that the person is in, for as long as they want', async () => {
    const config = await configOf(
      '  coder: { engine: native, upstream: local, cwd: ./work, max_turns: 3, tools: [Read] }',
    );
    expect(chatModel(config, 'coder', '/here').config.models['coder']).toMatchObject({
      cwd: '/here',
      max_turns: 100,
      tools: ['Read'],
    });
  });

  it('makes an agent of a model that is relayed', async () => {
    const config = await configOf('  fast: { upstream: local, model: big, context_window: 1000 }');
    const chosen = chatModel(config, undefined, '/here');
    expect(chosen.config.models['fast']).toMatchObject({
      engine: 'native',
      upstream: 'local',
      model: 'big',
      context_window: 1000,
      tools: 'all',
    });
    expect(config.models['fast']?.engine).toBe('relay');
  });

  it('may be any name that a glob routes', async () => {
    const chosen = chatModel(await configOf('  "qwen*": { upstream: local }'), 'qwen3', '/here');
    expect(chosen.config.models['qwen3']).toMatchObject({ engine: 'native', model: 'qwen3' });
  });

  it('has to be named where only globs are connected', async () => {
    const config = await configOf('  "qwen*": { upstream: local }\n  "*": { upstream: demo }');
    expect(() => chatModel(config, undefined, '/here')).toThrow(/--model; connected are: qwen\*\.$/);
  });

  it('is the demo model where nothing is connected', async () => {
    expect(chatModel(await configOf('  "*": { upstream: demo }'), undefined, '/here').model).toBe('demo');
  });

  it('must be one that is there', async () => {
    const config = await configOf('  fast: { upstream: local }');
    expect(() => chatModel(config, 'slow', '/here')).toThrow(UsageError);
  });
});
