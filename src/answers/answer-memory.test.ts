import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../store/open/open-store.js';
import { type AnswerKey, AnswerMemory, storedKey } from './answer-memory.js';

const KEY: AnswerKey = { kind: 'http', idempotencyKey: 'k' };
const MINUTE_MS = 60_000;

async function open() {
  let now = Date.now();
  const store = await openStore('sqlite::memory:', { baseDir: '/', now: () => now });
  onTestFinished(() => store.close());
  const later = (ms: number) => {
    now += ms;
  };
  return { answers: new AnswerMemory(store.answers), store, later };
}

describe('an answer that is kept', () => {
  it('is found by its key until its time is over', async () => {
    const { answers, store, later } = await open();
    await answers.put('alice', KEY, { digest: 'd', body: { a: 1 }, keptMs: MINUTE_MS });
    expect(await answers.get('alice', KEY)).toMatchObject({ digest: 'd', body: { a: 1 } });
    expect(await store.answers.get('alice', 'http:k')).toBeDefined();
    expect(await answers.get('bob', KEY)).toBeUndefined();
    later(2 * MINUTE_MS);
    expect(await answers.get('alice', KEY)).toBeUndefined();
  });

  it('is refused to another request with the same key', async () => {
    const { answers } = await open();
    await answers.put('alice', KEY, { digest: 'd', body: 1, keptMs: MINUTE_MS });
    expect(await answers.get('alice', KEY, 'd')).toMatchObject({ body: 1 });
    await expect(answers.get('alice', KEY, 'other')).rejects.toMatchObject({
      status: 422,
      detail: 'idempotency_key_reused',
    });
  });

  it('stands against a second one, and can be deleted once', async () => {
    const { answers } = await open();
    await answers.put('alice', KEY, { body: 1, keptMs: MINUTE_MS });
    await answers.put('alice', KEY, { body: 2, keptMs: MINUTE_MS });
    expect(await answers.get('alice', KEY)).toMatchObject({ digest: '', body: 1 });
    expect(await answers.delete('alice', KEY)).toBe(true);
    expect(await answers.delete('alice', KEY)).toBe(false);
  });

  it('is found and deleted while it is being written', async () => {
    const { store } = await open();
    let write = () => {};
    const gate = new Promise<void>((resolve) => {
      write = resolve;
    });
    const answers = new AnswerMemory({
      get: (...args) => store.answers.get(...args),
      put: (row) => gate.then(() => store.answers.put(row)),
      extend: (...args) => store.answers.extend(...args),
      delete: (...args) => store.answers.delete(...args),
    });
    const putting = answers.put('alice', KEY, { body: 1, keptMs: MINUTE_MS });
    const finding = answers.get('alice', KEY);
    write();
    expect(await finding).toMatchObject({ body: 1 });
    await putting;
    const again = answers.put('bob', KEY, { body: 1, keptMs: MINUTE_MS });
    expect(await answers.delete('bob', KEY)).toBe(true);
    await again;
  });

  it('whose write fails is not there, and its writer is told', async () => {
    const { store } = await open();
    const answers = new AnswerMemory({
      get: (...args) => store.answers.get(...args),
      put: () => Promise.reject(new Error('disk full')),
      extend: (...args) => store.answers.extend(...args),
      delete: (...args) => store.answers.delete(...args),
    });
    const putting = answers.put('alice', KEY, { body: 1, keptMs: MINUTE_MS });
    const finding = answers.get('alice', KEY);
    await expect(putting).rejects.toThrow('disk full');
    expect(await finding).toBeUndefined();
  });

  it('is kept for longer when it is renewed', async () => {
    const { answers, later } = await open();
    await answers.put('alice', KEY, { body: 1, keptMs: MINUTE_MS });
    const row = await answers.get('alice', KEY);
    if (row === undefined) throw new Error('It is not kept');
    await answers.renew(row, 10 * MINUTE_MS);
    later(5 * MINUTE_MS);
    expect(await answers.get('alice', KEY)).toMatchObject({ body: 1 });
  });
});

it.each<[AnswerKey, string]>([
  [{ kind: 'http', idempotencyKey: 'k 1' }, 'http:k 1'],
  [{ kind: 'session', keyDigest: 'd' }, 'idempotency:d'],
  [{ kind: 'results', session: 's', mark: 3 }, 'results:s:3'],
  [{ kind: 'undelivered', session: 's', mark: 0 }, 'undelivered:s:0'],
  [{ kind: 'response', id: 'resp_1' }, 'response:resp_1'],
  [{ kind: 'response-input', id: 'resp_1' }, 'response:resp_1:input'],
  [{ kind: 'response-owner', id: 'resp_1' }, 'response:resp_1:upstream'],
  [{ kind: 'console-run', run: 'run_1' }, 'chat:run_1'],
])('finds rows of earlier versions: %j is %s', (key, stored) => {
  expect(storedKey(key)).toBe(stored);
});
