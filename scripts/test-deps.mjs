// Brings the programs that tests need. As root on Debian it installs them, and the clients on Linux;
// elsewhere it says what is missing and how to get it, and the tests that need it fail.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import {
  canInstallClients,
  howToGetClient,
  installClients,
  missingClients,
  TEST_CLIENTS,
} from './test-clients.mjs';
import { findTestProgram, howToGet, TEST_PROGRAMS } from './test-programs.mjs';

const missingPrograms = () => TEST_PROGRAMS.filter(({ name }) => findTestProgram(name) === undefined);

function isRootOnDebian() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

function apt(...args) {
  console.log(`$ apt-get ${args.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 'inherit', 'inherit'], env });
  return status === 0;
}

/** One that is there stays as it is. */
function makeFile({ file, text }) {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Debian asks this file whether a package may start its service: tests start what they need themselves. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

function withoutServices(work) {
  if (existsSync(SERVICE_POLICY)) return work();
  writeFileSync(SERVICE_POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return work();
  } finally {
    rmSync(SERVICE_POLICY, { force: true });
  }
}

function install(programs) {
  // An update may fail for one source of many; whether the packages come is what counts.
  apt('update');
  for (const { before } of programs) if (before !== undefined) makeFile(before);
  const packages = programs.flatMap((program) => program.apt);
  return withoutServices(() => apt('install', '-y', '--no-install-recommends', ...packages));
}

let missing = missingPrograms();
if (missing.length > 0 && isRootOnDebian()) {
  console.log(`Installing ${missing.map(({ name }) => name).join(', ')} for the tests.`);
  install(missing);
  missing = missingPrograms();
}
for (const program of missing) {
  console.error(`Missing: ${program.name}, for ${program.use}. To get it, ${howToGet(program)}.`);
}

let clients = missingClients();
if (clients.length > 0 && canInstallClients()) {
  console.log(`Installing ${clients.map(({ name }) => name).join(', ')} for the tests.`);
  await installClients(clients);
  clients = missingClients();
}
for (const client of clients) {
  console.error(
    `Missing: ${client.name}, for the tests with real clients. To get it, ${howToGetClient(client)}.`,
  );
}

if (missing.length + clients.length === 0) {
  console.log(`${[...TEST_PROGRAMS, ...TEST_CLIENTS].map(({ name }) => name).join(', ')}: there.`);
} else process.exitCode = 1;
