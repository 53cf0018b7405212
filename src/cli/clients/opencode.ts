/** opencode: a provider in a configuration that it lays over its own, from its environment. */
import { type CodingClient, KEY_VARIABLE, USUAL_WINDOW } from './client.js';

/** Longer answers are asked for by nobody. */
const OUTPUT_TOKENS = 32_000;

export const opencode: CodingClient = {
  title: 'opencode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  async prepare({ url, credential, env, models }) {
    const offered = await models();
    const listed = offered.map(({ id, contextWindow = USUAL_WINDOW }) => [
      id,
      { limit: { context: contextWindow, output: Math.min(OUTPUT_TOKENS, contextWindow) } },
    ]);
    const model = `toolgate/${offered[0].id}`;
    const config = {
      model,
      small_model: model,
      provider: {
        toolgate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Toolgate',
          options: { baseURL: `${url}/v1`, apiKey: `{env:${KEY_VARIABLE}}` },
          models: Object.fromEntries(listed),
        },
      },
    };
    return {
      env: { ...env, [KEY_VARIABLE]: credential, OPENCODE_CONFIG_CONTENT: JSON.stringify(config) },
      args: [],
    };
  },
};
