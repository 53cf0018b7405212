import { describe, expect, it } from 'vitest';
import { loadConfigText } from '../../config/load.js';
import { checkWorkers, prepareWorkers, type WorkersOptions } from './prepare-workers.js';

async function optionsWith(source: string): Promise<WorkersOptions> {
  const loaded = await loadConfigText(source, {
    ...{ file: '/etc/toolgate.yaml', origin: 'given', baseDir: '/etc', env: {}, overrides: {} },
  });
  return {
    ...{ loaded, overrides: { port: 0 }, workers: 2, logLevel: 'silent', version: '1' },
    redact: (line) => line,
  };
}

const CLUSTER = `store: postgres://h/d
cluster: { node: a, advertise: "http://10.0.0.3:3000", secret: 0123456789abcdef }
server: { host: 127.0.0.1 }
`;

describe('what workers are opened with', () => {
  it('on one machine: a free port of loopback each, one secret and one token, the port that is listened on', async () => {
    const [one, two] = prepareWorkers(await optionsWith('store: postgres://h/d\n'), 4321);
    expect(one?.role).toMatchObject({
      ...{ index: 1, workers: 2, node: expect.stringMatching(/:4321$/) },
      own: { host: '127.0.0.1', port: 0, advertised: '127.0.0.1' },
    });
    expect(two?.role).toEqual({ ...one?.role, index: 2 });
    expect(one?.role.secret).toHaveLength(43);
    expect(one?.loaded.config.server.port).toBe(4321);
    expect(one?.overrides).toEqual({ port: 4321 });
  });

  it('in a cluster: the secret of all, and the ports behind the one that is advertised', async () => {
    const roles = prepareWorkers(await optionsWith(CLUSTER), 3000).map(({ role }) => role);
    expect(roles.map(({ own }) => own)).toEqual([
      { host: '127.0.0.1', port: 3001, advertised: '10.0.0.3' },
      { host: '127.0.0.1', port: 3002, advertised: '10.0.0.3' },
    ]);
    expect(roles[0]).toMatchObject({ node: 'a', secret: '0123456789abcdef' });
  });

  it('is refused behind TLS, which workers do not speak with each other', async () => {
    const options = await optionsWith(CLUSTER.replace('http:', 'https:'));
    expect(() => checkWorkers(options)).toThrow('without TLS');
  });
});
