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
    import('./load-bundle.js').then(({ loadBundle }) => {
      const { bundle, keepCache } = loadBundle(built.href, {
        load: (specifier) => import(specifier),
        resolve: (specifier) => import.meta.resolve(specifier),
      });
      // After a whole life of a gateway: what other commands compile is a small part of it. With flags of
      // Node's, V8 would make one that no start without them can use.
      const [command = 'start', ...options] = process.argv.slice(2);
      const isHelp = options.some((option) => option === '-h' || option === '--help');
      const hasFlags = process.execArgv.length > 0 || Boolean(process.env['NODE_OPTIONS']);
      if (keepCache && command === 'start' && !isHelp && !hasFlags) {
        process.once('exit', (code) => {
          if (code === 0) keepCache();
        });
      }
      bundle.main(process);
    });
  } else {
    console.error('Toolgate is not built yet. Run `npm ci` in its folder and try again.');
    process.exitCode = 1;
  }
}
