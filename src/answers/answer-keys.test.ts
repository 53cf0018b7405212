import { expect, it } from 'vitest';
import { type AnswerKey, storedKey } from './answer-keys.js';

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
