import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allowedHosts, hiddenFiles } from './sandbox-rules.js';

let base: string;
let root: string;
let home: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-hidden-')));
  root = join(base, 'work');
  home = join(base, 'home');
  for (const path of [
    'work/.env',
    'work/app/.env',
    'work/keys/a.pem',
    'work/keys/a.txt',
    'work/secrets/deep/x',
    'work/node_modules/a/.env',
    'home/.token',
    'other/file',
  ]) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), '');
  }
});
afterEach(() => rm(base, { recursive: true, force: true }));

const hidden = async (...deny: string[]): Promise<string[]> =>
  (await hiddenFiles(deny, { root, home })).map((path) => path.slice(base.length + 1)).sort();

describe('files that rules hide from commands', () => {
  it.each([
    ['from the workspace', 'Read(./.env)', ['work/.env']],
    ['above the workspace', 'Read(../other/file)', ['other/file']],
    ['from the home', 'Read(~/.token)', ['home/.token']],
    ['a folder', 'Read(./secrets)', ['work/secrets']],
    ['a folder with everything in it', 'Read(./secrets/**)', ['work/secrets']],
    ['a name in any folder, but not of packages', 'Read(.env)', ['work/.env', 'work/app/.env']],
    ['with wildcards', 'Read(./**/*.pem)', ['work/keys/a.pem']],
    ['in either case where it is searched', 'Read(.ENV)', ['work/.env', 'work/app/.env']],
    ['what is not there', 'Read(./none)', []],
    ['the whole workspace, which could not be worked in', 'Read(./**)', []],
    ['the same by its own path', 'Read(../work)', []],
    ['rules about something else', 'Edit(./.env)', []],
    ['a whole tool', 'Read', []],
  ])('%s: %s', async (_name, rule, expected) => {
    expect(await hidden(rule)).toEqual(expected);
  });

  it('from the root', async () => {
    expect(await hidden(`Read(/${join(base, 'other', 'file')})`)).toEqual(['other/file']);
  });
});

const rules = (allow: string[], deny: string[] = [], ask: string[] = []) => ({ allow, ask, deny });

const domain = (text: string): string =>
  /^(?:\*|Web\*)$/.test(text) ? text : `WebFetch(domain:${text.replace('domain:', '')})`;

it.each([
  ['nothing without a rule for a domain', rules(['Read', 'WebFetch', 'Bash(curl:*)']), []],
  [
    'a domain and what is below it',
    rules(['WebFetch(domain:Example.com)']),
    ['example.com', '*.example.com'],
  ],
  ['nothing of a domain that is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:a.com)']), []],
  [
    'nothing below a name of which part is denied, but the name itself',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:x.a.com)']),
    ['a.com'],
  ],
  ['nothing below one', rules(['WebFetch(domain:x.a.com)'], ['WebFetch(domain:a.com)']), []],
  [
    'nothing that a person is to be asked about',
    rules(['WebFetch(domain:a.com)'], [], ['WebFetch(domain:a.com)']),
    [],
  ],
  [
    'others all the same',
    rules(['WebFetch(domain:a.com)', 'WebFetch(domain:ba.com)'], ['WebFetch(domain:a.com)']),
    ['ba.com', '*.ba.com'],
  ],
  ['what is below a domain, and not itself', rules(['WebFetch(domain:*.a.com)']), ['*.a.com']],
  [
    'the name alone where what is below it is denied',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:*.a.com)']),
    ['a.com'],
  ],
  [
    'nothing of what is below a domain that is asked about',
    rules(['WebFetch(domain:*.a.com)', 'WebFetch(domain:*.x.a.com)'], [], ['WebFetch(domain:a.com)']),
    [],
  ],
  [
    'nothing for a wildcard without a domain',
    rules(['*', 'Web*', 'domain:*', '*.*', '**', '*a.com', 'a.*', 'a.*.com'].map(domain)),
    [],
  ],
  ['an address alone', rules(['WebFetch(domain:10.0.0.1)', 'WebFetch(domain:[::1])']), ['10.0.0.1', '[::1]']],
  [
    'the port that a rule names',
    rules(['WebFetch(domain:localhost:3000)', 'WebFetch(domain:[::1]:80)']),
    ['localhost:3000', '*.localhost:3000', '[::1]:80'],
  ],
  [
    'nothing where a rule that denies cannot be read',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:*b.com)']),
    [],
  ],
  ['nothing where every tool of such a name is denied', rules(['WebFetch(domain:a.com)'], ['Web*']), []],
  ['nothing where WebFetch as a whole is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch']), []],
])('opens %s', (_what, permissions, hosts) => {
  expect(allowedHosts(permissions)).toEqual(hosts);
});
