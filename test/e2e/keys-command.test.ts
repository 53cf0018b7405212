/** `toolgate keys`: over the API of a gateway that runs, else in the store. */
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { runCommand, startGatewayProcess } from '../support/gateway.js';
import { freePort } from '../support/scripted-upstream.js';

async function keys(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const command = await runCommand({ folder, args: ['keys', ...args, '--config', 'toolgate.yaml'], env });
  const { code } = await command.exited;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

const ask = async (url: string, key: string): Promise<number> => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await answer.text();
  return answer.status;
};

it('makes keys before the gateway first starts, prints the secret once, and rotates and revokes while it runs', async () => {
  const { path: folder } = await tempFolder();
  const port = await freePort();
  const config = { server: { port }, models: { '*': { upstream: 'demo' } } };
  const prepared = await runCommand({ folder, config, args: ['--version'] });
  await prepared.exited;

  const made = await keys(folder, [
    'create',
    'ci',
    '--expires',
    '1d',
    '--budget',
    '5/day',
    '--models',
    'demo,gpt-*',
  ]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sk-tg-[A-Za-z0-9]{43}\n$/) });
  const secret = made.stdout.trim();
  const listed = await keys(folder, ['list']);
  expect(listed.stdout).toMatch(/^ci +active +sk-tg-\w{5}… +call +demo,gpt-\* +20/m);
  expect(listed.stdout + listed.stderr + made.stderr).not.toContain(secret);

  const gateway = await startGatewayProcess({
    folder,
    args: ['start', '--config', 'toolgate.yaml', '--log-level', 'silent'],
  });
  expect([await ask(gateway.url, secret), await ask(gateway.url, 'none')]).toEqual([403, 401]);
  const admin = await keys(folder, ['create', 'boss', '--scopes', 'call,admin', '--json']);
  const boss: { secret: string } = JSON.parse(admin.stdout);
  expect(await ask(gateway.url, boss.secret)).toBe(200);

  const env = { TOOLGATE_KEY: boss.secret };
  const rotated = await keys(folder, ['rotate', 'boss', '--overlap', '1h'], env);
  expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining(`is in ${gateway.url}`) });
  expect(await ask(gateway.url, rotated.stdout.trim())).toBe(200);
  const revoked = await keys(folder, ['revoke', 'ci'], env);
  expect([revoked.code, await ask(gateway.url, secret)]).toEqual([0, 401]);
  const refused = await keys(folder, ['revoke', 'ci'], env);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('There is no key "ci"')]);
});

it('says how it is used', async () => {
  const { path: folder } = await tempFolder();
  const prepared = await runCommand({ folder, config: {}, args: ['--version'] });
  await prepared.exited;
  for (const [args, problem] of [
    [[], 'keys create, list, rotate or revoke'],
    [['create'], 'Say which key'],
    [['create', 'x', '--expires', 'soon'], '--expires takes a time as 30m'],
    [['create', 'x', '--budget', '5'], '--budget takes dollars and a period'],
  ] as const) {
    const wrong = await keys(folder, args);
    expect([args, wrong.code, wrong.stderr]).toEqual([args, 2, expect.stringContaining(problem)]);
  }
  const past = await keys(folder, ['create', 'x', '--expires', '2020-01-01']);
  expect([past.code, past.stderr]).toEqual([
    1,
    expect.stringContaining('expires_at: expected a time to come'),
  ]);
});
