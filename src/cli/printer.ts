/** Everything that a command prints goes through here, so that no secret can. */
import type { Environment } from '../config/environment-references.js';
import { createRedactor } from '../config/redact.js';
import { environmentSecrets } from '../config/secrets.js';
import type { CliIo } from './command.js';

type Printer = Pick<CliIo, 'out' | 'err' | 'outVerbatim' | 'hide'>;

export function createPrinter(
  env: Environment,
  stdout: (text: string) => void,
  stderr: (text: string) => void,
): Printer {
  const known = new Set(environmentSecrets(env));
  let redact = createRedactor([...known]);
  return {
    out: (line) => stdout(`${redact(line)}\n`),
    err: (line) => stderr(`${redact(line)}\n`),
    outVerbatim: (line) => stdout(`${line}\n`),
    hide: (secrets) => {
      for (const secret of secrets) known.add(secret);
      redact = createRedactor([...known]);
    },
  };
}
