/** From the `store` setting to a store. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../core/errors.js';
import { isPostgresUrl } from '../../core/postgres-url.js';
import { type PostgresLocation, parsePostgresUrl } from '../postgres/location.js';
import type { SqliteLocation } from '../sqlite/sqlite-store.js';

type StoreLocation = SqliteLocation | PostgresLocation;

import type { Store, StoreOptions } from '../store.js';

/**
 * Rejects with GatewayError: `invalid_request` with detail `store_url` when the setting itself is
 * wrong (a configuration error), `unavailable` with detail `store_unavailable` when what it names
 * cannot be used.
 */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  const location = parseStoreUrl(url, options.baseDir);
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('../postgres/postgres-store.js');
    return openPostgres(location, options);
  }
  const { openSqlite } = await import('../sqlite/sqlite-store.js');
  return openSqlite(location, options);
}

/** Throws GatewayError `invalid_request`; the message never repeats the URL, which may hold a password. */
export function parseStoreUrl(url: string, baseDir: string): StoreLocation {
  if (isPostgresUrl(url)) return parsePostgresUrl(url, baseDir);
  const path = /^sqlite:(.*)$/is.exec(url)?.[1];
  if (path === undefined || path === '') {
    throw wrongUrl(
      'Expected `sqlite:./path/to/file.db`, `sqlite::memory:` or `postgres://USER@HOST/DATABASE`',
    );
  }
  if (path === ':memory:') return { kind: 'memory' };
  if (path.includes('\0') || /[/\\]$/.test(path)) {
    throw wrongUrl('The part after `sqlite:` must be the path of a file');
  }
  if (path.startsWith('///')) return { kind: 'file', path: fileURLToPath(`file:${path}`) };
  if (path.startsWith('//')) {
    throw wrongUrl(
      'A path after `sqlite://` would name a host. Write `sqlite:./file.db` or `sqlite:/file.db`',
    );
  }
  return { kind: 'file', path: resolve(baseDir, path) };
}

function wrongUrl(message: string): GatewayError {
  return new GatewayError('invalid_request', `store: ${message}.`, { param: 'store', detail: 'store_url' });
}
