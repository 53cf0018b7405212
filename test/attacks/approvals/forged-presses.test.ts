/** Presses of buttons that no provider has sent: anybody can reach the address where answers come to. */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { api, connect, startVirtual, textOf } from '../../e2e/mcp-virtual-harness.js';
import { startProvider } from '../../support/provider-site.js';

const SIGNING_SECRET = 'of-slack-and-nobody-else';
const TOKEN = 'of-telegram-and-nobody-else';

const slackHeaders = (body: string, secret: string, at: number) => ({
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(at),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
});

it('none of them decides, and the real one still does', async () => {
  const ntfy = await startProvider(() => ({ body: { id: 'n1' } }));
  const others = await startProvider(() => ({ body: { ok: true, ts: '1', channel: 'C1', result: {} } }));
  const gateway = await startVirtual({
    permissions: { mode: 'ask' },
    more: {
      notify: {
        public_url: 'https://gate.example.com',
        allow_private: [ntfy.host, others.host],
        people: { carol: { slack: 'U1', telegram: '7' } },
        targets: {
          phone: { type: 'ntfy', base_url: ntfy.url, topic: 'topic-1', person: 'carol' },
          second: { type: 'ntfy', base_url: others.url, topic: 'topic-2', person: 'carol' },
          team: {
            ...{ type: 'slack', base_url: others.url, token: 'xoxb-1', channel: 'C1' },
            signing_secret: SIGNING_SECRET,
          },
          chat: { type: 'telegram', base_url: others.url, token: '1:a', chat: 1, secret_token: TOKEN },
        },
        ask: [{ targets: ['phone'] }],
      },
    },
  });
  const { client } = await connect(gateway);
  const result = client.callTool({
    name: 'Bash',
    arguments: { command: 'echo pressed > out.txt; cat out.txt' },
  });
  const { actions } = JSON.parse((await ntfy.next()).body);
  const allow: string = actions.find(({ label }: { label: string }) => label === 'Allow').body;
  const deny: string = actions.find(({ label }: { label: string }) => label === 'Deny').body;
  const press = async (target: string, body: string, headers: Record<string, string>) => {
    const url = `${gateway.url}/api/notify/${target}/answer`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const state = async () => {
    const { json } = await api(gateway, '/api/approvals?state=all');
    return json['data'];
  };

  const now = Math.floor(Date.now() / 1000);
  const slack = `payload=${encodeURIComponent(JSON.stringify({ type: 'block_actions', user: { id: 'U1' }, actions: [{ value: allow }] }))}`;
  const telegram = JSON.stringify({
    update_id: 1,
    callback_query: { id: '1', from: { id: 7 }, data: allow },
  });
  const json = { 'content-type': 'application/json' };
  const forged: [string, string, Record<string, string>, number?][] = [
    ['phone', deny.replace('deny', 'allow'), json],
    ['phone', '{}', json],
    ['phone', 'allow', json],
    // The proof of one target at another.
    ['second', allow, json, 409],
    ['team', slack, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['team', slack, slackHeaders(slack, 'another secret', now)],
    ['team', slack, slackHeaders(slack, SIGNING_SECRET, now - 3600)],
    ['team', slack, slackHeaders(`${slack} `, SIGNING_SECRET, now)],
    ['team', allow, json],
    ['chat', telegram, json],
    ['chat', telegram, { ...json, 'x-telegram-bot-api-secret-token': `${TOKEN}x` }],
    ['chat', allow, json],
  ];
  for (const [target, body, headers, status = 403] of forged) {
    expect({ target, body, status: await press(target, body, headers) }).toEqual({ target, body, status });
    expect(await state()).toMatchObject([{ state: 'pending' }]);
  }

  expect(await press('phone', allow, json)).toBe(200);
  expect(textOf(await result)).toContain('pressed');
  expect(await state()).toMatchObject([{ state: 'allowed', decision: { by: 'carol', via: 'ntfy' } }]);
});
