/** What is said of the sandbox in a result: failures that look as if it made them, files that it did not let stay. */
import type { SandboxStatus, SetAside } from '../../sandbox/sandbox.js';

const SIGNS: readonly { says: RegExp; note: string }[] = [
  {
    says: /Could not resolve host|Temporary failure in name resolution|Network is unreachable|ENETUNREACH|EAI_AGAIN|getaddrinfo|Name or service not known|network is unreachable|Failed to connect/i,
    note: 'Commands have no network here. Fetch what is needed with WebFetch, or ask the user to run it.',
  },
  {
    says: /Read-only file system|EROFS/i,
    note: 'Commands can write only in the workspace and in /tmp, and not to files that run code later or decide what is allowed (.git/hooks, .git/config, settings of editors, agents, package managers and of the gateway). Change such a file with Edit or Write, which ask.',
  },
  {
    says: /Permission denied|Operation not permitted|EPERM|EACCES/i,
    note: 'Some files are hidden from commands: secrets, what the rules deny, and the settings of the gateway.',
  },
];

export function sandboxHint(status: SandboxStatus, failed: boolean, output: string): string | undefined {
  if (!status.active || !failed) return undefined;
  const sign = SIGNS.find(({ says }) => says.test(output));
  return sign === undefined ? undefined : `This may be the sandbox that commands run in. ${sign.note}`;
}

export function setAsideNote(files: readonly SetAside[]): string | undefined {
  if (files.length === 0) return undefined;
  return `Commands must not make or replace files that run code later or decide what is allowed: ${files.map(whatBecame).join('; ')}. Make such a file with Write, which asks.`;
}

function whatBecame(file: SetAside): string {
  switch (file.outcome) {
    case 'set-aside':
      return `${file.path} is now ${file.keptAs}`;
    case 'put-back':
      return `${file.path} is the link again that it was`;
    case 'left':
      return `${file.path} could not be moved and is still there: tell the user`;
  }
}
