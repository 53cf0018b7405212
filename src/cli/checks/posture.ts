import { isLoopback } from '../../config/loopback.js';
import type { Config } from '../../config/schema.js';
import { type Check, ok, warn } from './check.js';

/** Shorter keys can be guessed. */
const SHORTEST_KEY = 16;

/** Who may call the gateway. */
export function checkPosture({ server }: Config): Check {
  const { keys, host } = server;
  if (keys.length === 0) return ok('access', `no keys: ${host} only, any credential is taken for /v1`);
  const finding = keys.map(({ name, scopes }) => `${name} (${scopes.join(', ')})`).join(', ');
  const weak = keys.filter(({ key }) => key.length < SHORTEST_KEY).map(({ name }) => name);
  if (weak.length > 0) {
    return warn(
      'access',
      finding,
      `the key of ${weak.join(', ')} is short; make one with: openssl rand -base64 32`,
    );
  }
  if (!isLoopback(host) && keys.every(({ scopes }) => !scopes.includes('approve'))) {
    return warn('access', finding, 'no key may answer approvals; give one the scope `approve`');
  }
  return ok('access', finding);
}
