/** Encrypts what the store must not have in the clear: AES-256-GCM, with a key that is not in the store. */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../config/environment-references.js';
import type { SealKeys } from '../../server/console-api/upstream-administration.js';

/** For several nodes: all of them have the same. */
export const SECRET_KEY_VARIABLE = 'TOOLGATE_SECRET_KEY';
const SECRET_KEY_FILE = 'secret.key';
const SHORTEST = 32;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const VERSION = 'v1';

interface SecretBoxOptions {
  env: Environment;
  /** Of this node alone: tools cannot read what is in it. */
  stateDir: string;
  /** The store can be used by other nodes, which do not have the file. */
  shared: boolean;
}

export class SecretBox implements SealKeys {
  readonly #options: SecretBoxOptions;

  constructor(options: SecretBoxOptions) {
    this.#options = options;
  }

  get obstacle(): string | undefined {
    const { env, shared } = this.#options;
    const given = env[SECRET_KEY_VARIABLE] ?? '';
    if (given !== '' && given.length < SHORTEST) {
      return `${SECRET_KEY_VARIABLE} is too short to encrypt keys with. Set at least ${SHORTEST} random characters, as \`openssl rand -hex 32\` prints.`;
    }
    if (given === '' && shared) {
      return `Several nodes can use this database, and a key that this node encrypts must be readable on all of them. Set ${SECRET_KEY_VARIABLE} to the same ${SHORTEST} or more random characters on every node and restart, or give the name of an environment variable as api_key_env.`;
    }
    return undefined;
  }

  async seal(secret: string, context: string): Promise<string> {
    const key = await this.#key();
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
    return [VERSION, nameOf(key), ...parts].join('.');
  }

  /** Undefined where it was sealed with another key, for another context, or was changed. Rejects as the file system does. */
  async open(sealed: string, context: string): Promise<string | undefined> {
    const [version, name, ...rest] = sealed.split('.');
    const [iv, tag, text] = rest.map((part) => Buffer.from(part, 'base64url'));
    const key = await this.#key();
    if (version !== VERSION || name !== nameOf(key)) return undefined;
    if (iv === undefined || tag === undefined || text === undefined) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 });
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }

  async #key(): Promise<Buffer> {
    const { env, stateDir } = this.#options;
    const given = env[SECRET_KEY_VARIABLE] ?? '';
    const source = given === '' ? await readOrMake(stateDir) : Buffer.from(given);
    return Buffer.from(hkdfSync('sha256', source, '', 'toolgate upstream keys', KEY_BYTES));
  }
}

/** Recognises a key without saying anything of it. */
const nameOf = (key: Buffer): string =>
  hash('sha256', Buffer.concat([Buffer.from('name'), key])).slice(0, 16);

/** Whole or not there at all, also after a crash; of two that make it at once, one wins. */
async function readOrMake(folder: string): Promise<Buffer> {
  const file = join(folder, SECRET_KEY_FILE);
  const known = await readIfThere(file);
  if (known !== undefined) return known;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(randomBytes(KEY_BYTES).toString('hex'));
    await handle.sync();
    await link(draft, file).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  return readFile(file);
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
