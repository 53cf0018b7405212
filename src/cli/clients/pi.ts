/** pi: an extension that adds the gateway as a provider, for this run alone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CodingClient, KEY_VARIABLE, USUAL_WINDOW } from './client.js';

const OUTPUT_TOKENS = 32_000;
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export const pi: CodingClient = {
  title: 'pi',
  program: 'pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  async prepare({ url, credential, env, models, folder }) {
    const offered = await models();
    const provider = {
      baseUrl: url,
      api: 'anthropic-messages',
      apiKey: `$${KEY_VARIABLE}`,
      models: offered.map(({ id, contextWindow = USUAL_WINDOW }) => ({
        id,
        name: id,
        reasoning: false,
        input: ['text', 'image'],
        cost: FREE,
        contextWindow,
        maxTokens: Math.min(OUTPUT_TOKENS, contextWindow),
      })),
    };
    const extension = join(await folder(), 'toolgate.js');
    const registration = `export default (pi) => pi.registerProvider('toolgate', ${JSON.stringify(provider)});\n`;
    await writeFile(extension, registration);
    return {
      env: { ...env, [KEY_VARIABLE]: credential },
      args: ['--extension', extension, '--provider', 'toolgate', '--model', offered[0].id],
    };
  },
};
