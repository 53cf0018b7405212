/** Limits that nodes on one PostgreSQL share: together they give a key and a team what one node would. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LimitClaimStore } from '../../../src/store/limit-claims.js';
import { openStore } from '../../../src/store/open/open-store.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { startTestGateway } from '../../support/gateway.js';
import { startNodeWire } from '../../support/node-wire.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { type Gate, gate, type Script, sse, startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';

let server: TestPostgres;
let url = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  url = server.url(await server.create());
});

interface World {
  limits?: object;
  team?: object;
  script?: Script;
  store?: string;
}

/** Two nodes, and a key for each of two people of one team. */
async function start({ limits = {}, team, script = [], store = url }: World) {
  const upstream = await startUpstream(script);
  const node = async (name: string) => {
    const wire = await startNodeWire();
    const gateway = await startTestGateway({
      config: {
        server: {
          keys: ['alice', 'bob'].map((each) => ({ key: `k-${each}`, name: each, team: 'web', ...limits })),
        },
        ...(team !== undefined && { teams: { web: team } }),
        upstreams: { up: upstream.config('openai-chat') },
        models: { m: { upstream: 'up' }, demo: { upstream: 'demo' } },
        store,
        cluster: { node: name, advertise: wire.url, secret: 'secret-of-the-nodes' },
      },
    });
    wire.leadTo(Number(new URL(gateway.url).port));
    return (key: string, model = 'm', signal?: AbortSignal) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer k-${key}` },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
        ...(signal !== undefined && { signal }),
      });
  };
  return { a: await node('a'), b: await node('b'), upstream };
}

const status = async (answer: Promise<Response>): Promise<number> => {
  const { status: code, body } = await answer;
  await body?.cancel();
  return code;
};

/** Answers that stay open until the gate is. */
const held = (...gates: Gate[]): Script => gates.map((each) => sse([BEGUN, each]));

const delta = { role: 'assistant', content: 'begun' };
const chunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta }],
};
const BEGUN = `data: ${JSON.stringify(chunk)}\n\n`;

describe('two nodes', () => {
  it('let a key ask as often a minute as one node would, also all at once', async () => {
    const { a, b } = await start({ limits: { rpm: 20 } });
    const ask = (from: typeof a) => status(from('alice', 'demo'));
    const burst = await Promise.all(Array.from({ length: 60 }, (_, index) => ask(index % 2 === 0 ? a : b)));
    let admitted = burst.filter((code) => code === 200).length;
    expect(admitted).toBeLessThanOrEqual(20);
    expect(burst.filter((code) => code === 429)).toHaveLength(60 - admitted);
    // What the other node held ready is given back.
    await until(async () => {
      if ((await ask(a)) === 200) admitted += 1;
      return admitted >= 20;
    });
    expect([await ask(a), await ask(b)]).toEqual([429, 429]);
    expect(await status(b('bob', 'demo'))).toBe(200);
  });

  it('let a key have as many answers open as one node would', async () => {
    const gates = [gate(), gate(), gate()];
    const { a, b } = await start({ limits: { max_streams: 2 }, script: held(...gates) });
    const open = [await a('alice'), await b('alice')];
    expect(open.map((each) => each.status)).toEqual([200, 200]);
    for (const node of [a, b]) {
      const refused = await node('alice');
      expect(refused.status).toBe(429);
      expect(await refused.text()).toContain('2 answers open at once');
    }
    await open[0]?.body?.cancel();
    await until(async () => {
      const next = await b('alice');
      if (next.status === 200) open.push(next);
      else await next.body?.cancel();
      return next.status === 200;
    });
    for (const each of gates) each.open();
    await Promise.all(open.slice(1).map((each) => each.body?.cancel()));
  });

  it('share what a team may have open, whichever of its keys asks', async () => {
    const { a, b } = await start({ team: { max_streams: 1 }, script: held(gate()) });
    const first = await a('alice');
    expect(first.status).toBe(200);
    const refused = await b('bob');
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('The team \\"web\\" has 1 answers open at once');
    await first.body?.cancel();
  });

  it('share the requests a minute of a team', async () => {
    const { a, b } = await start({ team: { rpm: 3 } });
    const codes = [];
    for (const [node, key] of [
      [a, 'alice'],
      [b, 'bob'],
      [a, 'bob'],
      [b, 'alice'],
      [a, 'alice'],
    ] as const) {
      codes.push(await status(node(key, 'demo')));
    }
    expect(codes).toEqual([200, 200, 200, 429, 429]);
  });

  it('count by themselves while the store is away, and say so', async () => {
    const wire = await startNodeWire();
    wire.leadTo(server.port);
    const store = url.replace(`:${server.port}/`, `:${wire.port}/`);
    const { a, b } = await start({ limits: { max_streams: 1 }, store, script: held(gate(), gate()) });
    wire.cut();
    const open = [await a('alice'), await b('alice')];
    expect(open.map((each) => each.status)).toEqual([200, 200]);
    for (const { headers } of open) {
      expect(headers.get('x-toolgate-limits')).toBe('unknown; counted by this node alone');
    }
    expect(await status(a('alice'))).toBe(429);
    wire.mend();
    await Promise.all(open.map((each) => each.body?.cancel()));
    await until(async () => {
      const next = await a('bob', 'demo');
      await next.body?.cancel();
      return next.status === 200 && !next.headers.has('x-toolgate-limits');
    });
  });
});

describe('claims', () => {
  async function openClaims(): Promise<LimitClaimStore> {
    const store = await openStore(url, { baseDir: '/' });
    closeAfterTest(() => store.close());
    if (store.limitClaims === undefined) throw new Error('The store has no claims.');
    return store.limitClaims;
  }
  const claim = (wanted: number, held = 0, forMs = 60_000) => [{ name: 'x', limit: 10, held, wanted, forMs }];

  it('of nodes that ask at once never add up to more than the limit', async () => {
    const claims = await openClaims();
    for (let round = 0; round < 10; round++) {
      const asked = ['a', 'b', 'c', 'd'].map((node) =>
        claims.claim(node, claim(1 + ((round + node.charCodeAt(0)) % 7))),
      );
      const granted = (await Promise.all(asked)).map((each) => each.get('x') ?? 0);
      expect(granted.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(10);
    }
  });

  it('are given back by the node, or lapse when it is not heard of any more', async () => {
    const claims = await openClaims();
    expect((await claims.claim('a', claim(8))).get('x')).toBe(8);
    expect((await claims.claim('b', claim(8))).get('x')).toBe(2);
    await claims.claim('a', claim(0));
    expect((await claims.claim('b', claim(8, 2))).get('x')).toBe(8);
    await claims.claim('b', claim(10, 8, 50));
    await until(async () => (await claims.claim('a', claim(10))).get('x') === 10);
  });

  it('keep what is in use when the limit becomes smaller', async () => {
    const claims = await openClaims();
    await claims.claim('a', claim(8));
    await claims.claim('b', claim(2));
    expect(
      (await claims.claim('a', [{ name: 'x', limit: 4, held: 8, wanted: 4, forMs: 60_000 }])).get('x'),
    ).toBe(8);
    expect(
      (await claims.claim('b', [{ name: 'x', limit: 4, held: 0, wanted: 2, forMs: 60_000 }])).get('x'),
    ).toBe(0);
  });
});
