/** Qwen Code: an OpenAI endpoint in its environment, and the model on its command line. */
import type { CodingClient } from './client.js';

export const qwen: CodingClient = {
  title: 'Qwen Code',
  program: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  async prepare({ url, credential, env, models }) {
    const [{ id }] = await models();
    return {
      env: { ...env, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: credential, OPENAI_MODEL: id },
      args: ['--auth-type', 'openai', '--openai-base-url', `${url}/v1`, '--model', id],
    };
  },
};
