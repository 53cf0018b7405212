/**
 * The console's files. A path is looked up in the list of what the folder holds and never joined to
 * it, so there is nothing that could climb out. The files are public; what they show is not. Where
 * the build left a compressed copy beside a file, that one is sent to clients that accept it.
 */
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import type { Exchange } from './exchange.js';
import { baseHeaders, sendStatus } from './respond.js';
import type { Handler, HttpRoute } from './route-table.js';

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

/** Trusted Types that the page makes: the address of its service worker, and model output that was cleaned. */
const POLICIES = ['toolgate', 'dompurify'];

/** Model output is shown on this origin, and this origin approves commands: no inline script, no other host. */
const DOCUMENT_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${POLICIES.join(' ')}`,
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** What a page only loads: its own headers are the page's, and some forty files without them load sooner. */
const LOADED = /^\/assets\/.*\.(?:css|js|woff2)$/;

/** A name with a hash of the content in it never changes what it holds. */
const HASHED = /^\/assets\/.*[.-][A-Za-z0-9_-]{8,}\.\w+$/;

/** The endings of compressed copies, the smallest first. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

interface StaticFile {
  etag: string;
  body: Buffer;
  modified: number;
}

interface Found extends StaticFile {
  encoding: string | undefined;
  /** There is more than one form of it. */
  varies: boolean;
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
    const { headers: asked } = exchange.request;
    const name = exchange.path === '/' ? '/index.html' : exchange.path;
    const found = await this.#find(name, acceptedEncodings(asked['accept-encoding']));
    if (found === undefined) return false;
    const headers = {
      'cross-origin-resource-policy': 'same-origin',
      ...(LOADED.test(name) ? {} : DOCUMENT_HEADERS),
      etag: found.etag,
      'cache-control': isHashed(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(found.varies ? { vary: 'accept-encoding' } : {}),
    };
    if (matches(asked['if-none-match'], found.etag)) {
      sendStatus(exchange, 304, headers);
      return true;
    }
    exchange.response.writeHead(200, {
      ...baseHeaders(exchange),
      ...headers,
      'content-type': TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
      'content-length': found.body.length,
      ...(found.encoding === undefined ? {} : { 'content-encoding': found.encoding }),
    });
    exchange.response.end(found.body);
    return true;
  }

  async #find(name: string, accepted: ReadonlySet<string>): Promise<Found | undefined> {
    if (isCopy(name)) return undefined;
    this.#names ??= await listFiles(this.#folder);
    const path = this.#names.get(name) ?? (await this.#findNew(name));
    if (path === undefined) return undefined;
    // A copy is found by the name of its file: without a hash in it, it may be of another version.
    const copies = isHashed(name) ? this.#copies(name) : [];
    for (const { encoding, path: copy } of copies) {
      if (!accepted.has(encoding)) continue;
      const file = await this.#load(copy);
      if (file !== undefined) return { ...file, encoding, varies: true };
    }
    const file = await this.#load(path);
    return file === undefined ? undefined : { ...file, encoding: undefined, varies: copies.length > 0 };
  }

  #copies(name: string): { encoding: string; path: string }[] {
    return ENCODINGS.flatMap(({ name: encoding, ending }) => {
      const path = this.#names?.get(name + ending);
      return path === undefined ? [] : [{ encoding, path }];
    });
  }

  /** The folder may have been built again since it was listed. */
  async #findNew(name: string): Promise<string | undefined> {
    if (extname(name) === '') return undefined;
    this.#names = await listFiles(this.#folder);
    return this.#names.get(name);
  }

  async #load(path: string): Promise<StaticFile | undefined> {
    const modified = await stat(path).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    if (modified === undefined) return undefined;
    const known = this.#files.get(path);
    if (known?.modified === modified) return known;
    const body = await readFile(path);
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const loaded = { body, etag, modified };
    this.#files.set(path, loaded);
    return loaded;
  }
}

export interface PageContext {
  /** The built console. */
  files: StaticFiles;
}

const consolePage: Handler<PageContext> = async (exchange, { files }) => {
  if (await files.send(exchange)) return;
  throw new GatewayError(
    'not_found',
    'The console is not built. Run `npm run build`; the API works without it.',
  );
};

export const PAGE_ROUTES: readonly HttpRoute<PageContext>[] = [
  { method: 'GET', path: '/', access: { area: 'public' }, handle: consolePage },
];

function isHashed(name: string): boolean {
  return HASHED.test(name);
}

function isCopy(name: string): boolean {
  return ENCODINGS.some(({ ending }) => name.endsWith(ending));
}

/** By RFC 9110 a weight of zero is a refusal, and `*` is everything that is not named. */
function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  const weights = new Map<string, boolean>();
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    weights.set(name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  }
  const others = weights.get('*') ?? false;
  return new Set(ENCODINGS.map(({ name }) => name).filter((name) => weights.get(name) ?? others));
}

/** Paths as they are asked for, to files. Links are left out: they may lead elsewhere. */
async function listFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((): Dirent[] => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const names = files.map((file): [string, string] => [
    `/${relative(folder, file).split(sep).join('/')}`,
    file,
  ]);
  return new Map(names.filter(([name]) => !name.includes('/.')));
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}
