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

/** Which names of models are answered. */
export function checkModels({ models, upstreams }: Config, file: string | undefined): Check {
  const names = Object.keys(models);
  if (names.length === 0) {
    return warn('models', 'none: every request is refused', 'add `models`, at least "*": { upstream: demo }');
  }
  const finding =
    names.length > 6 ? `${names.slice(0, 6).join(', ')} and ${names.length - 6} more` : names.join(', ');
  if (Object.values(upstreams).every(({ dialect }) => dialect === 'demo')) {
    return warn(
      'models',
      `${finding}: only the demo model is connected`,
      file === undefined
        ? 'set ANTHROPIC_API_KEY, OPENAI_API_KEY or another key, or write a file with `init`'
        : 'add a model to `upstreams` and `models`',
    );
  }
  return ok('models', finding);
}
