/** Sign-ins of processes on one store whose clock the test sets. */
import { afterEach, beforeEach } from 'vitest';
import { GatewayError } from '../../src/core/errors.js';
import { digestOf } from '../../src/server/access/credentials.js';
import {
  type Credential,
  OPERATOR_TIE,
  PAGE_HEADER,
  type Presented,
} from '../../src/server/access/sign-in-cookie.js';
import { loadSignIns, type NewSignIn, SignIns } from '../../src/server/access/sign-ins.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { SignInStore } from '../../src/store/sign-ins.js';
import type { Store } from '../../src/store/store.js';

export const HOUR = 3600 * 1000;

export const credential = (name: string, key = `key of ${name}`): Credential => ({
  principal: { name, scopes: ['admin'], models: ['*'] },
  tie: digestOf(key),
});
export const ALICE = credential('alice');
export const BOB = credential('bob');
export const OPERATOR: Credential = { ...credential('local'), tie: OPERATOR_TIE };

/** Of a page whose secret the test chooses. */
export const PAGE = { [PAGE_HEADER]: 'the-secret-of-a-page-of-this-test-0123' };

/** What the browser sends after a sign-in. */
export const cookieIn = ({ setCookie, page }: NewSignIn): Presented & { cookie: string } => ({
  cookie: setCookie.split(';')[0] ?? '',
  [PAGE_HEADER]: page,
});

/** A cookie that the page sends with a secret of its own. */
export const cookieOf = (cookie: string): Presented => ({ cookie, ...PAGE });

export interface SignInWorld {
  now: number;
  readonly signIns: SignInStore;
  /** What was logged. */
  readonly said: { facts: object; message: string }[];
  /** A process that starts on what the store has. */
  start(credentials?: readonly Credential[], signIns?: SignInStore): Promise<SignIns>;
  /** The same store, of which some methods do not work for now. */
  broken(...methods: (keyof SignInStore)[]): SignInStore & { mend(): void };
}

/** Another one for each test. */
export function signInWorld(): SignInWorld {
  let store: Store;
  const started: SignIns[] = [];
  const log = { warn: (facts: object, message: string) => world.said.push({ facts, message }) };
  const world: SignInWorld = {
    now: 0,
    said: [],
    get signIns() {
      return store.signIns;
    },
    async start(credentials = [ALICE, BOB], signIns = store.signIns) {
      const found = await loadSignIns(signIns, log);
      const sessions = new SignIns({
        port: 3000,
        credentials: () => credentials,
        isGood: (credential) => credentials.includes(credential),
        store: signIns,
        log,
        found,
      });
      started.push(sessions);
      return sessions;
    },
    broken(...methods) {
      let works = false;
      const { signIns } = store;
      const fails = (method: keyof SignInStore) => !works && methods.includes(method);
      const down = () => Promise.reject(new GatewayError('unavailable', 'down'));
      return {
        most: signIns.most,
        add: (signIn) => (fails('add') ? down() : signIns.add(signIn)),
        get: (id) => (fails('get') ? down() : signIns.get(id)),
        list: () => (fails('list') ? down() : signIns.list()),
        extend: (ends) => (fails('extend') ? down() : signIns.extend(ends)),
        remove: (ids) => (fails('remove') ? down() : signIns.remove(ids)),
        mend: () => {
          works = true;
        },
      };
    },
  };
  beforeEach(async () => {
    world.now = 1_760_000_000_000;
    world.said.length = 0;
    store = await openStore('sqlite::memory:', { baseDir: '/', now: () => world.now });
  });
  afterEach(async () => {
    for (const sessions of started.splice(0)) await sessions.stop();
    await store.close();
  });
  return world;
}
