/** A copy of the store while the gateway runs. A plain copy of its file would lack what is in the log beside it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../core/errors.js';
import { writeNewFile } from './new-file.js';
import { withStore } from './operator-store.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

export const command: Command = {
  name: 'backup',
  summary: 'Copy the store into a file, also while the gateway runs',
  usage: 'backup FILE',
  options: { config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' } },
  positionals: 1,
  run: backup,
};

async function backup(args: ParsedArguments, io: CliIo): Promise<number> {
  const [name] = args.positionals;
  if (name === undefined) throw new UsageError('Name the file to write: backup FILE');
  const file = resolve(io.cwd, name);
  return withStore(args, io, { make: false }, async (store) => {
    const copy = store.backup?.bind(store);
    if (copy === undefined) {
      throw new GatewayError(
        'invalid_request',
        'A PostgreSQL database has a backup of its own: use pg_dump, or `export` for a file that any store reads.',
      );
    }
    await writeNewFile(file, copy);
    const { size } = await stat(file);
    io.out(
      `Written to ${name} (${Math.ceil(size / 1024)} KiB). To use it, stop the gateway and name it in \`store\`.`,
    );
    return EXIT.ok;
  });
}
