import { CONFIG_FILE, type LoadedConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { LOG_LEVELS } from '../observability/log-levels.js';
import { parseChoice, parsePort } from './arguments.js';
import { checkClaudeCodeEngine, checkModels, checkOwnTools } from './checks/models.js';
import { checkParts } from './checks/parts.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

const DEFAULT_LOG_LEVEL = 'info';

export const command: Command = {
  name: 'start',
  summary: 'Start the gateway (also without a command)',
  usage: '[start]',
  options: {
    config: { value: 'FILE', summary: `Configuration file (default: ./${CONFIG_FILE})` },
    host: { value: 'H', summary: 'Address to listen on, above the configuration' },
    port: { value: 'N', summary: 'Port to listen on, above the configuration' },
    'log-level': { value: 'L', summary: `One of ${LOG_LEVELS.join(', ')} (default: ${DEFAULT_LOG_LEVEL})` },
  },
  run: start,
};

async function start(args: ParsedArguments, io: CliIo): Promise<number> {
  const level = parseChoice('log-level', args.values['log-level'] ?? DEFAULT_LOG_LEVEL, LOG_LEVELS);
  const loaded = await withOwnStore(await loadOperatorConfig(args, io, overridesOf(args)), io, {
    make: true,
  });
  const { startGateway } = await import('../gateway/open-gateway.js');
  const gateway = await startGateway({ loaded, logLevel: level, version: io.version, signals: true });
  io.outVerbatim(`toolgate listens on ${gateway.url} · console ${gateway.consoleUrl}`);
  for (const line of await problemsOf(loaded, io)) io.out(line);
  await gateway.finished;
  return EXIT.ok;
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
