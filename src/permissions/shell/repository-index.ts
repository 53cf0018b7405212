/**
 * The submodules that a repository's index names: git looks into them, with the configuration that
 * stands there. The format is that of git's Documentation/gitformat-index.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The mode of a submodule, as it is written. */
const GITLINK = 0o160000;
const GITLINK_BYTES = Buffer.from([0, 0, 0xe0, 0]);
const MODES: ReadonlySet<number> = new Set([0o100644, 0o100664, 0o100755, 0o120000, GITLINK, 0o040000]);
const HEADER_BYTES = 12;
const STAT_BYTES = 40;
const MODE_AT = 24;
/** Of SHA-1 and SHA-256. The configuration, which says it, is the repository's own. */
const HASH_BYTES: readonly number[] = [20, 32];
const EXTENDED = 0x4000;
/** The extension of an index that goes on in another file. */
const SPLIT = Buffer.from('link');
const MAX_BYTES = 256 * 1024 * 1024;

interface Links {
  /** Undefined: unknown. */
  paths: readonly string[] | undefined;
  isSplit: boolean;
}

const NONE: Links = { paths: [], isSplit: false };
const UNCLEAR: Links = { paths: undefined, isSplit: false };

/** An index may be large: it is read again when it has changed. */
const known = new Map<string, { state: string; links: Links }>();
const MAX_KNOWN = 50;

/** Paths from the working folder; undefined where they are unknown. */
export function submodulesOf(git: string): readonly string[] | undefined {
  try {
    const { paths, isSplit } = linksIn(join(git, 'index'));
    if (paths === undefined || !isSplit) return paths;
    const shared = sharedIndexes(git).map((name) => linksIn(join(git, name)).paths);
    return shared.includes(undefined) ? undefined : [...paths, ...shared.flatMap((each) => each ?? [])];
  } catch {
    return undefined;
  }
}

function sharedIndexes(git: string): string[] {
  return readdirSync(git).filter((name) => name.startsWith('sharedindex.'));
}

function linksIn(file: string): Links {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return NONE;
  if (!status.isFile() || status.size > MAX_BYTES) return UNCLEAR;
  const state = [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ');
  const before = known.get(file);
  if (before?.state === state) return before.links;
  const links = readLinks(readFileSync(file));
  known.delete(file);
  known.set(file, { state, links });
  const oldest = known.size > MAX_KNOWN ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  return links;
}

function readLinks(index: Buffer): Links {
  const isSplit = index.includes(SPLIT);
  // Nearly every index has none, and is not looked at any further.
  if (!index.includes(GITLINK_BYTES)) return { paths: [], isSplit };
  const found = HASH_BYTES.map((bytes) => entries(index, bytes)).filter((paths) => paths !== undefined);
  return found.length === 0 ? UNCLEAR : { paths: found.flat(), isSplit };
}

/** Undefined where the bytes are no entries of this kind. */
function entries(index: Buffer, hashBytes: number): string[] | undefined {
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const found: string[] = [];
  let at = HEADER_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > index.length) return undefined;
    const mode = index.readUInt32BE(at + MODE_AT);
    if (!MODES.has(mode)) return undefined;
    let nameAt = flagsAt + ((index.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4);
    if (version === 4) {
      const stripped = readOffset(index, nameAt);
      nameAt = stripped.next;
      name = name.subarray(0, Math.max(0, name.length - stripped.value));
    }
    const end = index.indexOf(0, nameAt);
    if (end === -1) return undefined;
    const own = index.subarray(nameAt, end);
    name = version === 4 ? Buffer.concat([name, own]) : own;
    if (mode === GITLINK) {
      // An entry of a split index may stand for one whose name is in the other file.
      if (name.length === 0) return undefined;
      found.push(name.toString());
    }
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return found;
}

/** Seven bits a byte; each further byte adds one to what came before. */
function readOffset(index: Buffer, from: number): { value: number; next: number } {
  let next = from;
  let byte = index[next] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0 && next < index.length) {
    next += 1;
    byte = index[next] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: next + 1 };
}
