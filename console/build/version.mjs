import { readFileSync } from 'node:fs';

const manifest = new URL('../../package.json', import.meta.url);

/** Writes the version into the page. Both ship in one package, so there is one version. */
export function versionPlugin(version = JSON.parse(readFileSync(manifest, 'utf8')).version) {
  return {
    name: 'toolgate-version',
    transformIndexHtml: (html) => html.replaceAll('%TOOLGATE_VERSION%', version),
  };
}
