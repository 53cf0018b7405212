import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTokenFile } from './token-file.js';

async function place(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-tokens-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'deep', 'tokens.json');
}

describe('sign-ins on disk', () => {
  it('are for the gateway alone, and survive it', async () => {
    const path = await place();
    await createTokenFile(path).update('a', 'https://a', (current) => ({
      ...current,
      tokens: { access_token: 't' },
    }));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await createTokenFile(path).read('a', 'https://a')).toEqual({
      url: 'https://a',
      tokens: { access_token: 't' },
    });
  });

  it('are of no use to another address under the same name', async () => {
    const file = createTokenFile(await place());
    await file.update('a', 'https://a', (current) => ({ ...current, tokens: { access_token: 't' } }));
    expect(await file.read('a', 'https://evil')).toBeUndefined();
    await file.update('a', 'https://b', (current) => current);
    expect(await file.read('a', 'https://b')).toEqual({ url: 'https://b' });
  });

  it('that are changed at once are all there', async () => {
    const path = await place();
    const file = createTokenFile(path);
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => file.update(name, 'https://a', (current) => current)));
    expect(Object.keys(JSON.parse(await readFile(path, 'utf8')).servers)).toHaveLength(20);
    await file.update('s3', 'https://a', () => undefined);
    expect(await file.read('s3', 'https://a')).toBeUndefined();
  });

  it('that somebody else has changed are read anew', async () => {
    const path = await place();
    const [one, other] = [createTokenFile(path), createTokenFile(path)];
    await one.update('a', 'https://a', (current) => ({ ...current, tokens: { access_token: 'old' } }));
    expect((await other.read('a', 'https://a'))?.tokens).toEqual({ access_token: 'old' });
    await one.update('a', 'https://a', (current) => ({ ...current, tokens: { access_token: 'longer' } }));
    expect((await other.read('a', 'https://a'))?.tokens).toEqual({ access_token: 'longer' });
  });

  it('that cannot be read are told of, and made anew', async () => {
    const path = await place();
    await createTokenFile(path).update('a', 'https://a', (current) => current);
    await writeFile(path, '{"version":1,');
    const problems: unknown[] = [];
    const file = createTokenFile(path, (error) => problems.push(error));
    expect(await file.read('a', 'https://a')).toBeUndefined();
    expect(problems).toHaveLength(1);
  });
});
