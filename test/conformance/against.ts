/** The suite against a gateway of anyone: the scripted upstream is started, and the gateway is asked. */
import type { ConformanceOptions } from '../../src/cli/conformance.js';
import { ScriptedUpstream } from '../support/upstream-server.js';
import type { Check } from './checks.js';
import type { LoadedCase } from './load.js';
import { Runner } from './run.js';
import { type CaseScore, type Score, scoreOf } from './score.js';
import { ScriptDesk } from './script-desk.js';

/** Where gateways that pass on any name are asked by several checks at once. */
export const WIDTH = 8;

/** Longer than a gateway retries; one that hangs fails the check, not the suite. */
const TIMEOUT_MS = 60_000;

/** A stranger has one upstream for each wire and knows no profiles, unless it says so. */
export function isWanted({ variation, pair }: Check, options: ConformanceOptions): boolean {
  const { upstream = pair.upstream, client = pair.client } = options;
  if (pair.upstream !== upstream || pair.client !== client) return false;
  if (options.profiles) return true;
  const isOwnLane = pair.client === pair.upstream && variation.bytes === undefined;
  return variation.profile === undefined && !isOwnLane;
}

/** Throws where nothing answers at the address or the upstream's port is taken. */
export async function scoreAgainst(
  cases: readonly LoadedCase[],
  options: ConformanceOptions,
  onCase?: (score: CaseScore) => void,
): Promise<Score> {
  const { url, model, lossesHeader, only = '' } = options;
  const baseUrl = url.replace(/\/+$/, '');
  await probe(baseUrl);
  const desk = new ScriptDesk();
  const upstream = new ScriptedUpstream(desk.reply);
  await upstream.listen(options.upstreamPort).catch((error: Error) => {
    throw new Error(
      `The scripted upstream cannot listen on port ${options.upstreamPort} (${error.message}). Name a free one with --upstream-port.`,
    );
  });
  const target = {
    baseUrl,
    apiKey: options.apiKey ?? 'client-key-of-the-suite',
    uniqueModels: options.uniqueModels,
    timeoutMs: TIMEOUT_MS,
    ...(model === undefined ? {} : { model }),
    ...(lossesHeader === undefined ? {} : { lossesHeader }),
  };
  try {
    return await scoreOf({
      cases: cases.filter(({ name }) => name.includes(only)),
      runner: new Runner(target, desk),
      width: options.uniqueModels ? WIDTH : 1,
      wanted: (check) => isWanted(check, options),
      ...(onCase === undefined ? {} : { onCase }),
    });
  } finally {
    await upstream.close();
  }
}

async function probe(baseUrl: string): Promise<void> {
  try {
    await fetch(baseUrl, { method: 'HEAD', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new Error(
      `Nothing answers at ${baseUrl}. Start the gateway first, and give its address without a path.`,
    );
  }
}

export function caseLines({ name, title, checks, passed, failures }: CaseScore): string[] {
  return [
    `${failures.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${title} (${passed}/${checks})`,
    ...failures.flatMap((failure) => [
      `     ${failure.title}`,
      ...failure.problems.map((problem) => `         ${problem}`),
    ]),
  ];
}
