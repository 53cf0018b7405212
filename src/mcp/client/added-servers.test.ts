import { expect, it } from 'vitest';
import { testClient } from '../../../test/support/mcp-servers.js';
import type { McpClientOptions } from './create-client.js';

type AddedServers = NonNullable<McpClientOptions['keep']>;

/** No program of that name: it fails at once, and is listed. */
const config = { type: 'stdio', command: '/nowhere/at/all' };

function kept() {
  const servers = new Map<string, unknown>();
  const keep: AddedServers = {
    servers: async () => [...servers].map(([name, given]) => ({ name, config: given })),
    putServer: async ({ name, config: given }) => void servers.set(name, given),
    removeServer: async (name) => servers.delete(name),
  };
  return { servers, keep };
}

const names = ({ status }: Pick<ReturnType<typeof testClient>, 'status'>) => status().map(({ name }) => name);

it('servers are as they are kept: another comes, one goes, one is changed, those of the file stay', async () => {
  const { servers, keep } = kept();
  const client = testClient({}, { keep, retries: false });
  await client.configure({
    file: { type: 'stdio', command: '/nowhere', args: [], env: {}, shared: true, timeout_s: 60 },
  });
  await client.add('mine', config);
  servers.set('theirs', { ...config, command: '/nowhere/else' });
  servers.set('file', config);
  await client.refresh();
  expect(names(client)).toEqual(['file', 'mine', 'theirs']);
  expect(client.status()[0]?.target).toBe('/nowhere');
  servers.delete('mine');
  servers.set('theirs', { ...config, command: '/nowhere/new' });
  await client.refresh();
  expect(client.status().map(({ name, target }) => [name, target])).toEqual([
    ['file', '/nowhere'],
    ['theirs', '/nowhere/new'],
  ]);
});

it('a server that is being added is not taken for one that was removed', async () => {
  const { keep } = kept();
  let put = (): void => {};
  const slow: AddedServers = {
    ...keep,
    putServer: async (server) => {
      await new Promise<void>((resolve) => {
        put = resolve;
      });
      await keep.putServer(server);
    },
  };
  const client = testClient({}, { keep: slow, retries: false });
  const adding = client.add('mine', config);
  await client.refresh();
  expect(names(client)).toEqual(['mine']);
  put();
  await adding;
  await client.refresh();
  expect(names(client)).toEqual(['mine']);
});

it('a list that was read before a server was added here does not take it away', async () => {
  const { keep } = kept();
  let isFirst = true;
  const late: AddedServers = {
    ...keep,
    servers: async () => {
      const read = await keep.servers();
      if (isFirst) {
        isFirst = false;
        await client.add('mine', config);
      }
      return read;
    },
  };
  const client = testClient({}, { keep: late, retries: false });
  await client.refresh();
  expect(names(client)).toEqual(['mine']);
});
