import { describe, expect, it } from 'vitest';
import { memorySignIns } from '../../test/support/memory-sign-ins.js';
import { Auth } from '../server/access/auth.js';
import { KeyRing } from '../server/access/key-ring.js';
import type { BoundModel } from './engine.js';
import { PrivateKeys } from './private-keys.js';

const PINNED: BoundModel = {
  session: 's',
  run: () => Promise.reject(new Error('not asked')),
  countTokens: async () => 0,
};

describe('the credential of a process', () => {
  it('is known until it is taken back, for its owner', () => {
    const keys = new PrivateKeys();
    const remove = keys.add('secret', { name: 'alice' }, PINNED);
    expect(keys.find('secret')).toMatchObject({ name: 'alice', bound: PINNED });
    expect(keys.find('another')).toBeUndefined();
    remove();
    expect(keys.find('secret')).toBeUndefined();
  });

  it('opens model calls and nothing else', () => {
    const keys = new PrivateKeys();
    keys.add('secret', { name: 'alice' }, PINNED);
    const log = { warn: () => {} };
    const auth = new Auth({
      keys: new KeyRing({ keys: [] }),
      port: 3000,
      store: memorySignIns(),
      log,
      inner: keys,
    });
    const headers = { 'x-api-key': 'secret' };
    expect(auth.inner('/v1/messages', headers)?.bound).toBe(PINNED);
    expect(auth.inner('/v1/messages/count_tokens', headers)?.bound).toBe(PINNED);
    expect(auth.inner('/v1/responses', headers)).toBeUndefined();
    expect(auth.inner('/api/sessions', headers)).toBeUndefined();
    expect(() => auth.admit({ area: 'console' }, headers)).toThrow();
  });
});
