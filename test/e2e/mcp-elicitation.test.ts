/** A server asks a person in the middle of a call: in both eras a card with a form, which a person answers. */
import { describe, expect, it } from 'vitest';
import { newestServer, oddServer } from '../support/mcp-servers.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import { api, connect, decide, lookIn, pending, startVirtual, textOf } from './mcp-virtual-harness.js';

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City\u202e', minLength: 2 },
    nights: { type: 'integer', minimum: 1, maximum: 9 },
    breakfast: { type: 'boolean', default: true },
    room: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Single' },
        { const: 'd', title: 'Double' },
      ],
    },
  },
  required: ['city', 'room'],
};

const QUESTION = { message: 'Which one?', requestedSchema: SCHEMA };

/** The same question on a server of each era. */
const ERAS = [
  { era: 'older', name: 'mcp__old__ask', arguments: { method: 'elicitation/create', params: QUESTION } },
  { era: 'newest', name: 'mcp__new__ask', arguments: { schema: SCHEMA } },
] as const;

async function start(permissions: object = {}) {
  const gateway = await startVirtual({
    mcpServers: { old: oddServer(), new: newestServer('only') },
    permissions: { unattended: 'wait', ...permissions },
  });
  await until(async () => {
    const { json } = await api(gateway, '/api/mcp');
    const servers = Array.isArray(json['data']) ? json['data'] : [];
    return servers.length === 2 && servers.every(({ state }) => state === 'connected');
  });
  await lookIn(gateway);
  const { client } = await connect(gateway);
  return { gateway, client };
}

/** What the server was told, in the words of its era. */
function told(result: unknown): unknown {
  const said: unknown = JSON.parse(textOf(result));
  return isRecord(said) && isRecord(said['result']) ? said['result'] : said;
}

describe('a question of a server', () => {
  it('is a card with a form, whose answer is checked by its schema, in both eras', async () => {
    const { gateway, client } = await start();
    for (const { era, ...call } of ERAS) {
      const called = client.callTool(call);
      const approval = await pending(gateway);
      expect(approval, era).toMatchObject({
        tool: call.name,
        question: true,
        expires_at: expect.any(String),
        describe: {
          detail: 'Which one?',
          form: {
            fields: [
              { name: 'city', label: 'City\\u{202e}', kind: 'text', required: true, least: 2 },
              { name: 'nights', kind: 'integer', least: 1, most: 9, required: false },
              { name: 'breakfast', kind: 'boolean', initial: true },
              { name: 'room', kind: 'choice', options: [{ value: 's', label: 'Single' }, { value: 'd' }] },
            ],
          },
        },
      });
      const wrong = await decide(gateway, approval, {
        decision: 'allow',
        updatedInput: { values: { city: 'Rome', nights: 2.5, room: 's' } },
      });
      expect(wrong.status).toBe(422);
      expect(JSON.stringify(wrong.json)).toContain('expected a whole number');
      const values = { city: 'Rome', nights: 2, breakfast: false, room: 'd' };
      expect((await decide(gateway, approval, { decision: 'allow', updatedInput: { values } })).status).toBe(
        200,
      );
      expect(told(await called), era).toMatchObject({ action: 'accept', content: values });

      const refused = client.callTool(call);
      expect((await decide(gateway, await pending(gateway), { decision: 'deny' })).status, era).toBe(200);
      expect(told(await refused), era).toMatchObject({ action: 'decline' });
    }
  });

  it('is cancelled when the time for it is over, and where nobody can know what call it is about', async () => {
    const { gateway, client } = await start({ approval_timeout_s: 1 });
    for (const { era, ...call } of ERAS) {
      expect(told(await client.callTool(call)), era).toMatchObject({ action: 'cancel' });
    }
    const [{ era: _, ...older }] = ERAS;
    const other = client.callTool({ name: 'mcp__old__hold', arguments: { key: 'k' } });
    const { client: second } = await connect(gateway);
    expect(told(await second.callTool(older))).toMatchObject({ action: 'cancel' });
    await second.callTool({ name: 'mcp__old__release', arguments: { key: 'k', text: 'held' } });
    expect(textOf(await other)).toBe('held');
  });

  it('is nobody else’s where a call was left that the server may still ask about', async () => {
    const { gateway, client } = await start();
    const [{ era: _, ...older }] = ERAS;
    const left = new AbortController();
    const called = client.callTool(older, undefined, { signal: left.signal });
    const { id } = await pending(gateway);
    left.abort();
    await expect(called).rejects.toThrow();
    await until(async () => (await api(gateway, `/api/approvals/${id}`)).json['state'] === 'cancelled');
    const { client: second } = await connect(gateway);
    expect(told(await second.callTool(older))).toMatchObject({ action: 'cancel' });
    const again = client.callTool(older);
    await decide(gateway, await pending(gateway), { decision: 'deny' });
    expect(told(await again)).toMatchObject({ action: 'decline' });
  });

  it('that sends the person to a page shows its address and opens nothing', async () => {
    const { gateway, client } = await start();
    const called = client.callTool({ name: 'mcp__new__send', arguments: {} });
    const approval = await pending(gateway);
    expect(approval).toMatchObject({
      describe: {
        url: 'https://pay.example/order?id=1',
        form: { fields: [], url: 'https://pay.example/order?id=1' },
      },
    });
    await decide(gateway, approval, { decision: 'allow' });
    expect(textOf(await called)).toBe('accept');
  });

  it('is answered by nobody who may not approve, and is nobody else’s to see', async () => {
    const { gateway, client } = await start();
    const called = client.callTool({ name: 'mcp__new__ask', arguments: { schema: SCHEMA } });
    const approval = await pending(gateway);
    const answer = { decision: 'allow', digest: approval['digest'], updatedInput: { values: { city: 'x' } } };
    const path = `/api/approvals/${approval['id']}`;
    expect((await api(gateway, path, { key: 'key-of-bob', body: answer })).status).toBe(403);
    expect((await api(gateway, path, { key: 'key-of-eve', body: answer })).status).toBe(404);
    await decide(gateway, approval, { decision: 'deny' });
    await called;
  });
});
