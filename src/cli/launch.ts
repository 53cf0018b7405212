/** Coding programs on this gateway: finds or starts the gateway, starts the program, passes its exit code on. */
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Environment } from '../config/environment-references.js';
import type { LoadedConfig } from '../config/load.js';
import { GatewayError } from '../core/errors.js';
import { isObject } from '../core/is-object.js';
import { gatewayAddress, isGateway } from './checks/port.js';
import { claudeCode } from './clients/claude-code.js';
import { type ClientSetting, type CodingClient, type OfferedModel, routerOf } from './clients/client.js';
import { codex } from './clients/codex.js';
import { opencode } from './clients/opencode.js';
import { pi } from './clients/pi.js';
import { qwen } from './clients/qwen.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { runProgram } from './run-program.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

/** By the command that starts each. */
const CLIENTS = { code: claudeCode, codex, opencode, pi, qwen } satisfies Readonly<
  Record<string, CodingClient>
>;

export function launcher(name: keyof typeof CLIENTS): { command: Command } {
  const client = CLIENTS[name];
  const { title, program } = client;
  const command: Command = {
    name,
    summary: `Start ${title} on this gateway`,
    usage: name,
    options: {
      config: { value: 'FILE', summary: 'Configuration file (default: ./toolgate.yaml)' },
      model: { value: 'M', summary: `Model to start with (default: ${defaultModel(client)})` },
      [program]: { value: 'PATH', summary: `The ${title} program (default: \`${program}\` on the PATH)` },
    },
    passthrough: `${program} arguments`,
    run: (args, io) => launch(client, args, io),
  };
  return { command };
}

const defaultModel = (client: CodingClient): string =>
  client === claudeCode ? 'what Claude Code asks for' : 'the first that is no agent';

async function launch(client: CodingClient, args: ParsedArguments, io: CliIo): Promise<number> {
  const { title, program, install } = client;
  const given = args.values[program];
  const loaded = await loadOperatorConfig(args, io);
  const path = await findProgram(client, given, io.env);
  if (path === undefined) {
    io.err(given === undefined ? `${title} was not found on the PATH.` : `There is no program at ${given}.`);
    io.err(`Install it with \`${install}\`, or name the program with --${program} PATH.`);
    return EXIT.failed;
  }
  const { setting, close } = await openSetting(loaded, io, args.values['model']);
  try {
    const start = await client.prepare(setting);
    return await runProgram(path, [...start.args, ...args.rest], { cwd: io.cwd, env: start.env });
  } finally {
    await close();
  }
}

/** What programs are prepared with; `close` when they have ended. */
export async function openSetting(
  loaded: LoadedConfig,
  io: CliIo,
  wanted?: string,
): Promise<{ setting: ClientSetting; close(): Promise<void> }> {
  const gateway = await findOrStart(loaded, io);
  const folders: string[] = [];
  const setting: ClientSetting = {
    url: gateway.url,
    credential: callKey(loaded) ?? 'toolgate',
    config: loaded.config,
    wanted,
    env: io.env,
    models: () => modelsOf(setting),
    folder: async () => {
      const made = await mkdtemp(join(tmpdir(), 'toolgate-'));
      folders.push(made);
      return made;
    },
  };
  return {
    setting,
    async close() {
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
      await gateway.close();
    },
  };
}

/** Undefined where there is none. A path given by the person is the only one tried. */
export async function findProgram(
  { program, elsewhere }: CodingClient,
  given: string | undefined,
  env: Environment,
): Promise<string | undefined> {
  const candidates =
    given === undefined ? [...onPath(program, env), ...((await elsewhere?.(env)) ?? [])] : [given];
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}

function onPath(program: string, env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? [`${program}.exe`, `${program}.cmd`] : [program];
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Connected {
  url: string;
  close(): Promise<void>;
}

/** A gateway that listens where the configuration says is used as it is; one started here ends with the program. */
async function findOrStart(found: LoadedConfig, io: CliIo): Promise<Connected> {
  const address = gatewayAddress(found.config.server);
  if (await isGateway(address)) return { url: `http://${address}`, close: async () => {} };
  const loaded = await withOwnStore(found, io, { make: true });
  const { startGateway } = await import('../gateway/open-gateway.js');
  // Its log would be written over the program's screen; requests are kept in traces.
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

/** What the gateway lists for this key. An agent would run tools of its own besides those of the program. */
async function modelsOf({
  url,
  credential,
  config,
  wanted,
}: ClientSetting): Promise<readonly [OfferedModel, ...OfferedModel[]]> {
  const listed = await listModels(url, credential);
  const router = routerOf(config.models);
  const ruleOf = (id: string) => config.models[router.route(id)?.pattern ?? ''];
  const first = wanted ?? listed.find((id) => ruleOf(id)?.engine === 'relay') ?? listed[0];
  if (first === undefined) {
    throw new GatewayError(
      'not_found',
      'The gateway lists no model. Name one with --model, or configure one.',
    );
  }
  const offer = (id: string): OfferedModel => ({ id, contextWindow: ruleOf(id)?.context_window });
  return [offer(first), ...listed.filter((id) => id !== first).map(offer)];
}

async function listModels(url: string, credential: string): Promise<string[]> {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${credential}` } });
  const body: unknown = answer.ok ? await answer.json() : undefined;
  const data = isObject(body) && Array.isArray(body['data']) ? body['data'] : [];
  return data.flatMap((model: unknown) =>
    isObject(model) && typeof model['id'] === 'string' ? [model['id']] : [],
  );
}
