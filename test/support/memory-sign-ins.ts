/** Sign-ins of a store that lasts as long as the test. */
import type { SignIn, SignInStore } from '../../src/store/sign-ins.js';

export function memorySignIns(): SignInStore {
  const kept = new Map<string, SignIn>();
  const isLive = ({ expiresAt }: SignIn) => expiresAt > Date.now();
  return {
    most: 1000,
    add: async (signIn) => {
      if (!kept.has(signIn.id)) kept.set(signIn.id, signIn);
    },
    get: async (id) => [...kept.values()].find((each) => each.id === id && isLive(each)),
    list: async () => [...kept.values()].filter(isLive),
    extend: async (ends) => {
      for (const { id, expiresAt } of ends) {
        const signIn = kept.get(id);
        if (signIn !== undefined && signIn.expiresAt < expiresAt) kept.set(id, { ...signIn, expiresAt });
      }
    },
    remove: async (ids) => {
      for (const id of ids) kept.delete(id);
    },
  };
}
