/** A TypeScript file as a script that plain Node runs, for processes that tests kill. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export async function bundleForChild(entry: string, outfile: string): Promise<void> {
  const libsql = pathToFileURL(createRequire(import.meta.url).resolve('libsql')).href;
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' },
    plugins: [
      {
        name: 'libsql',
        // A native library: it is loaded from where it is installed.
        setup: (builder) => {
          builder.onResolve({ filter: /^libsql$/ }, () => ({ path: libsql, external: true }));
        },
      },
    ],
  });
}
