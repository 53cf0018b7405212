// `npm test`: everything, to the end, with the count of all of it in the last line.
// `npm run check`: types, lint and the unit tests, which need no build and no client or browser.
// Arguments go to vitest: `npm test -- src/core`, `npm run check -- -t 'tool calls'`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [first, ...others] = process.argv.slice(2);
const unitOnly = first === '--unit';
const args = unitOnly ? ['--project', 'unit*', ...others] : process.argv.slice(2);

/**
 * Tests that may be skipped, each with the reason and the condition under which it is right.
 * Any other skipped test counts as failed: what is not run is not known to work.
 */
const DECLARED_SKIPS = [
  // { test: 'full name of the test', when: process.platform === 'win32', reason: '…' },
];

/** Run before the tests, each counted as one; what fails here does not keep the rest from running. */
const BUILD = { name: 'build', command: ['scripts/build.mjs'] };
const CHECKS = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '--noEmit'] },
  { name: 'types of the console', command: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'console'] },
  { name: 'lint', command: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'] },
];

let passed = 0;
const failures = [];

function run(title, command) {
  console.log(`\n── ${title}`);
  return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status === 0;
}

function runChecks() {
  for (const { name, command } of unitOnly ? CHECKS : [BUILD, ...CHECKS]) {
    if (run(name, command)) passed++;
    else failures.push(name);
  }
}

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-tests-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const succeeded = run('tests', ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args]);
    count(JSON.parse(readFileSync(report, 'utf8')), succeeded);
  } catch (error) {
    failures.push(`the tests did not run to their end (${error.message})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count({ testResults }, succeeded) {
  const before = failures.length;
  for (const file of testResults) {
    const found = failures.length;
    for (const test of file.assertionResults) countTest(file, test);
    // A file that could not be loaded has failed without a failed test.
    if (file.status === 'failed' && failures.length === found) failures.push(file.name);
  }
  if (!succeeded && failures.length === before) failures.push('vitest reported an error outside of any test');
}

function countTest(file, { status, fullName }) {
  if (status === 'passed') passed++;
  else if (status === 'failed') failures.push(`${file.name}: ${fullName}`);
  else if (!isDeclared(fullName)) failures.push(`${file.name}: ${fullName} (skipped)`);
}

/** Tests that a name filter leaves out are left out on purpose. */
const filtered = args.some((arg) => /^(-t|--testNamePattern|--tags-filter)/i.test(arg));
const isDeclared = (fullName) =>
  filtered || DECLARED_SKIPS.some(({ test, when }) => test === fullName && when);

if (!unitOnly) run('programs that the tests use', ['scripts/test-deps.mjs']);
runChecks();
runTests();

if (failures.length > 0) {
  const shown = failures.slice(0, 50).map((failure) => `  ${failure.replace(root, '')}`);
  const more = failures.length > shown.length ? [`  … and ${failures.length - shown.length} more`] : [];
  console.log(['\nFailed:', ...shown, ...more].join('\n'));
}
console.log(`\n${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
