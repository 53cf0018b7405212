/** Resources and prompts of servers: for clients of /mcp/gateway in both eras, and as tools for agents. */
import { expect, it } from 'vitest';
import { everythingServer, newestServer } from '../support/mcp-servers.js';
import { until } from '../support/until.js';
import {
  api,
  connect,
  connectNewest,
  startVirtual,
  textOf,
  type VirtualOptions,
} from './mcp-virtual-harness.js';

async function start(options: VirtualOptions = {}) {
  const gateway = await startVirtual({
    mcpServers: { every: everythingServer(), newest: newestServer('only') },
    ...options,
  });
  await until(async () => {
    const { json } = await api(gateway, '/api/mcp');
    const servers = Array.isArray(json['data']) ? json['data'] : [];
    return servers.length === 2 && servers.every(({ state }) => state === 'connected');
  });
  return gateway;
}

it('are listed under their server and read through the gateway, by clients of both eras', async () => {
  const gateway = await start();
  const clients = [(await connect(gateway)).client, (await connectNewest(gateway)).client];
  for (const client of clients) {
    const { resources } = await client.listResources();
    const note = resources.find(({ uri }) => uri === 'toolgate:newest/note:///one');
    expect(note).toMatchObject({ name: 'one', mimeType: 'text/plain' });
    expect(resources.some(({ uri }) => uri.startsWith('toolgate:every/'))).toBe(true);
    expect(await client.readResource({ uri: 'toolgate:newest/note:///one' })).toMatchObject({
      contents: [{ uri: 'toolgate:newest/note:///one', mimeType: 'text/plain', text: 'The first note.' }],
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      'toolgate:newest/note:///{name}',
    );
    expect(await client.readResource({ uri: 'toolgate:newest/note:///two' })).toMatchObject({
      contents: [{ text: 'The note two.' }],
    });

    const { prompts } = await client.listPrompts();
    expect(prompts.find(({ name }) => name === 'mcp__newest__greet')).toMatchObject({
      arguments: [{ name: 'who', required: true }],
    });
    expect(prompts.some(({ name }) => name.startsWith('mcp__every__'))).toBe(true);
    expect(await client.getPrompt({ name: 'mcp__newest__greet', arguments: { who: 'Ada' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }],
    });
    for (const uri of ['note:///one', 'toolgate:nowhere/note:///one', 'toolgate:newest/']) {
      await expect(client.readResource({ uri })).rejects.toThrow('There is no resource');
    }
    await expect(client.readResource({ uri: 'toolgate:newest/note:///none/at/all' })).rejects.toThrow();
    await expect(client.getPrompt({ name: 'greet', arguments: {} })).rejects.toThrow('There is no prompt');
  }
});

it('are tools for agents, under the rules of their server', async () => {
  const gateway = await start({ permissions: { deny: ['mcp__newest__read_resource'] } });
  const { client } = await connect(gateway);
  const listed = await client.callTool({ name: 'mcp__newest__list_resources', arguments: {} });
  expect(textOf(listed)).toContain('note:///one');
  const prompt = await client.callTool({
    name: 'mcp__newest__get_prompt',
    arguments: { name: 'greet', arguments: { who: 'Ada' } },
  });
  expect(textOf(prompt)).toContain('Greet Ada.');
  const denied = await client.callTool({
    name: 'mcp__newest__read_resource',
    arguments: { uri: 'note:///one' },
  });
  expect(denied).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'denied' } });
  await expect(client.readResource({ uri: 'toolgate:newest/note:///one' })).rejects.toThrow(
    'The rule `mcp__newest__read_resource`',
  );
});
