/** Sessions, answers, rules, usage and keys of the store as a file that any store reads. */
import { resolve } from 'node:path';
import { writeNewFile } from './new-file.js';
import { withStore } from './operator-store.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';
import { writeExport } from './transfer-file.js';

export const command: Command = {
  name: 'export',
  summary: 'Write sessions, rules, usage and keys to a file that any store reads',
  usage: 'export FILE',
  options: { config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' } },
  positionals: 1,
  run: exportStore,
};

async function exportStore(args: ParsedArguments, io: CliIo): Promise<number> {
  const [name] = args.positionals;
  if (name === undefined) throw new UsageError('Name the file to write: export FILE');
  return withStore(args, io, { make: false }, async (store) => {
    let records = 0;
    await writeNewFile(resolve(io.cwd, name), async (file) => {
      records = await writeExport(store, file, (line) => io.err(line));
    });
    io.out(`${records} records are in ${name}. It holds whole conversations: keep it as you keep the store.`);
    return EXIT.ok;
  });
}
