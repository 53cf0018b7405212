/** What `export` wrote goes into the store. What is there stays, so that it can be done again. */
import { resolve } from 'node:path';
import { fileError } from './new-file.js';
import { withStore } from './operator-store.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';
import { readExport } from './transfer-file.js';

export const command: Command = {
  name: 'import',
  summary: 'Read into the store what `export` wrote',
  usage: 'import FILE',
  options: { config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' } },
  positionals: 1,
  run: importStore,
};

async function importStore(args: ParsedArguments, io: CliIo): Promise<number> {
  const [name] = args.positionals;
  if (name === undefined) throw new UsageError('Name the file to read: import FILE');
  const file = resolve(io.cwd, name);
  return withStore(args, io, { make: true }, async (store) => {
    try {
      const { records, added } = await readExport(store, file, (line) => io.err(line));
      const what = `${added} of ${records} records`;
      await store.audit.append({ event: 'store.imported', by: 'local', principal: 'local', what });
      io.out(`${what} were new and are in the store now; the others were there already.`);
      return EXIT.ok;
    } catch (error) {
      throw fileError(file, error);
    }
  });
}
