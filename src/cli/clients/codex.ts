/** Codex: the gateway as a provider of its own, by overrides of its configuration on the command line. */
import { type CodingClient, KEY_VARIABLE } from './client.js';

/** A string of JSON is one of TOML. */
const text = (value: string): string => JSON.stringify(value);

export const codex: CodingClient = {
  title: 'Codex',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  async prepare({ url, credential, env, models }) {
    const [{ id, contextWindow }] = await models();
    const provider = [
      `name = "Toolgate"`,
      `base_url = ${text(`${url}/v1`)}`,
      `wire_api = "responses"`,
      `env_key = ${text(KEY_VARIABLE)}`,
      'supports_websockets = true',
    ];
    const overrides = [
      `model_providers.toolgate={ ${provider.join(', ')} }`,
      'model_provider="toolgate"',
      `model=${text(id)}`,
      ...(contextWindow === undefined ? [] : [`model_context_window=${contextWindow}`]),
    ];
    return {
      env: { ...env, [KEY_VARIABLE]: credential },
      args: overrides.flatMap((override) => ['-c', override]),
    };
  },
};
