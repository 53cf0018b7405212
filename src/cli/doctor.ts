import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../config/check.js';
import { ConfigError } from '../config/config-error.js';
import { CONFIG_FILE, type LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { createSandbox } from '../sandbox/create-sandbox.js';
import { createBuiltIns } from '../tools/built-ins.js';
import type { Tool } from '../tools/runtime/tool.js';
import { checkQuirks } from '../upstreams/quirks/check-quirks.js';
import { type Check, fail, ok, warn } from './checks/check.js';
import { checkMcpServers } from './checks/mcp.js';
import { checkClaudeCodeEngine, checkModels, checkOwnTools, checkPrices } from './checks/models.js';
import { checkOpenFiles } from './checks/open-files.js';
import { checkParts } from './checks/parts.js';
import { checkPort } from './checks/port.js';
import { checkStore } from './checks/store.js';
import { checkUpstream } from './checks/upstream.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

/** Switched off by the configuration, which is no mistake. */
const SWITCHED: ReadonlySet<string> = new Set([
  'WebSearch',
  'MemoryRead',
  'MemoryWrite',
  'Architect',
  'StickerRequest',
]);

/** The built-in tools of agents: which are on, and why one that should be is not. */
export async function checkBuiltIns(config: Config['tools']): Promise<Check[]> {
  const tools = await createBuiltIns(config).tools();
  const states = await Promise.all(tools.map(async (tool) => ({ tool, reason: await whyOff(tool) })));
  const off = states.filter(({ reason }) => reason !== undefined);
  const chosen = off.filter(({ tool }) => SWITCHED.has(tool.name)).map(({ tool }) => tool.name);
  const left = chosen.length === 0 ? '' : `; switched off: ${chosen.join(', ')}`;
  return [
    ok('tools', `${tools.length - off.length} built-ins are on${left}`),
    ...off
      .filter(({ tool }) => !SWITCHED.has(tool.name))
      .map(({ tool, reason = '' }) => warn('tools', `${tool.name} is off`, reason)),
  ];
}

async function whyOff(tool: Tool): Promise<string | undefined> {
  const { isEnabled = true } = tool;
  const state = typeof isEnabled === 'function' ? await isEnabled() : isEnabled;
  if (state === true) return undefined;
  return state === false ? 'it says so itself' : state.reason;
}

/** Whether commands are walled in, found out by running one. */
export async function checkSandbox(
  mode: Config['sandbox'],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check> {
  const sandbox = await createSandbox({ mode, env, probe: 'now' });
  try {
    const { status } = sandbox;
    if (status.active) {
      const more = status.detail.includes('socat')
        ? 'install socat to let commands reach allowed hosts'
        : undefined;
      return more === undefined ? ok('sandbox', status.detail) : warn('sandbox', status.detail, more);
    }
    if (status.reason === 'off') return warn('sandbox', status.detail, status.advice);
    if (mode === 'required') {
      return fail('sandbox', `required, and there is none: ${status.detail}`, status.advice);
    }
    return warn('sandbox', `commands run without one: ${status.detail}`, status.advice);
  } finally {
    await sandbox.close();
  }
}

/** Shorter keys can be guessed. */
const SHORTEST_KEY = 16;

/** Who may call the gateway. */
function checkPosture({ server }: Config): Check {
  const { keys, host } = server;
  if (keys.length === 0)
    return ok(
      'access',
      `no keys in the file: ${host} only; any credential is taken for /v1 until a key is made with \`keys create\``,
    );
  const finding = keys.map(({ name, scopes }) => `${name} (${scopes.join(', ')})`).join(', ');
  const weak = keys.filter(({ key }) => key.length < SHORTEST_KEY).map(({ name }) => name);
  if (weak.length > 0) {
    return warn(
      'access',
      finding,
      `the key of ${weak.join(', ')} is short; make one with: openssl rand -base64 32`,
    );
  }
  if (!isLoopback(host) && keys.every(({ scopes }) => !scopes.includes('approve'))) {
    return warn('access', finding, 'no key may answer approvals; give one the scope `approve`');
  }
  return ok('access', finding);
}

export const command: Command = {
  name: 'doctor',
  summary: 'Check configuration, upstreams, tools, MCP servers, sandbox and store, and say what to do',
  usage: 'doctor',
  options: {
    config: { value: 'FILE', summary: `Configuration file (default: ./${CONFIG_FILE})` },
    'claude-code': {
      summary:
        'Run Claude Code on every configured model, and say what of it works there (this costs tokens)',
    },
    claude: { value: 'PATH', summary: 'The Claude Code program for that (default: `claude` on the PATH)' },
  },
  run: doctor,
};

export async function doctor(args: ParsedArguments, io: CliIo): Promise<number> {
  const print = (checks: readonly Check[]): void => {
    for (const line of renderChecks(checks, io.color)) io.out(line);
  };
  const node = ok('node', process.version);

  let loaded: LoadedConfig;
  try {
    loaded = await withOwnStore(await loadOperatorConfig(args, io), io, { make: false });
    checkQuirks(loaded);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n');
    print([node, ...lines.map((line) => fail('config', line, ''))]);
    io.out('The configuration cannot be used; nothing else was checked.');
    return EXIT.usage;
  }

  const parts = await checkParts(io.env);
  if (parts.some(({ status }) => status === 'FAIL')) {
    print([node, ...parts]);
    io.out('The gateway cannot start; nothing else was checked.');
    return EXIT.failed;
  }

  if (args.switches.has('claude-code')) {
    const { checkClaudeFeatures } = await import('./claude-features.js');
    const features = await checkClaudeFeatures(loaded, io, args.values['claude']);
    print(features);
    return summarise(features, io);
  }

  const { config, baseDir } = loaded;
  const [upstreams, mcp, builtIns, tools, claudeCode, store, sandbox, port] = await Promise.all([
    Promise.all(Object.entries(config.upstreams).map(([name, upstream]) => checkUpstream(name, upstream))),
    checkMcpServers(config, { baseDir, environment: io.env, version: io.version }),
    checkBuiltIns(config.tools),
    checkOwnTools(config.tools, baseDir),
    checkClaudeCodeEngine(loaded, io.program, { env: io.env }),
    checkStore(config.store, baseDir),
    checkSandbox(config.sandbox, io.env),
    checkPort(config.server, io.program),
  ]);
  const checks = [
    node,
    ...parts,
    ...describeConfig(loaded, io.cwd),
    ...upstreams.flat(),
    ...mcp,
    ...builtIns,
    ...tools,
    ...claudeCode,
    ...checkModels(loaded, io),
    ...checkPrices(config),
    checkPosture(config),
    ...checkOpenFiles(),
    store.check,
    ...store.learned.map(({ upstream, model, key, value }) =>
      ok('learned', `${upstream}, ${model}: ${key} = ${JSON.stringify(value)}`),
    ),
    sandbox,
    port,
  ];
  print(checks);
  return summarise(checks, io);
}

function describeConfig({ file, notices = [] }: LoadedConfig, cwd: string): Check[] {
  const checks: Check[] = [
    file === undefined
      ? ok('config', 'no file; upstreams from the keys in the environment')
      : ok('config', file),
  ];
  const misnamed = ['toolgate.yml', 'toolgate.json'].find((name) => existsSync(join(cwd, name)));
  if (file === undefined && misnamed !== undefined) {
    checks.push(
      warn('config', `${misnamed} is not read`, `rename it to ${CONFIG_FILE}, or name it with --config`),
    );
  }
  return [...checks, ...notices.map(({ finding, advice }) => warn('config', finding, advice))];
}

function summarise(checks: readonly Check[], io: CliIo): number {
  const failed = checks.filter(({ status }) => status === 'FAIL').length;
  const warned = checks.filter(({ status }) => status === 'warn').length;
  const warnings = warned === 0 ? '' : warned === 1 ? ', 1 warning' : `, ${warned} warnings`;
  if (failed === 0) io.out(`Everything can be used${warnings}.`);
  else io.out(`${failed === 1 ? '1 check' : `${failed} checks`} failed${warnings}.`);
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

const COLORS: Readonly<Record<Check['status'], string>> = { ok: '32', warn: '33', FAIL: '31' };

/** One aligned line a check, and one more where there is something to do. */
export function renderChecks(checks: readonly Check[], color: boolean): string[] {
  const width = Math.max(...checks.map(({ subject }) => subject.length));
  const lines: string[] = [];
  for (const { status, subject, finding, advice } of checks) {
    const word = status.padEnd(4);
    const shown = color ? `\u001b[${COLORS[status]}m${word}\u001b[0m` : word;
    lines.push(`${shown}  ${subject.padEnd(width)}  ${finding}`);
    if (advice) lines.push(`${' '.repeat(6 + width + 2)}→ ${advice}`);
  }
  return lines;
}
