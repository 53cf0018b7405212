#!/usr/bin/env node
// Plain and old syntax: it has to run on a Node that is too old for the rest, to say so.
import { existsSync } from 'node:fs';

const WANTED = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  console.error(`Toolgate needs Node ${WANTED.join('.')} or newer; this is ${process.versions.node}.`);
  console.error('Get a newer one from https://nodejs.org and try again.');
  process.exitCode = 1;
} else {
  const built = new URL('../dist/cli.js', import.meta.url);
  if (existsSync(built)) {
    import(built.href).then((cli) => cli.main(process));
  } else {
    console.error('Toolgate is not built yet. Run `npm ci` in its folder and try again.');
    process.exitCode = 1;
  }
}
