/** One connection to an MCP server is shared by clients, and an answer goes to the wrong one. */
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/cleanup.js';
import { startTestGateway } from '../../support/gateway.js';
import { everythingServer, oddServer } from '../../support/mcp-servers.js';
import { inDialect } from '../../support/scripted-answers.js';
import { startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import { callAnswer, textAnswer } from '../../support/wire.js';
import { MODEL, openAgent } from '../agent-probe.js';

const KEYS = ['k-alice-0123456789', 'k-bob-01234567890', 'k-carol-012345678'].map((key) => ({
  key,
  name: key.slice(2, 5),
  scopes: ['call'],
}));

async function connected(look: () => Promise<string>): Promise<void> {
  await until(async () => (await look()).includes('"connected"'));
}

describe('a server that several clients use at once', () => {
  it('answers each with its own, also where all of their calls have the same id', async () => {
    // The model has its word called out, under one id for everybody, and tells the client what it heard.
    const upstream = await startUpstream((request, index) => {
      const heard = /Echo: word-[0-9]+/.exec(request.text)?.[0];
      const word = /word-[0-9]+/.exec(request.text)?.[0] ?? 'none';
      const said =
        heard === undefined ? callAnswer('mcp__every__echo', { message: word }) : textAnswer(heard);
      return inDialect(said)(request, index);
    });
    const { path: cwd } = await tempFolder('toolgate-shared');
    const gateway = await startTestGateway({
      config: {
        server: { keys: KEYS },
        upstreams: { scripted: upstream.config('anthropic-messages') },
        models: { [MODEL]: { engine: 'native', upstream: 'scripted', model: 'm', cwd } },
        permissions: { mode: 'allow' },
        mcp_servers: { every: everythingServer() },
      },
    });
    const get = async (key: string): Promise<string> =>
      (await fetch(`${gateway.url}/api/mcp`, { headers: { 'x-api-key': key } })).text();
    await connected(() => get(KEYS[0]?.key ?? ''));
    const answers = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const response = await fetch(`${gateway.url}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': KEYS[index % KEYS.length]?.key ?? '' },
          body: JSON.stringify({
            model: MODEL,
            max_tokens: 100,
            messages: [{ role: 'user', content: `word-${index}` }],
          }),
        });
        return response.text();
      }),
    );
    for (const [index, answer] of answers.entries()) expect(answer).toContain(`"Echo: word-${index}"`);
  });

  it('is a process of its own for each conversation where it is not to be shared', async () => {
    const agent = await openAgent({
      rest: { mcp_servers: { odd: { ...oddServer('plain'), shared: false } } },
    });
    await connected(async () => (await agent.api('GET', '/api/mcp')).text);
    const pids = [
      (await agent.run(['mcp__odd__pid', {}]))[0]?.text,
      (await agent.run(['mcp__odd__pid', {}]))[0]?.text,
    ];
    expect(pids[0]).toMatch(/^\d+$/);
    expect(pids[1]).toMatch(/^\d+$/);
    expect(pids[0]).not.toBe(pids[1]);
  });
});
