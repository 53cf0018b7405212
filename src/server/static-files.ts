/**
 * The console's files. A path is looked up in the list of what the folder holds and never joined to
 * it, so there is nothing that could climb out. The files are public; what they show is not.
 */

import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { GatewayError } from '../core/errors.js';
import type { Handler } from './context.js';
import type { Exchange } from './exchange.js';
import { baseHeaders, sendStatus } from './respond.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Model output is shown on this origin, and this origin approves commands: no inline script, no other host. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** A name with a hash of the content in it never changes what it holds. */
const HASHED = /[.-][A-Za-z0-9_-]{8,}\.\w+$/;

interface StaticFile {
  file: string;
  etag: string;
  body: Buffer;
  modified: number;
}

export class StaticFiles {
  readonly #folder: string;
  readonly #files = new Map<string, StaticFile>();
  #names: ReadonlyMap<string, string> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** False when there is no such file. */
  async send(exchange: Exchange): Promise<boolean> {
    const name = exchange.path === '/' ? '/index.html' : exchange.path;
    const found = await this.#find(name);
    if (found === undefined) return false;
    const headers = {
      ...SECURITY_HEADERS,
      etag: found.etag,
      'cache-control':
        name.startsWith('/assets/') && HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    if (matches(exchange.request.headers['if-none-match'], found.etag)) {
      sendStatus(exchange, 304, headers);
      return true;
    }
    exchange.response.writeHead(200, {
      ...baseHeaders(exchange),
      ...headers,
      'content-type': TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
      'content-length': found.body.length,
    });
    exchange.response.end(found.body);
    return true;
  }

  async #find(name: string): Promise<StaticFile | undefined> {
    this.#names ??= await listFiles(this.#folder);
    const file = this.#names.get(name) ?? (await this.#findNew(name));
    return file === undefined ? undefined : this.#load(name, file);
  }

  /** The folder may have been built again since it was listed. */
  async #findNew(name: string): Promise<string | undefined> {
    if (extname(name) === '') return undefined;
    this.#names = await listFiles(this.#folder);
    return this.#names.get(name);
  }

  async #load(name: string, file: string): Promise<StaticFile | undefined> {
    const modified = await stat(file).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    const known = this.#files.get(name);
    if (modified === undefined || known?.modified === modified)
      return modified === undefined ? undefined : known;
    const body = await readFile(file);
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const loaded = { file, body, etag, modified };
    this.#files.set(name, loaded);
    return loaded;
  }
}

export const consolePage: Handler = async (exchange, { files }) => {
  if (await files.send(exchange)) return;
  throw new GatewayError(
    'not_found',
    'The console is not built. Run `npm run build`; the API works without it.',
  );
};

/** Paths as they are asked for, to files. Links are left out: they may lead elsewhere. */
async function listFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((): Dirent[] => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [`/${relative(folder, file).split(sep).join('/')}`, file]));
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}
