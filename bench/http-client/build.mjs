/** Bundles the gateway's own client, so that a benchmark needs no build of the whole. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export async function buildGatewayClient() {
  const outfile = join(mkdtempSync(join(tmpdir(), 'toolgate-bench-')), 'http-client.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../../src/transport/http-client/http-client.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}
