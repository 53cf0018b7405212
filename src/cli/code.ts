/** Claude Code on this gateway: finds or starts the gateway, starts Claude Code, passes its exit code on. */
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import type { Environment } from '../config/environment-references.js';
import type { LoadedConfig } from '../config/load.js';
import { checkClaudeCode } from '../engines/claude-code/processes/load-sdk.js';
import { ModelRouter } from '../routing/model-router.js';
import { gatewayAddress, isGateway } from './checks/port.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { runProgram } from './run-program.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

const INSTALL_HINT =
  'Install it with `npm install -g @anthropic-ai/claude-code`, or name the program with --claude PATH.';

/** Brings the program with it. */
const PACKAGE = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

/** The program's path; undefined where there is none. A path given by the person is the only one tried. */
async function findClaude(given: string | undefined, env: Environment): Promise<string | undefined> {
  const candidates = given === undefined ? [...onPath(env), ...(await inPackages(env))] : [given];
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}

function onPath(env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? ['claude.exe', 'claude.cmd'] : ['claude'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

/** That of the Agent SDK, where the engine has it, or of Claude Code's own package. */
async function inPackages(env: Environment): Promise<string[]> {
  const sdk = await checkClaudeCode({ env });
  if (sdk.ok) return [sdk.binary];
  try {
    return [join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'claude')];
  } catch {
    return [];
  }
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment in which Claude Code talks to this gateway alone. */
interface ClaudeModels {
  /** The model to start with. */
  main?: string;
  /** In place of the names for small and other work. */
  others?: string;
  /** Tokens that fit into the model, so that the context meter and compaction are right. */
  contextWindow?: number;
}

interface ClaudeEnvironmentOptions {
  url: string;
  /** What the gateway takes; anything where it has no keys. */
  credential: string;
  models: ClaudeModels;
}

/** Credentials and addresses that would lead Claude Code past the gateway. */
const REMOVED = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'ANTHROPIC_CUSTOM_HEADERS',
];

const TIERS = ['OPUS', 'SONNET', 'HAIKU', 'FABLE'];

function claudeEnvironment(env: Environment, options: ClaudeEnvironmentOptions): NodeJS.ProcessEnv {
  const { url, credential, models } = options;
  const result: NodeJS.ProcessEnv = { ...env };
  for (const name of REMOVED) delete result[name];
  result['ANTHROPIC_BASE_URL'] = url;
  result['ANTHROPIC_AUTH_TOKEN'] = credential;
  // Update checks and telemetry go to Anthropic directly; a person who wants them can say 0.
  result['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'] ??= '1';
  // Lists the gateway's models in /model.
  result['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY'] ??= '1';
  if (models.main !== undefined) result['ANTHROPIC_MODEL'] = models.main;
  if (models.contextWindow !== undefined)
    result['CLAUDE_CODE_MAX_CONTEXT_TOKENS'] ??= String(models.contextWindow);
  if (models.others !== undefined) {
    result['ANTHROPIC_SMALL_FAST_MODEL'] ??= models.others;
    for (const tier of TIERS) result[`ANTHROPIC_DEFAULT_${tier}_MODEL`] ??= models.others;
  }
  return result;
}

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

/** Of the kind that Claude Code asks for when no model was chosen. */
const A_CLAUDE_NAME = 'claude-sonnet-4-5';

interface Connected {
  url: string;
  close(): Promise<void>;
}

/** A gateway that listens where the configuration says is used as it is; one started here ends with Claude Code. */
async function findOrStart(found: LoadedConfig, io: CliIo): Promise<Connected> {
  const address = gatewayAddress(found.config.server);
  if (await isGateway(address)) return { url: `http://${address}`, close: async () => {} };
  const loaded = await withOwnStore(found, io, { make: true });
  const { startGateway } = await import('../gateway/open-gateway.js');
  // Its log would be written over Claude Code's screen; requests are kept in traces.
  const options = { logLevel: 'silent', version: io.version };
  try {
    return await startGateway({ loaded, ...options });
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    const { config } = loaded;
    const elsewhere = { ...loaded, config: { ...config, server: { ...config.server, port: 0 } } };
    const gateway = await startGateway({ loaded: elsewhere, ...options });
    io.err(`${address} is used by another program: this gateway listens on ${gateway.url}.`);
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
 * is configured to ask for a model that exists.
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
