/** `npm run test:conformance`: this gateway, every case. Others are measured by `toolgate conformance`. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { caseLines, WIDTH } from './against.js';
import { checksOf, titleOf } from './checks.js';
import { type LoadedCase, loadCases } from './load.js';
import { startOwnGateway } from './own-gateway.js';
import { scoreLines, scoreOf, totalOf } from './score.js';
import { configFor } from './setups.js';

const HELP = `Usage: npm run test:conformance -- [options]

Starts this gateway and runs every case on it. \`toolgate conformance URL\` measures another one.

  --only TEXT   only cases whose file name contains it
  --config      print how Toolgate is configured for the suite, and end
  --list        print the checks, and end`;

const OPTIONS = {
  only: { type: 'string' },
  config: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const UPSTREAM = 'http://127.0.0.1:9999';

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

/** Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let options: ReturnType<typeof parse>;
  try {
    options = parse(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return 2;
  }
  const cases = loadCases().filter(({ name }) => name.includes(options.only ?? ''));
  if (options.help === true) console.log(HELP);
  else if (options.config === true) console.log(JSON.stringify(configFor(cases, UPSTREAM), null, 2));
  else if (options.list === true) list(cases);
  else return runAll(cases);
  return 0;
}

function list(cases: readonly LoadedCase[]): void {
  for (const given of cases) {
    console.log(`${given.name}: ${given.title}`);
    for (const check of checksOf(given)) console.log(`    ${check.variation.title} (${titleOf(check)})`);
  }
}

async function runAll(cases: readonly LoadedCase[]): Promise<number> {
  const { runner, close } = await startOwnGateway(cases);
  try {
    const score = await scoreOf({
      cases,
      runner,
      width: WIDTH,
      wanted: () => true,
      onCase: (done) => console.log(caseLines(done).join('\n')),
    });
    console.log(scoreLines(score).join('\n'));
    const { checks, passed } = totalOf(score);
    return passed === checks ? 0 : 1;
  } finally {
    await close();
  }
}

process.on('unhandledRejection', (error) => {
  console.error(error);
  process.exitCode = 1;
});
