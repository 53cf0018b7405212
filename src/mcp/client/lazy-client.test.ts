import { describe, expect, it } from 'vitest';
import { createLazyMcpClient } from './lazy-client.js';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

const clientOf = (servers: Parameters<typeof createLazyMcpClient>[0]['servers'] = {}) =>
  createLazyMcpClient({ servers, version: '0', log: QUIET, environment: {}, baseDir: '/', retries: false });

const missing = {
  type: 'stdio' as const,
  command: '/nowhere/server',
  args: [],
  env: {},
  shared: true,
  timeout_s: 1,
};

describe('a client that is loaded when it is needed', () => {
  it('has nothing without a server', async () => {
    const client = clientOf();
    await client.settled(AbortSignal.timeout(1000));
    expect(client.tools()).toEqual([]);
    expect(client.status()).toEqual([]);
    await client.closeSession('s');
    await client.close();
  });

  it('connects to the servers of the configuration by itself', async () => {
    const client = clientOf({ docs: missing });
    await client.settled(AbortSignal.timeout(30_000));
    expect(client.status()).toMatchObject([{ name: 'docs', state: 'failed' }]);
    await client.close();
  });

  it('takes a server that is added later, and says what is wrong with it', async () => {
    const client = clientOf();
    await expect(client.reconnect('docs')).rejects.toMatchObject({ code: 'not_found' });
    await client.add('docs', { type: 'stdio', command: '/nowhere/server' });
    expect(client.status()).toMatchObject([{ name: 'docs' }]);
    await client.close();
  });

  it('leaves nothing open when it is closed while it is loaded', async () => {
    const client = clientOf({ docs: missing });
    await client.close();
    expect(client.status().every(({ state }) => state !== 'connected')).toBe(true);
  });
});
