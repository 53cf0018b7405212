/** The console's files: public, cacheable, and unable to run anything that is not theirs. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { startServer } from './server-harness.js';

const SCRIPT = 'export const a = 1;\n'.repeat(100);

async function consoleFolder(): Promise<string> {
  const { path } = await tempFolder('console');
  const dist = join(path, 'dist');
  await mkdir(join(dist, 'assets'), { recursive: true });
  await writeFile(join(path, 'secret.txt'), 'secret');
  await writeFile(join(dist, 'index.html'), '<!doctype html>');
  await writeFile(join(dist, 'app.js'), 'export {};');
  await writeFile(join(dist, 'assets', 'index-Ab3dE_9x.css'), 'a{}');
  await writeFile(join(dist, 'assets', 'index-Ab3dE_9x.js'), SCRIPT);
  await writeFile(join(dist, 'assets', 'index-Ab3dE_9x.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(dist, 'assets', 'index-Ab3dE_9x.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(dist, 'app.js.gz'), gzipSync('of another version'));
  await mkdir(join(dist, '.vite'));
  await writeFile(join(dist, '.vite', 'manifest.json'), '{}');
  await writeFile(join(dist, 'data.bin'), 'x');
  await symlink(join(path, 'secret.txt'), join(dist, 'link.txt'));
  return dist;
}

const get = (url: string, path: string, headers: Record<string, string> = {}) =>
  sendRaw(url, requestBytes(url, { path, headers }));

describe('the console', () => {
  it('is served without a credential, with headers that keep everything else out', async () => {
    const { url } = await startServer({
      consoleDir: await consoleFolder(),
      keys: [{ key: 'k', name: 'k', scopes: ['call'], models: ['*'] }],
    });
    const { status, text, headers } = await get(url, '/');
    expect([status, text]).toEqual([200, '<!doctype html>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("worker-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).toMatch(/trusted-types toolgate dompurify$/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  it('says what a page may load once, with the page and not with each of its scripts', async () => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const { headers } = await get(url, '/assets/index-Ab3dE_9x.js');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toBeUndefined();
    for (const document of ['/', '/index.html'])
      expect((await get(url, document)).headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cross-origin-resource-policy': 'same-origin',
      });
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=0', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0.0', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ])('sends the compressed copy to whoever takes it: %s', async (accepted, encoding) => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const { body, headers } = await get(url, '/assets/index-Ab3dE_9x.js', { 'accept-encoding': accepted });
    expect([headers['content-encoding'], headers['vary'], headers['content-type']]).toEqual([
      encoding,
      'accept-encoding',
      'text/javascript; charset=utf-8',
    ]);
    expect(headers['content-length']).toBe(String(body.length));
    const unpack = encoding === 'br' ? brotliDecompressSync : encoding === 'gzip' ? gunzipSync : Buffer.from;
    expect(unpack(body).toString()).toBe(SCRIPT);
  });

  it('knows the forms of a file apart', async () => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const path = '/assets/index-Ab3dE_9x.js';
    const plain = (await get(url, path)).headers['etag'] ?? '';
    const packed = (await get(url, path, { 'accept-encoding': 'br' })).headers['etag'] ?? '';
    expect(plain).not.toBe(packed);
    const again = (etag: string) => get(url, path, { 'accept-encoding': 'br', 'if-none-match': etag });
    expect([(await again(packed)).status, (await again(plain)).status]).toEqual([304, 200]);
  });

  it('sends no copy of a file whose name stays the same when its content changes', async () => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const { text, headers } = await get(url, '/app.js', { 'accept-encoding': 'gzip' });
    expect([text, headers['content-encoding'], headers['vary']]).toEqual([
      'export {};',
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['/app.js', 'text/javascript; charset=utf-8', 'no-cache'],
    ['/assets/index-Ab3dE_9x.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/data.bin', 'application/octet-stream', 'no-cache'],
  ])('serves %s as what it is', async (path, type, cache) => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const { status, headers } = await get(url, `${path}?v=1`);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, type, cache]);
  });

  it('answers 304 to a client that has the file, and the new file after a change', async () => {
    const folder = await consoleFolder();
    const { url } = await startServer({ consoleDir: folder });
    const { headers } = await get(url, '/');
    const etag = headers['etag'] ?? '';
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(url, '/', { 'if-none-match': sent });
      expect([again.status, again.headers['etag'], again.body.length]).toEqual([304, etag, 0]);
    }
    await writeFile(join(folder, 'index.html'), '<!doctype html><p>new');
    const changed = await get(url, '/', { 'if-none-match': etag });
    expect([changed.status, changed.text]).toEqual([200, '<!doctype html><p>new']);
    await writeFile(join(folder, 'later.js'), '1');
    expect((await get(url, '/later.js')).status).toBe(200);
  });

  it.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/..\\..\\secret.txt',
    '//secret.txt',
    '/link.txt',
    '/assets',
    '/assets/',
    '/index.html/',
    '/app.js%00.html',
    '/app.js.gz',
    '/assets/index-Ab3dE_9x.js.br',
    '/.vite/manifest.json',
  ])('has nothing at %s', async (path) => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const { status, text } = await get(url, path);
    expect(status).toBe(404);
    expect(text).not.toContain('"secret"');
  });

  it('says what to do when it is not built; probes are answered all the same', async () => {
    const { url } = await startServer();
    const page = await get(url, '/');
    expect(page.status).toBe(404);
    expect(page.text).toContain('npm run build');
    expect((await sendRaw(url, requestBytes(url, { method: 'HEAD', path: '/' }))).status).toBe(200);
  });

  it('is not there for other methods', async () => {
    const { url } = await startServer({ consoleDir: await consoleFolder() });
    const response = await sendRaw(url, requestBytes(url, { method: 'POST', path: '/', body: '{}' }));
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, HEAD']);
    expect((await sendRaw(url, requestBytes(url, { method: 'POST', path: '/app.js' }))).status).toBe(404);
  });
});
