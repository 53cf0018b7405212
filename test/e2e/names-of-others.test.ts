/** What a key without `admin` is told of models and folders that are not its own. */
import { realpath } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';

it('a key sees no folder and no figure of models that it may not call, and admin sees all', async () => {
  const [secret, shared] = await Promise.all([folder(), folder()]);
  const { url } = await startTestGateway({
    config: {
      server: {
        keys: [
          { key: 'key-of-root', name: 'root', scopes: ['call', 'approve', 'admin'] },
          { key: 'key-of-bob', name: 'bob', scopes: ['call', 'approve'], models: ['shared'] },
        ],
      },
      models: {
        'quiet-model': { upstream: 'demo' },
        secret: { engine: 'native', upstream: 'demo', cwd: secret },
        shared: { engine: 'native', upstream: 'demo', cwd: shared },
      },
    },
  });
  const ask = (path: string, key: string, body?: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const made: string[] = [];
  for (const project of [secret, shared]) {
    const rule = { rule: 'Bash(npm test)', behaviour: 'allow', scope: 'project', project };
    const answer = await ask('/api/rules', 'key-of-root', rule);
    expect(answer.status).toBe(201);
    made.push(z.object({ id: z.string() }).parse(await answer.json()).id);
  }
  const messages = [{ role: 'user', content: 'hi' }];
  await (await ask('/v1/chat/completions', 'key-of-root', { model: 'quiet-model', messages })).text();

  const seen = async (path: string, key: string): Promise<string> => (await ask(path, key)).text();
  const [rules, figures] = [await seen('/api/rules', 'key-of-bob'), await seen('/metrics', 'key-of-bob')];
  expect(rules).toContain(shared);
  expect(rules).not.toContain(secret);
  expect(figures).toContain('toolgate_requests_total');
  expect(figures).not.toContain('quiet-model');
  const revoke = await fetch(`${url}/api/rules/${made[0]}`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer key-of-bob' },
  });
  expect(revoke.status).toBe(404);

  expect(await seen('/api/rules', 'key-of-root')).toContain(secret);
  expect(await seen('/metrics', 'key-of-root')).toContain('model="quiet-model"');
});

async function folder(): Promise<string> {
  return realpath((await tempFolder()).path);
}
