/** A client forges what nodes send each other, or stands at the address of a node. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, KEYS, said, startNodes, user } from '../../e2e/postgres/nodes-harness.js';
import { words } from '../../faults/agent-script.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';

let server: TestPostgres;
let database = '';
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  database = await server.create();
  store = server.url(database);
});

describe('the header of nodes', () => {
  it('is refused from a client: made up, signed with another secret, or sent again', async () => {
    const { a, b, model } = await startNodes(store);
    model.play('Start.', [words('Begun.')]);
    model.play('Go on.', [words('All of it was said once.')]);
    await ask(a, [user('Start.')]);
    const history = [user('Start.'), said('Begun.'), user('Go on.')];
    await ask(b, history);
    const [, header = ''] = /x-toolgate-forward: ([\w.-]+)/.exec(a.wire.seen) ?? [];
    expect(header).not.toBe('');
    const claim = Buffer.from(header.split('.')[0] ?? '', 'base64url').toString('utf8');
    expect(JSON.parse(claim)).toMatchObject({ from: 'b', principal: 'storm', method: 'POST' });
    const forged = `${Buffer.from(claim.replace('storm', 'calm')).toString('base64url')}.${header.split('.')[1]}`;
    for (const value of ['x', 'a.b.c', forged, header]) {
      for (const key of ['storm', 'calm'] as const) {
        const refused = await ask(a, history, { key, headers: { 'x-toolgate-forward': value } });
        expect(refused.status).toBe(401);
        expect(refused.text).toContain('x-toolgate-forward is for nodes of this cluster');
      }
    }
  });

  it('makes no request of a client one of another key, and reaches no model', async () => {
    const { a, b, model } = await startNodes(store);
    const turn = model.play('Start.', [words('Begun.')]);
    const headers = { 'x-toolgate-forward': 'x.y' };
    expect((await ask(a, [user('Start.')], { headers })).status).toBe(401);
    expect(turn.requests).toHaveLength(0);
    expect(b.wire.seen).not.toContain('x-toolgate-forward:');
    model.clear();
  });
});

describe("an address that is not the node's any more", () => {
  it('gets no credential, and its answer is not passed on', async () => {
    const { a, b, model } = await startNodes(store);
    model.play('Start.', [words('Begun.')]);
    await ask(a, [user('Start.')]);
    const seen: string[] = [];
    const stranger = createServer((request, response) => {
      seen.push(JSON.stringify(request.headers));
      response.end('{"type":"message","content":[]}');
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    closeAfterTest(() => stranger.close());
    const address = stranger.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen on a port');
    await server.query(
      `UPDATE nodes SET address = 'http://127.0.0.1:${address.port}' WHERE name = 'a'`,
      database,
    );
    const second = await ask(b, [user('Start.'), said('Begun.'), user('Go on.')]);
    expect(second.status).toBe(503);
    expect(seen).toHaveLength(1);
    for (const key of Object.values(KEYS)) expect(seen.join()).not.toContain(key);
  });
});
