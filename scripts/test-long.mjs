// `npm run test:long`: what `npm test` tries in samples, in full. Takes many minutes on two cores.
// A failure names its seed; TOOLGATE_SEED begins elsewhere. Arguments go to vitest; with a path, that alone is run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SUITES = ['test/faults', 'test/flows', 'test/clients', 'test/known-parts.test.ts'];

const given = process.argv.slice(2);
const paths = given.filter((each) => !each.startsWith('-'));
const folder = mkdtempSync(join(tmpdir(), 'toolgate-long-'));
const report = join(folder, 'report.json');
const args = [
  '--reporter=verbose',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...given.filter((each) => each.startsWith('-')),
];
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', ...(paths.length > 0 ? paths : SUITES), ...args],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TOOLGATE_LONG: '1' },
  },
);

let passed = 0;
let failed = 0;
try {
  for (const { assertionResults, status: ending } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const right = assertionResults.filter((test) => test.status === 'passed').length;
    passed += right;
    // What did not run is not known to work; a file that could not be loaded has no tests at all.
    failed += assertionResults.length - right;
    if (ending === 'failed' && assertionResults.length === right) failed += 1;
  }
} catch (error) {
  console.log(`The tests did not run to their end (${error.message}).`);
  failed += 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (status !== 0 && failed === 0) failed = 1;

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
