/** Gateways that share a PostgreSQL store as nodes: who may join, under which name. */
import { hostname } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinCluster, type MembershipOptions, NODE_LIMITS } from '../../../src/cluster/membership.js';
import type { NodeStore } from '../../../src/store/nodes.js';
import { openStore } from '../../../src/store/open/open-store.js';
import type { Store } from '../../../src/store/store.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { runCommand, startGatewayProcess } from '../../support/gateway.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { clockOff } from '../../support/wrong-clock.js';

const SECRET = 'secret-of-the-nodes';
const { lostMs } = NODE_LIMITS;

let server: TestPostgres;
let url = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  url = server.url(await server.create());
});

async function openClusterStore(): Promise<Store & { nodes: NodeStore }> {
  const store = await openStore(url, { baseDir: '/' });
  closeAfterTest(() => store.close());
  const { nodes } = store;
  if (nodes === undefined) throw new Error('The store has no nodes.');
  return Object.assign(store, { nodes });
}

const openNodes = async (): Promise<NodeStore> => (await openClusterStore()).nodes;

const NO_LOG = { warn: () => {}, error: () => {} };

async function join(nodes: NodeStore, name: string, more: Partial<MembershipOptions> = {}) {
  const membership = await joinCluster({
    ...{ nodes, name, instance: `${name}/1`, address: `http://${name}:3000`, secret: SECRET, version: '1' },
    ...{ workspaces: [], isGone: () => false, log: NO_LOG },
    ...more,
  });
  closeAfterTest(() => membership.leave());
  return membership;
}

describe('a node', () => {
  it('is listed with its address and its folders from when it joins until it leaves', async () => {
    const nodes = await openNodes();
    await join(nodes, 'b', { workspaces: ['/srv/shared'] });
    const a = await join(nodes, 'a');
    expect(await nodes.list(lostMs)).toMatchObject([
      { name: 'a', address: 'http://a:3000', workspaces: [] },
      { name: 'b', address: 'http://b:3000', workspaces: ['/srv/shared'] },
    ]);
    expect(JSON.stringify(await nodes.list(lostMs))).not.toContain(SECRET);
    await a.leave();
    expect((await nodes.list(lostMs)).map(({ name }) => name)).toEqual(['b']);
  });

  it('is refused by name where another that is alive has its name', async () => {
    const nodes = await openNodes();
    await join(nodes, 'a');
    const second = join(nodes, 'a', { instance: 'a/2', address: 'http://other:3000' });
    await expect(second).rejects.toMatchObject({ code: 'unavailable', detail: 'cluster_refused' });
    await expect(second).rejects.toThrow(
      /Another node has the name a: it is at http:\/\/a:3000.*cluster\.node/,
    );
    expect(await nodes.list(lostMs)).toMatchObject([{ instance: 'a/1' }]);
  });

  it('has its name back at once where its process of before is known to have ended', async () => {
    const nodes = await openNodes();
    await join(nodes, 'a');
    await join(nodes, 'a', { instance: 'a/2', isGone: (instance) => instance === 'a/1' });
    expect(await nodes.list(lostMs)).toMatchObject([{ instance: 'a/2' }]);
    // The one that came later is not thrown out by the beat of the former.
    expect(await nodes.beat('a', 'a/1')).toBeUndefined();
    await nodes.leave('a', 'a/1');
    expect(await nodes.list(lostMs)).toHaveLength(1);
  });

  it('takes the name of one that is not heard of any more', async () => {
    const nodes = await openNodes();
    const first = {
      name: 'a',
      instance: 'a/1',
      address: 'http://a:1',
      secretCheck: 'x',
      version: '1',
      workspaces: [],
    };
    expect(await nodes.join(first, { lostMs })).toMatchObject({ joined: true });
    expect(await nodes.join({ ...first, instance: 'a/2' }, { lostMs })).toMatchObject({
      joined: false,
      reason: 'name',
    });
    expect(await nodes.join({ ...first, instance: 'a/2' }, { lostMs: 0 })).toMatchObject({ joined: true });
    expect(await nodes.list(0)).toEqual([]);
  });

  it('is one of those that come at once under the same name', async () => {
    const nodes = [await openNodes(), await openNodes(), await openNodes()];
    const outcomes = await Promise.allSettled(
      nodes.map((each, index) => join(each, 'a', { instance: `a/${index}` })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is refused by name where its secret is not that of the others', async () => {
    const nodes = await openNodes();
    await join(nodes, 'a');
    const other = join(nodes, 'b', { secret: 'another-secret-of-nodes' });
    await expect(other).rejects.toThrow(/another `cluster\.secret` than the node a at http:\/\/a:3000/);
    expect(await nodes.list(lostMs)).toHaveLength(1);
  });

  it.each([
    [3, '3 minutes ahead of'],
    [-90, '90 minutes behind'],
  ])('is refused where its clock is %i minutes away from the database', async (minutes, words) => {
    const nodes = await openNodes();
    const now = () => Date.now() + minutes * 60_000;
    await expect(join(nodes, 'a', { now })).rejects.toThrow(`The clock of the node a is ${words}`);
    expect(await nodes.list(lostMs)).toEqual([]);
    await join(nodes, 'a', { now: () => Date.now() + 20_000 });
  });

  it.each([
    [3, '3 minutes ahead of'],
    [-90, '90 minutes behind'],
  ])(
    'acts on nothing while its clock is %i minutes off, and again when it is right',
    async (minutes, words) => {
      const store = await openClusterStore();
      const others = await openNodes();
      const said: string[] = [];
      const log = {
        warn: (_: object, text: string) => said.push(text),
        error: (_: object, text: string) => said.push(text),
      };
      let offMs = 0;
      const a = await join(store.nodes, 'a', { now: () => Date.now() + offMs, log });
      const acts = async () =>
        await store.probe().then(
          () => true,
          () => false,
        );
      expect(await acts()).toBe(true);
      offMs = minutes * 60_000;
      await until(async () => !(await acts()));
      const refusal = {
        ...{ code: 'unavailable', detail: 'store_unavailable', retryAfter: 5 },
        message: expect.stringContaining(`The clock of the node a is ${words}`),
      };
      await expect(store.leases.acquire('x', 'a/1', 1000)).rejects.toMatchObject(refusal);
      await expect(store.leases.renew('a/1', 1000)).rejects.toMatchObject(refusal);
      await expect(store.leases.heldSessions()).rejects.toMatchObject(refusal);
      // Heard of all the same: its name is nobody else's.
      const silentMs = (await others.list(lostMs))[0]?.silentMs ?? lostMs;
      await until(async () => ((await others.list(lostMs))[0]?.silentMs ?? lostMs) < silentMs);
      offMs = 0;
      await until(acts);
      expect(await store.leases.acquire('x', 'a/1', 1000)).toMatchObject({ granted: true });
      expect(said).toEqual([expect.stringContaining(words), expect.stringContaining('right again')]);
      offMs = minutes * 60_000;
      await until(async () => !(await acts()));
      await a.leave();
      expect(await others.list(lostMs)).toEqual([]);
    },
  );
});

describe('the command', () => {
  const config = (cluster: object) => ({
    store: url,
    cluster: { advertise: 'http://127.0.0.1:3000', secret: SECRET, ...cluster },
  });

  it('starts nodes side by side, and one again under its name after it was killed', async () => {
    const a = await startGatewayProcess({ config: config({ node: 'a' }) });
    const b = await startGatewayProcess({ config: config({ node: 'b' }) });
    const nodes = await openNodes();
    expect((await nodes.list(lostMs)).map(({ name }) => name)).toEqual(['a', 'b']);
    await a.kill();
    const again = await startGatewayProcess({ config: config({ node: 'a' }) });
    expect((await nodes.list(lostMs)).map(({ name }) => name)).toEqual(['a', 'b']);
    await Promise.all([again.close(), b.close()]);
    expect(await nodes.list(lostMs)).toEqual([]);
  });

  it('ends with 1 and says why where a node may not join, without the secret', async () => {
    const a = await startGatewayProcess({ config: config({ node: 'a' }) });
    const same = await runCommand({ config: config({ node: 'a' }) });
    const foreign = await runCommand({ config: config({ node: 'b', secret: 'another-secret-of-nodes' }) });
    expect([(await same.exited).code, (await foreign.exited).code]).toEqual([1, 1]);
    // The configuration is JSON, on one line.
    expect(same.stderr).toMatch(/toolgate\.yaml:1:\d+ {2}cluster\.node: Another node has the name a/);
    expect(foreign.stderr).toMatch(
      /toolgate\.yaml:1:\d+ {2}cluster\.secret: .*another `cluster\.secret` than the node a/,
    );
    expect(same.stderr + foreign.stderr).not.toMatch(/secret-of-/);
    await a.close();
  });

  it('whose clock goes minutes off answers relays alone until it is right, and the others go on', async () => {
    const models = { plain: { upstream: 'demo' }, agent: { engine: 'native', upstream: 'demo' } };
    const env = clockOff(0, 3 * 60_000);
    const [a, b] = await Promise.all([
      startGatewayProcess({ config: { ...config({ node: 'a' }), models }, env, logLevel: 'info' }),
      startGatewayProcess({ config: { ...config({ node: 'b' }), models } }),
    ]);
    const ask = async ({ url: at }: { url: string }, model: string) => {
      const answer = await fetch(`${at}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 99, messages: [{ role: 'user', content: 'Hello.' }] }),
      });
      const retryAfter = answer.headers.get('retry-after');
      return { status: answer.status, text: await answer.text(), retryAfter };
    };
    const isReady = async ({ url: at }: { url: string }) => (await fetch(`${at}/readyz`)).status === 200;
    expect(await ask(a, 'agent')).toMatchObject({ status: 200 });
    a.signal('SIGUSR2');
    await until(async () => !(await isReady(a)));
    expect(await ask(a, 'agent')).toMatchObject({
      ...{ status: 503, retryAfter: '5' },
      text: expect.stringContaining('The clock of the node a is 3 minutes ahead of that of the database.'),
    });
    expect(await ask(a, 'plain')).toMatchObject({ status: 200 });
    expect(await ask(b, 'agent')).toMatchObject({ status: 200 });
    expect(a.stderr).toContain('this node acts on nothing until its clock is right');
    a.signal('SIGUSR2');
    await until(() => isReady(a));
    expect(await ask(a, 'agent')).toMatchObject({ status: 200 });
    await Promise.all([a.close(), b.close()]);
  });

  it('names a node by its host and port where it has no name', async () => {
    const gateway = await startGatewayProcess({ config: { ...config({}), server: { port: 3999 } } });
    const [node] = await (await openNodes()).list(lostMs);
    expect(node?.name).toMatch(new RegExp(`^${hostname()}:\\d+$`));
    await gateway.close();
  });
});
