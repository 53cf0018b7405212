/** `npm run test:conformance`: this gateway, or any other at `--base-url`. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ScriptedUpstream } from '../support/scripted-upstream.js';
import type { Case } from './case-schema.js';
import { type Check, checksOf, titleOf } from './checks.js';
import { WIRES } from './dialects.js';
import { type LoadedCase, loadCases } from './load.js';
import { startOwnGateway } from './own-gateway.js';
import { Runner } from './run.js';
import { ScriptDesk } from './script-desk.js';
import { configFor } from './setups.js';

const HELP = `Usage: npm run test:conformance -- [options]

Without --base-url: starts this gateway and runs every case on it.

  --base-url URL        the gateway to measure; only the scripted upstream is started
  --upstream-port N     where the scripted upstream listens; the gateway must send its requests there
  --model NAME          ask for this model in every check (needs --upstream)
  --upstream WIRE       only checks with an upstream that speaks messages, chat or responses
  --client WIRE         only checks with a client of this wire
  --api-key KEY         the client's credential
  --unique-models       the gateway passes on conformance-chat-1, -2, …: checks run side by side
  --losses-header NAME  where the gateway says what it could not carry
  --profiles            also cases for one provider's upstream; the model's name says which
  --only TEXT           only cases whose file name contains it
  --config              print how Toolgate is configured for the suite, and end
  --list                print the checks, and end`;

const WIDTH = 8;

const OPTIONS = {
  'base-url': { type: 'string' },
  'upstream-port': { type: 'string' },
  model: { type: 'string' },
  upstream: { type: 'string' },
  client: { type: 'string' },
  'api-key': { type: 'string' },
  'unique-models': { type: 'boolean' },
  'losses-header': { type: 'string' },
  profiles: { type: 'boolean' },
  only: { type: 'string' },
  config: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Options = ReturnType<typeof parse>;

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

/** Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = parse(args);
    checkOptions(options);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return 2;
  }
  if (options.help === true) {
    console.log(HELP);
    return 0;
  }
  const cases = loadCases().filter(({ name }) => name.includes(options.only ?? ''));
  if (options.config === true) {
    const port = options['upstream-port'] ?? '9999';
    console.log(JSON.stringify(configFor(cases, `http://127.0.0.1:${port}`), null, 2));
    return 0;
  }
  const wanted = (check: Check): boolean => isWanted(check, options);
  if (options.list === true) {
    list(cases, wanted);
    return 0;
  }
  const { runner, close } = await open(cases, options);
  try {
    const width = options['base-url'] === undefined || options['unique-models'] === true ? WIDTH : 1;
    return await runAll(cases, runner, width, wanted);
  } finally {
    await close();
  }
}

function checkOptions(options: Options): void {
  for (const name of ['upstream', 'client'] as const) {
    const wire = options[name];
    if (wire !== undefined && !WIRES.some((each) => each === wire)) {
      throw new Error(`--${name} is one of ${WIRES.join(', ')}`);
    }
  }
  if (options.model !== undefined && options.upstream === undefined) {
    throw new Error('--model needs --upstream: say which wire that model is reached by');
  }
  if (options['base-url'] !== undefined && options['upstream-port'] === undefined) {
    throw new Error('--base-url needs --upstream-port: say where the gateway sends its requests');
  }
}

/** A stranger has one upstream for each wire and knows no profiles, unless it says so. */
function isWanted({ variation, pair }: Check, options: Options): boolean {
  const { upstream = pair.upstream, client = pair.client } = options;
  if (pair.upstream !== upstream || pair.client !== client) return false;
  if (options['base-url'] === undefined || options.profiles === true) return true;
  const isOwnLane = pair.client === pair.upstream && variation.bytes === undefined;
  return variation.profile === undefined && !isOwnLane;
}

function list(cases: readonly LoadedCase[], wanted: (check: Check) => boolean): void {
  for (const given of cases) {
    console.log(`${given.name}: ${given.title}`);
    for (const check of checksOf(given).filter(wanted)) {
      console.log(`    ${check.variation.title} (${titleOf(check)})`);
    }
  }
}

async function open(
  cases: readonly Case[],
  options: Options,
): Promise<{ runner: Runner; close(): Promise<void> }> {
  const { 'base-url': baseUrl, 'losses-header': lossesHeader, model } = options;
  if (baseUrl === undefined) return startOwnGateway(cases);
  const desk = new ScriptDesk();
  const upstream = new ScriptedUpstream(desk.reply);
  await upstream.listen(Number(options['upstream-port']));
  const runner = new Runner(
    {
      baseUrl: baseUrl.replace(/\/+$/, ''),
      apiKey: options['api-key'] ?? 'client-key-of-the-suite',
      uniqueModels: options['unique-models'] === true,
      ...(model === undefined ? {} : { model }),
      ...(lossesHeader === undefined ? {} : { lossesHeader }),
    },
    desk,
  );
  return { runner, close: () => upstream.close() };
}

async function runAll(
  cases: readonly LoadedCase[],
  runner: Runner,
  width: number,
  wanted: (check: Check) => boolean,
): Promise<number> {
  let total = 0;
  let passed = 0;
  let ran = 0;
  for (const given of cases) {
    const checks = checksOf(given).filter(wanted);
    if (checks.length === 0) continue;
    const failures = await runChecks(checks, runner, width);
    ran += 1;
    total += checks.length;
    passed += checks.length - failures.length;
    const mark = failures.length === 0 ? 'ok  ' : 'FAIL';
    console.log(
      `${mark} ${given.name}: ${given.title} (${checks.length - failures.length}/${checks.length})`,
    );
    for (const failure of failures) console.log(failure);
  }
  console.log(`conformance: ${ran} cases, ${total} checks, ${passed} passed`);
  return passed === total ? 0 : 1;
}

/** What to print of each check that failed. */
async function runChecks(checks: readonly Check[], runner: Runner, width: number): Promise<string[]> {
  const failures: string[] = [];
  const rest = [...checks];
  const worker = async (): Promise<void> => {
    for (let check = rest.shift(); check !== undefined; check = rest.shift()) {
      const problems = await runner.run(check);
      if (problems.length === 0) continue;
      const lines = problems.map((problem) => `         ${problem}`);
      failures.push([`     ${check.variation.title} (${titleOf(check)})`, ...lines].join('\n'));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return failures.toSorted();
}

process.on('unhandledRejection', (error) => {
  console.error(error);
  process.exitCode = 1;
});
