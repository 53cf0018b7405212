/** Keys at run time: made, listed, rotated, revoked. A secret is printed once, when it is made. */
import { resolve } from 'node:path';
import type { ChangedKeyWire, KeyWire, NewKeyWire } from '../server/console-api/wire/keys.js';
import { type KeyClient, openKeyClient } from './key-client.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

export const command: Command = {
  name: 'keys',
  summary: 'Make, list, rotate and revoke API keys',
  usage: 'keys create NAME | list | rotate NAME | revoke NAME',
  options: {
    config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' },
    scopes: { value: 'S,…', summary: 'create: of call, approve, admin (default: call)' },
    models: { value: 'M,…', summary: 'create: names and globs of models (default: all)' },
    workspaces: { value: 'DIR,…', summary: 'create: folders that agents may work in (default: all)' },
    user: { value: 'NAME', summary: 'create: the person it is for' },
    team: { value: 'NAME', summary: 'create: who it belongs to' },
    rpm: { value: 'N', summary: 'create: requests a minute' },
    tpm: { value: 'N', summary: 'create: tokens a minute' },
    'max-streams': { value: 'N', summary: 'create: answers open at once' },
    'max-agents': { value: 'N', summary: 'create: agents that answer at once' },
    'body-limit-mb': { value: 'N', summary: 'create: largest request body, in MiB' },
    budget: { value: 'USD/PERIOD', summary: 'create: 200/month, 50/week or 5/day' },
    expires: { value: 'TIME', summary: 'create, rotate: 90d, 12h or 2030-01-31T12:00:00Z (default: never)' },
    overlap: {
      value: 'TIME',
      summary: 'rotate: how long the old secret is taken, as 1h (default: not at all)',
    },
    json: { summary: 'Print JSON' },
  },
  positionals: 2,
  run: keys,
};

const ACTIONS: Readonly<
  Record<string, (client: KeyClient, name: string, args: ParsedArguments, io: CliIo) => Promise<void>>
> = {
  async create(client, name, args, io) {
    showNew(await client.create({ name, ...grantsOf(args, io) }), client, args, io);
  },
  async list(client, _name, args, io) {
    const found = await client.list();
    if (args.switches.has('json')) io.out(JSON.stringify({ data: found }, null, 2));
    else if (found.length === 0) io.out('There are no keys.');
    else for (const line of table(found)) io.out(line);
  },
  async rotate(client, name, { values, ...args }, io) {
    const overlap = values['overlap'];
    const body = {
      ...(overlap !== undefined && { overlap_s: duration('overlap', overlap) / 1000 }),
      ...expiryOf(values['expires']),
    };
    showNew(await client.rotate(name, body), client, { values, ...args }, io);
  },
  async revoke(client, name, args, io) {
    const revoked = await client.revoke(name);
    if (args.switches.has('json')) io.out(JSON.stringify(revoked, null, 2));
    else {
      io.out(`Revoked the key ${revoked.name} in ${client.place}.`);
      showNotes(revoked, io);
    }
  },
};

async function keys(args: ParsedArguments, io: CliIo): Promise<number> {
  const [action = '', name = ''] = args.positionals;
  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (act === undefined) throw new UsageError('Say what to do: keys create, list, rotate or revoke.');
  if (action !== 'list' && name === '') throw new UsageError(`Say which key: keys ${action} NAME`);
  const loaded = await withOwnStore(await loadOperatorConfig(args, io), io, { make: action === 'create' });
  const client = await openKeyClient(loaded, io);
  try {
    await act(client, name, args, io);
    return EXIT.ok;
  } finally {
    await client.close();
  }
}

function grantsOf({ values }: ParsedArguments, { cwd }: CliIo): object {
  const lists = ['scopes', 'models'].flatMap((name) => {
    const list = values[name];
    return list === undefined ? [] : [[name, words(list)]];
  });
  const texts = ['user', 'team'].flatMap((name) =>
    values[name] === undefined ? [] : [[name, values[name]]],
  );
  const numbers = ['rpm', 'tpm', 'max-streams', 'max-agents', 'body-limit-mb'].flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name.replaceAll('-', '_'), wholeNumber(name, value)]];
  });
  const { workspaces, budget } = values;
  return {
    ...Object.fromEntries([...lists, ...texts, ...numbers]),
    ...(workspaces !== undefined && { workspaces: words(workspaces).map((path) => resolve(cwd, path)) }),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
    ...expiryOf(values['expires']),
  };
}

const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} takes a whole number above 0, not \`${text}\`.`);
}

function budgetOf(text: string): object {
  const [, usd, per] = /^(\d+(?:\.\d+)?)\/(day|week|month)$/.exec(text) ?? [];
  if (usd === undefined)
    throw new UsageError(`--budget takes dollars and a period as 200/month, not \`${text}\`.`);
  return { usd: Number(usd), per };
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(option: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--${option} takes a time as 30m, 12h or 90d, not \`${text}\`.`);
  return Number(count) * (UNITS[unit] ?? 1);
}

function expiryOf(text: string | undefined): object {
  if (text === undefined) return {};
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Date.now() + duration('expires', text);
  if (Number.isNaN(at))
    throw new UsageError(`--expires takes 90d, 12h or 2030-01-31T12:00:00Z, not \`${text}\`.`);
  return { expires_at: new Date(at).toISOString() };
}

/** The secret goes to stdout alone, so that a script can take it; all else beside it. */
function showNew(made: NewKeyWire, client: KeyClient, args: ParsedArguments, io: CliIo): void {
  if (args.switches.has('json')) {
    io.outVerbatim(JSON.stringify(made, null, 2));
    return;
  }
  io.outVerbatim(made.secret);
  io.err(`The key ${made.name} is in ${client.place}. Its secret is shown once: keep it now.`);
  showNotes(made, io);
}

function showNotes({ notes }: ChangedKeyWire, io: CliIo): void {
  for (const note of notes) io.err(note);
}

function table(found: readonly KeyWire[]): string[] {
  const rows = [
    ['NAME', 'STATE', 'SECRET', 'SCOPES', 'MODELS', 'EXPIRES', 'TEAM'],
    ...found.map((key) => [
      key.name,
      key.source === 'configuration' ? 'in the file' : key.state,
      key.start === null ? '' : `${key.start}…`,
      key.scopes.join(','),
      key.models.join(','),
      key.expires_at ?? 'never',
      key.team ?? '',
    ]),
  ];
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
