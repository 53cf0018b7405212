import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { loadBundle } from '../bin/load-bundle.js';
import { tempFolder } from './support/cleanup.js';

const LOADER = { load: (specifier: string) => Promise.resolve(specifier), resolve: String };

/** A script as `scripts/build.mjs` makes it. */
function bundleOf(answer: string): string {
  const text = `(function (exports, require, bundleUrl, bundleLoader) { return { answer: '${answer}', bundleUrl } })\n`;
  return `${text}//# digest=${createHash('sha256').update(text).digest('hex')}`;
}

async function makeBundle(): Promise<{
  folder: string;
  file: string;
  url: string;
  cache(): Promise<string>;
}> {
  const { path: folder } = await tempFolder();
  const file = join(folder, 'cli.js');
  await writeFile(file, bundleOf('one'));
  const cache = async (): Promise<string> => {
    const found = (await readdir(folder)).filter((name) => name.endsWith('.cache'));
    expect(found).toHaveLength(1);
    return join(folder, String(found[0]));
  };
  return { folder, file, url: pathToFileURL(file).href, cache };
}

it('a bundle whose code cache was kept is loaded with it, and keeps no other', async () => {
  const { url } = await makeBundle();
  const first = loadBundle(url, LOADER);
  expect(first.bundle).toEqual({ answer: 'one', bundleUrl: url });
  expect(first.keepCache).toBeDefined();
  first.keepCache?.();
  const again = loadBundle(url, LOADER);
  expect(again.bundle).toEqual(first.bundle);
  expect(again.keepCache).toBeUndefined();
});

it('a bundle of another build, as long as the one before, is not run from its code cache', async () => {
  const { file, url } = await makeBundle();
  loadBundle(url, LOADER).keepCache?.();
  await writeFile(file, bundleOf('two'));
  const { bundle, keepCache } = loadBundle(url, LOADER);
  expect(bundle).toMatchObject({ answer: 'two' });
  keepCache?.();
  expect(loadBundle(url, LOADER)).toMatchObject({ bundle: { answer: 'two' }, keepCache: undefined });
});

it('a code cache that was damaged on the disk is not given to V8', async () => {
  const { url, cache } = await makeBundle();
  loadBundle(url, LOADER).keepCache?.();
  const file = await cache();
  const whole = await readFile(file);
  const damages = [whole.subarray(0, 10), whole.subarray(0, -1), Buffer.alloc(0), flipped(whole)];
  for (const damaged of damages) {
    await writeFile(file, damaged);
    const { bundle, keepCache } = loadBundle(url, LOADER);
    expect(bundle).toMatchObject({ answer: 'one' });
    expect(keepCache).toBeDefined();
  }
});

function flipped(bytes: Buffer): Buffer {
  const damaged = Buffer.from(bytes);
  const last = damaged.length - 20;
  damaged.writeUInt8(damaged.readUInt8(last) ^ 1, last);
  return damaged;
}

it('a code cache that cannot be written is left out', async () => {
  const { folder, url } = await makeBundle();
  const { keepCache } = loadBundle(url, LOADER);
  await rm(folder, { recursive: true });
  expect(() => keepCache?.()).not.toThrow();
});
