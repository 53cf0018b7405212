/**
 * Loads the bundle with V8's code cache: what an earlier start compiled is not parsed again, which is
 * half of a start (decision 0020). The cache lies beside the bundle, where only who may change the
 * bundle may write. The build makes one; in an installed package the first gateway that ends well does.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** The last characters of the bundle say which build it is: V8 itself compares only lengths. */
const MARK_LENGTH = 64;
const DIGEST_BYTES = 32;

const digestOf = (data) => createHash('sha256').update(data).digest();

/** `loader` is for what the bundle loads at run time: a script has none of its own. */
export function loadBundle(url, loader) {
  const filename = fileURLToPath(url);
  const source = readFileSync(filename, 'utf8');
  const cacheFile = `${filename}.${process.version}-${process.arch}.cache`;
  const mark = Buffer.from(source.slice(-MARK_LENGTH), 'latin1');
  const cachedData = readCache(cacheFile, mark);
  const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) });
  const bundle = script.runInThisContext()({}, createRequire(url), url, loader);
  const isUsed = cachedData !== undefined && script.cachedDataRejected === false;
  return {
    bundle,
    keepCache: isUsed ? undefined : () => writeCache(cacheFile, mark, script.createCachedData()),
  };
}

/** The mark of the bundle, the digest of the data, the data. V8 trusts what it is given, so it is checked here. */
function readCache(file, mark) {
  try {
    const bytes = readFileSync(file);
    const data = bytes.subarray(MARK_LENGTH + DIGEST_BYTES);
    const isOurs =
      mark.equals(bytes.subarray(0, MARK_LENGTH)) &&
      digestOf(data).equals(bytes.subarray(MARK_LENGTH, MARK_LENGTH + DIGEST_BYTES));
    return isOurs ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Renamed into place: a start that reads meanwhile finds all of it or nothing. */
function writeCache(file, mark, data) {
  const made = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(made, Buffer.concat([mark, digestOf(data), data]));
    renameSync(made, file);
  } catch {
    // A folder that may not be written: starts stay slower.
  }
}
