/** Everything that a command prints goes through here, so that no secret can. */
import type { Environment } from '../config/environment-references.js';
import { createRedactor } from '../config/redact.js';
import { environmentSecrets } from '../config/secrets.js';
import type { CliIo } from './command.js';

type Printer = Pick<CliIo, 'out' | 'err' | 'outVerbatim' | 'hide'>;

/** What would move the cursor, rename the terminal or turn the line around: clients and models choose names. Colours stay. */
const UNPRINTABLE =
  /\u001b(?!\[[\d;]{0,16}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function visible(line: string): string {
  return line.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function createPrinter(
  env: Environment,
  stdout: (text: string) => void,
  stderr: (text: string) => void,
): Printer {
  const known = new Set(environmentSecrets(env));
  let redact = createRedactor([...known]);
  return {
    out: (line) => stdout(`${visible(redact(line))}\n`),
    err: (line) => stderr(`${visible(redact(line))}\n`),
    outVerbatim: (line) => stdout(`${line}\n`),
    hide: (secrets) => {
      for (const secret of secrets) known.add(secret);
      redact = createRedactor([...known]);
    },
  };
}
