// Writes toolgate.schema.json from the schema in src/config.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  entryPoints: [`${root}src/config/json-schema.ts`],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const { configJsonSchema } = await import(`data:text/javascript;base64,${code}`);
writeFileSync(`${root}toolgate.schema.json`, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
