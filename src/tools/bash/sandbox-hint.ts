/** Failures that look as if the sandbox made them, and what to say about them. */
import type { SandboxStatus } from '../../sandbox/sandbox.js';

const SIGNS: readonly { says: RegExp; note: string }[] = [
  {
    says: /Could not resolve host|Temporary failure in name resolution|Network is unreachable|ENETUNREACH|EAI_AGAIN|getaddrinfo|Name or service not known|network is unreachable|Failed to connect/i,
    note: 'Commands have no network here. Fetch what is needed with WebFetch, or ask the user to run it.',
  },
  {
    says: /Read-only file system|EROFS/i,
    note: 'Commands can write only in the workspace and in /tmp, and not to files that run code later (.git/hooks, .git/config, editor and agent settings).',
  },
  {
    says: /Permission denied|Operation not permitted|EPERM|EACCES/i,
    note: 'Some files are hidden from commands: secrets, and the settings of the gateway.',
  },
];

export function sandboxHint(status: SandboxStatus, failed: boolean, output: string): string | undefined {
  if (!status.active || !failed) return undefined;
  const sign = SIGNS.find(({ says }) => says.test(output));
  return sign === undefined ? undefined : `This may be the sandbox that commands run in. ${sign.note}`;
}
