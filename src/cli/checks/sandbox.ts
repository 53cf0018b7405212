import type { Config } from '../../config/schema.js';
import { createSandbox } from '../../sandbox/create-sandbox.js';
import { type Check, fail, ok, warn } from './check.js';

/** Whether commands are walled in, found out by running one. */
export async function checkSandbox(
  mode: Config['sandbox'],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check> {
  const sandbox = await createSandbox({ mode, env, probe: 'now' });
  try {
    const { status } = sandbox;
    if (status.active) {
      const more = status.detail.includes('socat')
        ? 'install socat to let commands reach allowed hosts'
        : undefined;
      return more === undefined ? ok('sandbox', status.detail) : warn('sandbox', status.detail, more);
    }
    if (status.reason === 'off') return warn('sandbox', status.detail, status.advice);
    if (mode === 'required') {
      return fail('sandbox', `required, and there is none: ${status.detail}`, status.advice);
    }
    return warn('sandbox', `commands run without one: ${status.detail}`, status.advice);
  } finally {
    await sandbox.close();
  }
}
