/** How well a gateway translates: the conformance suite, which the package carries as a program of its own. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseChoice, parsePort } from './arguments.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

export interface ConformanceOptions {
  /** The gateway's origin. */
  url: string;
  /** Where the scripted upstream listens. */
  upstreamPort: number;
  /** Asked for in every check. */
  model?: string;
  upstream?: string;
  client?: string;
  apiKey?: string;
  uniqueModels: boolean;
  lossesHeader?: string;
  profiles: boolean;
  only?: string;
  /** The file that the page is written to. */
  page: string;
  version: string;
}

export interface ConformanceProgram {
  /** Resolves to whether everything passed. Throws with what to do where it cannot run. */
  conformance(options: ConformanceOptions, print: (line: string) => void): Promise<boolean>;
}

const WIRES = ['messages', 'chat', 'responses'];
const UPSTREAM_PORT = '9999';
const PAGE = 'conformance-report.md';

/** Beside the bundle. Not imported by name: the gateway needs none of it. */
const PROGRAM = new URL('./conformance.js', import.meta.url);

export const command: Command = {
  name: 'conformance',
  summary: 'Score how well the gateway at an address translates, by area, and write a page about it',
  usage: 'conformance URL',
  positionals: 1,
  options: {
    'upstream-port': {
      value: 'N',
      summary: `Where the scripted upstream listens (default: ${UPSTREAM_PORT})`,
    },
    model: { value: 'NAME', summary: 'Ask for this model in every check; needs --upstream' },
    upstream: { value: 'WIRE', summary: `Only upstreams that speak one of ${WIRES.join(', ')}` },
    client: { value: 'WIRE', summary: 'Only clients of this wire' },
    'api-key': { value: 'KEY', summary: "The client's credential" },
    'unique-models': { summary: 'The gateway passes on conformance-chat-1, -2, …: checks run side by side' },
    'losses-header': { value: 'NAME', summary: 'Where the gateway says what it could not carry' },
    profiles: { summary: "Also cases for one provider's upstream; the model's name says which" },
    only: { value: 'TEXT', summary: 'Only cases whose name contains it' },
    page: { value: 'FILE', summary: `Where the page is written (default: ${PAGE})` },
  },
  run: runConformance,
};

async function runConformance(args: ParsedArguments, io: CliIo): Promise<number> {
  const options = optionsOf(args, io);
  if (!existsSync(PROGRAM)) {
    io.err('The conformance suite is not built. Run `npm run build` and try again.');
    return EXIT.failed;
  }
  const program: ConformanceProgram = await import(PROGRAM.href);
  try {
    return (await program.conformance(options, (line) => io.out(line))) ? EXIT.ok : EXIT.failed;
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error));
    return EXIT.failed;
  }
}

function optionsOf({ values, switches, positionals }: ParsedArguments, io: CliIo): ConformanceOptions {
  const [url] = positionals;
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('Name the address of the gateway: conformance http://127.0.0.1:3000');
  }
  const { model, upstream, client, only, page = PAGE } = values;
  const { 'api-key': apiKey, 'losses-header': lossesHeader, 'upstream-port': port = UPSTREAM_PORT } = values;
  for (const [name, wire] of Object.entries({ upstream, client })) {
    if (wire !== undefined) parseChoice(name, wire, WIRES);
  }
  if (model !== undefined && upstream === undefined) {
    throw new UsageError('--model needs --upstream: say which wire that model is reached by.');
  }
  if (apiKey !== undefined) io.hide([apiKey]);
  return {
    url,
    upstreamPort: parsePort(port, 'upstream-port'),
    uniqueModels: switches.has('unique-models'),
    profiles: switches.has('profiles'),
    page: resolve(io.cwd, page),
    version: io.version,
    ...(model === undefined ? {} : { model }),
    ...(upstream === undefined ? {} : { upstream }),
    ...(client === undefined ? {} : { client }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(lossesHeader === undefined ? {} : { lossesHeader }),
    ...(only === undefined ? {} : { only }),
  };
}
