/**
 * A configuration that lies in the working folder. It may have come with a clone, so it is no one's
 * until the user has trusted it. It is read once: the digest is of the bytes that are parsed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import type { Environment } from './environment-references.js';
import { userStateFolder } from './paths.js';

/** Larger is no configuration that a person has looked at. */
const MAX_BYTES = 1024 * 1024;

export interface FoundConfig {
  file: string;
  /**
   * What trust is recorded for: the name in the real folder. Not the target of a link, because
   * relative paths in the file are taken from the folder it was found in.
   */
  key: string;
  content: FoundContent;
}

type FoundContent =
  | { kind: 'text'; source: string; sha256: string }
  /** Something that is not read at all: no regular file, or too large. */
  | { kind: 'unusable'; why: string };

export type Standing =
  | { kind: 'trusted' }
  | { kind: 'new' }
  /** `did`: what it did when it was trusted. */
  | { kind: 'changed'; did: readonly string[] };

/** Undefined where there is none. Rejects with what the file system says where it may not be read. */
export async function readFoundConfig(file: string): Promise<FoundConfig | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    // A pipe without a writer would block the open.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(String(error.code))) return undefined;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return undefined;
    const key = join(await realpath(dirname(file)), basename(file));
    if (!stats.isFile()) return { file, key, content: { kind: 'unusable', why: 'it is not a regular file' } };
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > MAX_BYTES)
      return { file, key, content: { kind: 'unusable', why: 'it is larger than 1 MiB' } };
    const content = bytes.subarray(0, length);
    return {
      file,
      key,
      content: { kind: 'text', source: content.toString('utf8'), sha256: sha256(content) },
    };
  } finally {
    await handle.close();
  }
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR']);

export async function standingOf({ key, content }: FoundConfig, env: Environment): Promise<Standing> {
  const entry = await findTrust(env, 'configurations', key);
  if (entry === undefined) return { kind: 'new' };
  if (content.kind === 'text' && content.sha256 === entry.sha256) return { kind: 'trusted' };
  return { kind: 'changed', did: entry.does };
}

/** From now on these bytes in this place are the user's own. */
export async function trustConfig(
  { key, content }: FoundConfig,
  does: readonly string[],
  env: Environment,
): Promise<void> {
  if (content.kind !== 'text') throw new Error('only what was read can be trusted');
  await recordTrust(env, 'configurations', { path: key, sha256: content.sha256, does: [...does] });
}

/**
 * Which files found in working folders the user has taken as their own: configurations by path and
 * digest, stores by path and a secret beside them. Each is a file of its own, so that two commands
 * at once lose nothing of each other's.
 */
const entrySchema = z.object({
  path: z.string(),
  sha256: z.string(),
  /** What the configuration did when it was trusted, to say what has changed since. */
  does: z.array(z.string()).default([]),
});

type TrustEntry = z.infer<typeof entrySchema>;
type TrustedKind = 'configurations' | 'stores';

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Undefined where nothing is recorded for the path, or what is there cannot be read. */
export async function findTrust(
  env: Environment,
  kind: TrustedKind,
  path: string,
): Promise<TrustEntry | undefined> {
  const text = await readFile(entryFile(env, kind, path), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = entrySchema.safeParse(parseJson(text));
  return parsed.success && parsed.data.path === path ? parsed.data : undefined;
}

/** Rejects with what the file system says where the user's state folder cannot be written. */
export async function recordTrust(env: Environment, kind: TrustedKind, entry: TrustEntry): Promise<void> {
  const file = entryFile(env, kind, entry.path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(entry, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function entryFile(env: Environment, kind: TrustedKind, path: string): string {
  return join(userStateFolder(env), 'trusted', kind, `${sha256(path)}.json`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
