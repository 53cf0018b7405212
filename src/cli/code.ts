/** Claude Code on this gateway: finds or starts the gateway, starts Claude Code, passes its exit code on. */
import type { LoadedConfig } from '../config/load.js';
import { ModelRouter } from '../routing/model-router.js';
import { gatewayAddress, isGateway } from './checks/port.js';
import { type ClaudeModels, claudeEnvironment } from './claude-environment.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './command.js';
import { findClaude, INSTALL_HINT } from './find-claude.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { runProgram } from './run-program.js';

export const command: Command = {
  name: 'code',
  summary: 'Start Claude Code on this gateway',
  usage: 'code',
  options: {
    config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' },
    model: { value: 'M', summary: 'Model to start with (default: what Claude Code asks for)' },
    claude: { value: 'PATH', summary: 'The Claude Code program (default: `claude` on the PATH)' },
  },
  passthrough: 'claude arguments',
  run: code,
};

async function code(args: ParsedArguments, io: CliIo): Promise<number> {
  const loaded = await loadOperatorConfig(args, io);
  const program = await findClaude(args.values['claude'], io.env);
  if (program === undefined) {
    io.err(
      args.values['claude'] === undefined
        ? 'Claude Code was not found on the PATH.'
        : `There is no program at ${args.values['claude']}.`,
    );
    io.err(INSTALL_HINT);
    return EXIT.failed;
  }
  const gateway = await findOrStart(loaded, io);
  try {
    const env = claudeEnvironment(io.env, {
      url: gateway.url,
      credential: callKey(loaded) ?? 'toolgate',
      models: modelsFor(loaded, args.values['model']),
    });
    return await runProgram(program, args.rest, { cwd: io.cwd, env });
  } finally {
    await gateway.close();
  }
}

/** Of the kind that Claude Code asks for when nobody chose a model. */
const A_CLAUDE_NAME = 'claude-sonnet-4-5';

interface Connected {
  url: string;
  close(): Promise<void>;
}

/** A gateway that listens where the configuration says is used as it is; one started here ends with Claude Code. */
async function findOrStart(found: LoadedConfig, io: CliIo): Promise<Connected> {
  const place = gatewayAddress(found.config.server);
  if (await isGateway(place)) return { url: `http://${place}`, close: async () => {} };
  const loaded = await withOwnStore(found, io, { make: true });
  const { startGateway } = await import('../main.js');
  // Its log would be written over Claude Code's screen; requests are kept in traces.
  const options = { logLevel: 'silent', version: io.version };
  try {
    return await startGateway({ loaded, ...options });
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    const { config } = loaded;
    const elsewhere = { ...loaded, config: { ...config, server: { ...config.server, port: 0 } } };
    const gateway = await startGateway({ loaded: elsewhere, ...options });
    io.err(`${place} is used by another program: this gateway listens on ${gateway.url}.`);
    return gateway;
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'detail' in error && error.detail === 'EADDRINUSE';
}

function callKey({ config }: LoadedConfig): string | undefined {
  return config.server.keys.find(({ scopes }) => scopes.includes('call'))?.key;
}

/**
 * Claude Code asks for `claude-…` names of its own. Where the configuration routes none of them, it
 * is told to ask for a model that there is.
 */
function modelsFor({ config }: LoadedConfig, wanted: string | undefined): ClaudeModels {
  const rules = Object.fromEntries(
    Object.keys(config.models).map((name) => [name, { engine: 'relay' as const, upstreams: [] }]),
  );
  const router = new ModelRouter(rules);
  const named = [...router.named().keys()];
  // An agent would run tools of its own besides those of Claude Code.
  const fallback = wanted ?? named.find((name) => config.models[name]?.engine === 'relay') ?? named[0];
  const claude = router.route(A_CLAUDE_NAME);
  const main = wanted ?? (claude === undefined ? fallback : undefined);
  const pattern = router.route(main ?? A_CLAUDE_NAME)?.pattern;
  const contextWindow = pattern === undefined ? undefined : config.models[pattern]?.context_window;
  return {
    ...(main === undefined ? {} : { main }),
    ...(claude !== undefined || fallback === undefined ? {} : { others: fallback }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
}
