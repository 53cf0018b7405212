/** Sign-ins to the console that outlive the process: what goes on, what ends, and what a thief of the store gets. */

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import { SIGN_IN_LIMITS } from '../../src/server/access/sign-ins.js';
import { openStore } from '../../src/store/open/open-store.js';
import { tempFolder } from '../support/cleanup.js';
import { startGatewayProcess, startTestGateway, type TestGateway } from '../support/gateway.js';
import { memorySignIns } from '../support/memory-sign-ins.js';
import { freePort } from '../support/scripted-upstream.js';
import { PAGE } from '../support/sign-in-world.js';
import { startServer } from './server-harness.js';

const ALICE = { key: 'key-of-alice', name: 'alice', scopes: ['call', 'approve', 'admin'] };
const BOB = { key: 'key-of-bob', name: 'bob', scopes: ['call'] };
const keys = (...all: object[]) => ({ server: { keys: all }, models: { '*': { upstream: 'demo' } } });
const NO_KEYS = keys();

type At = Pick<TestGateway, 'url'>;

const tokenOf = ({ consoleUrl }: TestGateway) => new URL(consoleUrl).hash.replace('#token=', '');
/** Its name has the port, and a gateway of a test has another one each time. */
const cookieFor = ({ url }: At, id: string) => `toolgate_${new URL(url).port}=${id}`;

function exchange(at: At, body: object, id?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...PAGE, ...(id && { cookie: cookieFor(at, id) }) };
  return fetch(`${at.url}/api/session`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const idIn = (answer: Response) => /=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';

/** The id of its cookie. */
async function signIn(at: At, token: string): Promise<string> {
  const answer = await exchange(at, { token });
  expect(answer.status).toBe(200);
  return idIn(answer);
}

const look = (at: At, id: string) =>
  fetch(`${at.url}/api/session`, { headers: { cookie: cookieFor(at, id), ...PAGE } });

const signOut = (at: At, id: string) =>
  fetch(`${at.url}/api/session`, { method: 'DELETE', headers: { cookie: cookieFor(at, id), ...PAGE } });

const signOutEverywhere = ({ url }: At, headers: Record<string, string>) =>
  fetch(`${url}/api/session?everywhere=true`, { method: 'DELETE', headers });

/** Who that is; a number where nobody is let in. */
async function whoIs(at: At, id: string): Promise<unknown> {
  const answer = await look(at, id);
  const body: unknown = await answer.json();
  return answer.ok ? body : answer.status;
}

describe('a gateway that starts again', () => {
  it('knows who was signed in when it was killed, and who had signed out just before', async () => {
    const args = [
      'start',
      '--config',
      'toolgate.yaml',
      '--port',
      String(await freePort()),
      '--log-level',
      'silent',
    ];
    const first = await startGatewayProcess({ config: keys(ALICE, BOB), args });
    const stays = await signIn(first, BOB.key);
    const leaves = await signIn(first, ALICE.key);
    expect((await signOut(first, leaves)).status).toBe(204);
    await first.kill();
    const again = await startGatewayProcess({ folder: first.folder, args });
    expect(again.url).toBe(first.url);
    expect(await whoIs(again, stays)).toEqual({ name: 'bob', scopes: ['call'], models: ['*'] });
    expect(await whoIs(again, leaves)).toBe(401);
    await again.close();
  });

  it('knows the operator where there are no keys, although the old token is not good any more', async () => {
    const first = await startTestGateway({ config: NO_KEYS });
    const id = await signIn(first, tokenOf(first));
    await first.close();
    const again = await startTestGateway({ folder: first.folder });
    expect(await whoIs(again, id)).toMatchObject({ name: 'local', scopes: ['call', 'approve', 'admin'] });
    expect((await exchange(again, { token: tokenOf(first) })).status).toBe(401);
  });

  it.each([
    ['the key was removed', keys(ALICE, BOB), keys(ALICE), 401],
    ['the key was changed', keys(BOB), keys({ ...BOB, key: 'another-key-of-bob' }), 401],
    ['there are no keys any more', keys(BOB), NO_KEYS, 401],
    [
      'the key has another name and other scopes',
      keys(BOB),
      keys({ ...BOB, name: 'robert', scopes: ['approve'] }),
      { name: 'robert', scopes: ['approve'], models: ['*'] },
    ],
  ])('goes by the keys that it has now: %s', async (_what, before, after, expected) => {
    const first = await startTestGateway({ config: before });
    const id = await signIn(first, BOB.key);
    expect(await whoIs(first, id)).toMatchObject({ name: 'bob' });
    await first.close();
    const again = await startTestGateway({ folder: first.folder, config: after });
    expect(await whoIs(again, id)).toEqual(expected);
  });

  it('refuses who signed in without keys once there are some', async () => {
    const first = await startTestGateway({ config: NO_KEYS });
    const id = await signIn(first, tokenOf(first));
    await first.close();
    const again = await startTestGateway({ folder: first.folder, config: keys(ALICE) });
    expect(await whoIs(again, id)).toBe(401);
  });

  it('refuses one whose time was over meanwhile', async () => {
    const first = await startTestGateway({ config: keys(ALICE, BOB) });
    const late = await signIn(first, ALICE.key);
    const early = await signIn(first, BOB.key);
    await first.close();
    const store = await openStore('sqlite:./.toolgate/toolgate.db', { baseDir: first.folder });
    const [row] = await store.signIns.list();
    if (row === undefined) throw new Error('Nothing was kept');
    await store.signIns.remove([row.id]);
    await store.signIns.add({ ...row, expiresAt: Date.now() - 1 });
    await store.close();
    const again = await startTestGateway({ folder: first.folder });
    expect(await whoIs(again, late)).toBe(401);
    expect(await whoIs(again, early)).toMatchObject({ name: 'bob' });
  });
});

describe('a gateway that stops', () => {
  it('leaves to the store when each sign-in was used last', async () => {
    const signIns = memorySignIns();
    const { url, token, server } = await startServer({ parts: { signIns } });
    const id = await signIn({ url }, token);
    const endOf = async () => (await signIns.list())[0]?.expiresAt ?? 0;
    const before = await endOf();
    while (Date.now() + SIGN_IN_LIMITS.lifetimeMs <= before) await look({ url }, id);
    await look({ url }, id);
    expect(await endOf()).toBe(before);
    await server.close();
    expect(await endOf()).toBeGreaterThan(before);
  });
});

describe('two gateways on one store', () => {
  it('know the sign-ins of each other, and their ends', async () => {
    const { path: folder } = await tempFolder('toolgate-two');
    const here = await startTestGateway({ folder, config: keys(ALICE) });
    const there = await startTestGateway({ folder });
    const id = await signIn(here, ALICE.key);
    expect(await whoIs(there, id)).toMatchObject({ name: 'alice' });
    const other = await signIn(here, ALICE.key);
    expect((await signOut(there, other)).status).toBe(204);
    const third = await startTestGateway({ folder });
    expect([await whoIs(third, id), await whoIs(third, other)]).toEqual([
      expect.objectContaining({ name: 'alice' }),
      401,
    ]);
  });
});

describe('signing out everywhere', () => {
  it('ends all sign-ins of the key, also after a restart, and those of no other', async () => {
    const first = await startTestGateway({ config: keys(ALICE, BOB) });
    const [one, two] = [await signIn(first, ALICE.key), await signIn(first, ALICE.key)];
    const other = await signIn(first, BOB.key);
    await first.close();
    const again = await startTestGateway({ folder: first.folder });
    const answer = await signOutEverywhere(again, { cookie: cookieFor(again, one), ...PAGE });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ]);
    await again.close();
    const third = await startTestGateway({ folder: first.folder });
    expect([await whoIs(third, one), await whoIs(third, two), await whoIs(third, other)]).toEqual([
      401,
      401,
      expect.objectContaining({ name: 'bob' }),
    ]);
  });

  it('works with the token of a gateway without keys, so that no cookie is needed', async () => {
    const first = await startTestGateway({ config: NO_KEYS });
    const stolen = await signIn(first, tokenOf(first));
    await first.close();
    const again = await startTestGateway({ folder: first.folder });
    const answer = await signOutEverywhere(again, { authorization: `Bearer ${tokenOf(again)}` });
    expect([answer.status, await whoIs(again, stolen)]).toEqual([204, 401]);
  });

  it('is for who is signed in, or has a key', async () => {
    const gateway = await startTestGateway({ config: keys(ALICE) });
    const id = await signIn(gateway, ALICE.key);
    expect((await signOutEverywhere(gateway, {})).status).toBe(401);
    expect((await signOutEverywhere(gateway, { cookie: cookieFor(gateway, 'guess'), ...PAGE })).status).toBe(
      401,
    );
    const typo = await fetch(`${gateway.url}/api/session?everywhere=perhaps`, { method: 'DELETE' });
    expect(typo.status).toBe(400);
    expect(await whoIs(gateway, id)).toMatchObject({ name: 'alice' });
  });
});

describe('a key that signs in again and again', () => {
  it('does not end the sign-ins of others', async () => {
    const gateway = await startTestGateway({ config: keys(ALICE, BOB) });
    const alice = await signIn(gateway, ALICE.key);
    const first = await signIn(gateway, BOB.key);
    for (let index = 0; index < SIGN_IN_LIMITS.perKey; index++) await signIn(gateway, BOB.key);
    expect([await whoIs(gateway, alice), await whoIs(gateway, first)]).toEqual([
      expect.objectContaining({ name: 'alice' }),
      401,
    ]);
  });
});

describe('the files of the store', () => {
  it('have neither the cookie nor the key, nor a digest of the key', async () => {
    const gateway = await startTestGateway({ config: keys(ALICE) });
    const id = await signIn(gateway, ALICE.key);
    const folder = join(gateway.folder, '.toolgate');
    const read = async () =>
      Buffer.concat(await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name)))));
    const digest = hash('sha256', `${id}.${PAGE['x-toolgate-page']}`, 'buffer').toString('base64');
    const open = await read();
    await gateway.close();
    for (const bytes of [open, await read()]) {
      // What is looked for would be found.
      expect(bytes.includes(digest)).toBe(true);
      for (const secret of [id, PAGE['x-toolgate-page'], ALICE.key]) {
        const plain = [secret, Buffer.from(secret, 'base64url'), Buffer.from(secret).toString('base64')];
        expect(plain.filter((form) => bytes.includes(form))).toEqual([]);
      }
      const own = hash('sha256', ALICE.key, 'buffer');
      const forms = [own, own.toString('hex'), own.toString('base64'), own.toString('base64url')];
      expect(forms.filter((form) => bytes.includes(form))).toEqual([]);
    }
  });
});

describe('a store that cannot be used', () => {
  const down = () => Promise.reject(new GatewayError('unavailable', 'The store is down.'));

  it('lets people sign in for the time of the process', async () => {
    const { url, token, lines } = await startServer({
      parts: { signIns: { ...memorySignIns(), add: down } },
    });
    const id = await signIn({ url }, token);
    expect(await whoIs({ url }, id)).toMatchObject({ name: 'local' });
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'a sign-in will end with this process' }),
    );
  });

  it('tells who signs out, who is out all the same', async () => {
    const { url, token } = await startServer({ parts: { signIns: { ...memorySignIns(), remove: down } } });
    const id = await signIn({ url }, token);
    const answer = await signOut({ url }, id);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
      503,
      expect.stringContaining('Max-Age=0'),
    ]);
    expect(await whoIs({ url }, id)).toBe(401);
  });

  it('ends a sign-in that only it knows as soon as it works, and everywhere this one at least', async () => {
    const signIns = memorySignIns();
    const first = await startServer({ parts: { signIns } });
    const [one, two] = [await signIn(first, first.token), await signIn(first, first.token)];
    let works = false;
    const remove: typeof signIns.remove = (ids) => (works ? signIns.remove(ids) : down());
    const again = await startServer({ parts: { signIns: { ...signIns, list: down, get: down, remove } } });
    expect((await signOut(again, one)).status).toBe(503);
    const answer = await signOutEverywhere(again, { cookie: cookieFor(again, two), ...PAGE });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
      503,
      expect.stringContaining('Max-Age=0'),
    ]);
    works = true;
    await again.server.close();
    expect(await signIns.list()).toEqual([]);
  });

  it('replaces nobody unasked: whoever was signed in may be somebody else', async () => {
    const { url, token } = await startServer({ parts: { signIns: { ...memorySignIns(), get: down } } });
    expect((await exchange({ url }, { token, replace: false }, 'perhaps')).status).toBe(503);
    expect((await exchange({ url }, { token }, 'perhaps')).status).toBe(200);
  });

  it('is not needed for those that were there at the start', async () => {
    const signIns = memorySignIns();
    const first = await startServer({ parts: { signIns } });
    const id = await signIn(first, first.token);
    await first.server.close();
    const again = await startServer({ parts: { signIns: { ...signIns, get: down } } });
    expect(await whoIs(again, id)).toMatchObject({ name: 'local' });
  });

  it('does not make a page that comes back believe that it is signed out', async () => {
    const { url } = await startServer({ parts: { signIns: { ...memorySignIns(), get: down } } });
    expect(await whoIs({ url }, 'perhaps')).toBe(503);
  });
});

describe('who is signed in and comes with a token', () => {
  it('stays who it is: another one needs a word', async () => {
    const gateway = await startTestGateway({ config: keys(ALICE, BOB) });
    const id = await signIn(gateway, ALICE.key);
    const same = await exchange(gateway, { token: ALICE.key, replace: false }, id);
    expect([same.status, same.headers.get('set-cookie')]).toEqual([200, null]);
    const other = await exchange(gateway, { token: BOB.key, replace: false }, id);
    expect([other.status, other.headers.get('set-cookie')]).toEqual([409, null]);
    expect(await other.json()).toMatchObject({
      error: { code: 'other_sign_in' },
      signed_in: { name: 'alice' },
      offered: { name: 'bob' },
    });
    expect(await whoIs(gateway, id)).toMatchObject({ name: 'alice' });
    const wrong = await exchange(gateway, { token: 'wrong', replace: false }, id);
    expect(wrong.status).toBe(401);
    expect((await exchange(gateway, { token: BOB.key, replace: 'yes' }, id)).status).toBe(400);

    const changed = await exchange(gateway, { token: BOB.key, replace: true }, id);
    expect(await whoIs(gateway, idIn(changed))).toMatchObject({ name: 'bob' });
    // The browser has the new one; whoever has a copy of the old one has nothing.
    expect(await whoIs(gateway, id)).toBe(401);
  });

  it('signs in where the present sign-in is not valid', async () => {
    const gateway = await startTestGateway({ config: keys(ALICE) });
    const answer = await exchange(gateway, { token: ALICE.key, replace: false }, 'of-yesterday');
    expect(await whoIs(gateway, idIn(answer))).toMatchObject({ name: 'alice' });
  });
});
