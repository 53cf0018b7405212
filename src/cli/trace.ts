/** Recent requests, or one of them: inbound, outbound, upstream events and what was emitted for them. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toReplayFile } from '../observability/replay-file.js';
import { openStore, parseStoreUrl } from '../store/open/open-store.js';
import type { Store } from '../store/store.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';
import { renderList, renderTrace } from './trace/render.js';
import { replay } from './trace/replay.js';
import { parseTraceFile } from './trace/trace-file.js';

const LISTED = 30;
const NONE_YET = 'No requests are recorded yet. They appear here a moment after they are answered.';

export const command: Command = {
  name: 'trace',
  summary: 'List recent requests, or show one from inbound to emitted events',
  usage: 'trace [ID]',
  options: {
    config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' },
    full: { summary: 'Show bodies and events whole' },
    save: { value: 'FILE', summary: 'Write the request to one file that replays it' },
    replay: { value: 'FILE', summary: 'Run such a file through this version, offline, and compare' },
  },
  positionals: 1,
  run: trace,
};

async function trace(args: ParsedArguments, io: CliIo): Promise<number> {
  const file = args.values['replay'];
  if (file !== undefined) return replayFile(resolve(io.cwd, file), io);
  const loaded = await withOwnStore(await loadOperatorConfig(args, io), io, { make: false });
  const [id] = args.positionals;
  const location = parseStoreUrl(loaded.config.store, loaded.baseDir);
  if (location.kind === 'memory' || (location.kind === 'file' && !existsSync(location.path))) {
    return nothingRecorded(id, io);
  }
  const limits = { startWaitMs: 0 };
  const store = await openStore(loaded.config.store, { baseDir: loaded.baseDir, limits });
  try {
    if (id === undefined) {
      if (args.values['save'] !== undefined)
        throw new UsageError('--save needs the ID of a request: trace ID --save FILE');
      return await list(store, io);
    }
    return await show(store, id, args, io);
  } finally {
    await store.close();
  }
}

/** Looking does not make a store. */
function nothingRecorded(id: string | undefined, io: CliIo): number {
  if (id === undefined) io.out(NONE_YET);
  else io.err(NONE_YET);
  return id === undefined ? EXIT.ok : EXIT.failed;
}

async function list(store: Store, io: CliIo): Promise<number> {
  const { items } = await store.traces.list({ limit: LISTED });
  if (items.length === 0) io.out(NONE_YET);
  for (const line of renderList(items)) io.out(line);
  return EXIT.ok;
}

async function show(store: Store, id: string, args: ParsedArguments, io: CliIo): Promise<number> {
  const found = await store.traces.get(id);
  if (found === undefined) {
    io.err(`There is no request ${id}. \`${io.program} trace\` lists the recent ones.`);
    return EXIT.failed;
  }
  const save = args.values['save'];
  if (save === undefined) {
    for (const line of renderTrace(found, { full: args.switches.has('full') })) io.out(line);
    return EXIT.ok;
  }
  if (found.payload === undefined) {
    io.err('Of this request only the facts were kept: under load a sample is recorded whole.');
    return EXIT.failed;
  }
  const file = toReplayFile(found, found.payload);
  await writeFile(resolve(io.cwd, save), `${JSON.stringify(file, null, 2)}\n`);
  io.out(`Written to ${save}. Replay it with \`${io.program} trace --replay ${save}\`.`);
  return EXIT.ok;
}

async function replayFile(file: string, io: CliIo): Promise<number> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    io.err(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  }
  const { lines, same } = await replay(parseTraceFile(text));
  for (const line of lines) io.out(line);
  return same ? EXIT.ok : EXIT.failed;
}
