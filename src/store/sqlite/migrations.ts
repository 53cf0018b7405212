/**
 * Numbered, forward only, each in one transaction with its number. A migration that has been
 * released is never edited: the next one corrects it.
 */
import { GatewayError } from '../../core/errors.js';
import type { Database } from './database.js';
import { number } from './rows.js';
import { SCHEMA_1 } from './schema-1.js';
import { SCHEMA_2 } from './schema-2.js';
import { SCHEMA_3 } from './schema-3.js';
import { SCHEMA_4 } from './schema-4.js';
import { SCHEMA_5 } from './schema-5.js';
import { SCHEMA_6 } from './schema-6.js';

export interface Migration {
  version: number;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: SCHEMA_1 },
  { version: 2, sql: SCHEMA_2 },
  { version: 3, sql: SCHEMA_3 },
  { version: 4, sql: SCHEMA_4 },
  { version: 5, sql: SCHEMA_5 },
  { version: 6, sql: SCHEMA_6 },
];

/** `TGAT`: tells our file from any other program's database. */
const APPLICATION_ID = 0x54474154;

/**
 * Brings the database to the last of `migrations` and returns its version. Takes the write lock
 * even when there is nothing to do: that is how a read-only file is found at start.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<number> {
  const target = migrations.at(-1)?.version ?? 0;
  await database.write(() => {
    const version = pragma(database, 'user_version');
    const foreign = pragma(database, 'application_id') !== APPLICATION_ID;
    if (foreign && number(database.get('SELECT count(*) AS n FROM sqlite_schema') ?? {}, 'n') > 0) {
      throw refused('It is a SQLite database of another program. Name another file in `store`.');
    }
    if (version > target) {
      throw refused(
        `It was written by a newer version of the gateway (schema ${version}, this one knows ${target}). Update the gateway, or name another file in \`store\`.`,
      );
    }
    if (foreign) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      database.exec(migration.sql);
      database.exec(`PRAGMA user_version = ${migration.version}`);
    }
  });
  return target;
}

function pragma(database: Database, name: string): number {
  return number(database.get(`PRAGMA ${name}`) ?? {}, name);
}

function refused(message: string): GatewayError {
  return new GatewayError('unavailable', message, { param: 'store', detail: 'store_unavailable' });
}
