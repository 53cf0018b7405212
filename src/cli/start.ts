import { CONFIG_FILE, type LoadedConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { createRedactor } from '../config/redact.js';
import { LOG_LEVELS } from '../observability/log-levels.js';
import { parseChoice, parseCount, parsePort } from './arguments.js';
import { explainFailure } from './checks/failure.js';
import { checkClaudeCodeEngine, checkModels, checkOwnTools } from './checks/models.js';
import { checkOpenFiles } from './checks/open-files.js';
import { checkParts } from './checks/parts.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

const DEFAULT_LOG_LEVEL = 'info';
const MOST_WORKERS = 64;

export const command: Command = {
  name: 'start',
  summary: 'Start the gateway (also without a command)',
  usage: '[start]',
  options: {
    config: { value: 'FILE', summary: `Configuration file (default: ./${CONFIG_FILE})` },
    host: { value: 'H', summary: 'Address to listen on, above the configuration' },
    port: { value: 'N', summary: 'Port to listen on, above the configuration' },
    workers: {
      value: 'N',
      summary: `Processes on the one port, 1 to ${MOST_WORKERS}; needs store: postgres://… (default: 1)`,
    },
    'log-level': { value: 'L', summary: `One of ${LOG_LEVELS.join(', ')} (default: ${DEFAULT_LOG_LEVEL})` },
  },
  run: start,
};

async function start(args: ParsedArguments, io: CliIo): Promise<number> {
  if (process.send !== undefined) {
    const { isWorker, runWorker } = await import('../gateway/workers/worker.js');
    if (isWorker(process.env)) return runWorker(explainFailure);
  }
  const workers = parseCount('workers', args.values['workers'] ?? '1', MOST_WORKERS);
  const level = parseChoice('log-level', args.values['log-level'] ?? DEFAULT_LOG_LEVEL, LOG_LEVELS);
  const overrides = overridesOf(args);
  const loaded = await withOwnStore(await loadOperatorConfig(args, io, overrides), io, { make: true });
  if (workers > 1) return startSeveral(loaded, { workers, level, overrides }, io);
  const { startGateway } = await import('../gateway/open-gateway.js');
  const { env, version } = io;
  const gateway = await startGateway({ loaded, env, overrides, version, logLevel: level, signals: true });
  io.outVerbatim(`toolgate listens on ${gateway.url} · console ${gateway.consoleUrl}`);
  for (const line of await problemsOf(loaded, io)) io.out(line);
  await gateway.finished;
  return EXIT.ok;
}

async function startSeveral(
  loaded: LoadedConfig,
  { workers, level, overrides }: { workers: number; level: string; overrides: Overrides },
  io: CliIo,
): Promise<number> {
  const { checkWorkers } = await import('../gateway/workers/prepare-workers.js');
  const { startWorkers, WorkerFailed } = await import('../gateway/workers/primary.js');
  checkWorkers({ loaded, workers });
  const redact = createRedactor(loaded.secrets);
  const options = { loaded, overrides, workers, logLevel: level, version: io.version, redact };
  try {
    const { url, consoleUrl, finished } = await startWorkers(options);
    io.outVerbatim(`toolgate listens on ${url} · console ${consoleUrl} · ${workers} workers`);
    for (const line of await problemsOf(loaded, io)) io.out(line);
    await finished;
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof WorkerFailed)) throw error;
    io.err(error.message);
    return error.code;
  }
}

function overridesOf({ values }: ParsedArguments): Overrides {
  const { host, port } = values;
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: parsePort(port) }),
  };
}

/** What a person should know who has connected nothing yet, or something by mistake: what `doctor` says of it. */
async function problemsOf(loaded: LoadedConfig, io: CliIo): Promise<string[]> {
  const notices = (loaded.notices ?? []).map(
    ({ finding, advice }) => `${finding}. To change that, ${advice}.`,
  );
  const checks = [
    ...checkModels(loaded, io),
    ...(await checkOwnTools(loaded.config.tools, loaded.baseDir)),
    ...(await checkParts(io.env)),
    ...checkOpenFiles(),
    ...(await checkClaudeCodeEngine(loaded, io.program, { env: io.env })),
  ].filter(({ status }) => status !== 'ok');
  return [
    ...notices,
    ...checks.flatMap(({ finding, advice = '' }) => [
      `${finding}.`,
      ...(advice === '' ? [] : [`  → ${advice}`]),
    ]),
  ];
}
