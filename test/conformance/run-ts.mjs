// Runs a TypeScript file of this folder under plain Node: `node run-ts.mjs cli.ts …`.
import { register } from 'node:module';
import process from 'node:process';

register('./ts-hooks.mjs', import.meta.url);
const [, , file, ...rest] = process.argv;
process.argv = [process.argv[0], file, ...rest];
const { main } = await import(new URL(file, import.meta.url).href);
process.exitCode = await main(rest);
