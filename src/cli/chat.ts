import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { DEFAULTS } from '../config/defaults.js';
import { CONFIG_FILE, type LoadedConfig } from '../config/load.js';
import { createRedactor } from '../config/redact.js';
import type { Config, ModelConfig } from '../config/schema.js';
import { LOG_LEVELS } from '../observability/log-levels.js';
import { ModelRouter } from '../routing/model-router.js';
import { parseChoice } from './arguments.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments, UsageError } from './shared/command.js';

/** Whatever goes wrong inside is for a log file, not for the middle of a conversation. */
const DEFAULT_LOG_LEVEL = 'error';

export const command: Command = {
  name: 'chat',
  summary: 'Talk to the native agent about this folder, in the terminal',
  usage: 'chat',
  options: {
    model: { value: 'M', summary: 'A model of the configuration, or any name that it routes' },
    config: { value: 'FILE', summary: `Configuration file (default: ./${CONFIG_FILE})` },
    'log-level': { value: 'L', summary: `One of ${LOG_LEVELS.join(', ')} (default: ${DEFAULT_LOG_LEVEL})` },
  },
  run: (args, io) => chat(args, io, process.stdin, process.stdout),
};

export async function chat(
  args: ParsedArguments,
  io: CliIo,
  input: Readable & { isTTY?: boolean },
  output: Writable,
): Promise<number> {
  const level = parseChoice('log-level', args.values['log-level'] ?? DEFAULT_LOG_LEVEL, LOG_LEVELS);
  const loaded = await withOwnStore(await loadOperatorConfig(args, io), io, { make: true });
  const chosen = chatModel(loaded.config, args.values['model'], io.cwd);
  const { openChat } = await import('./chat/open-chat.js');
  const open = await openChat({
    loaded: { ...loaded, config: chosen.config },
    model: chosen.model,
    withModel: (name) => chatModel(loaded.config, name, io.cwd).config,
    logLevel: level,
    io,
    input,
    output,
    home: homedir(),
    redact: createRedactor([...loaded.secrets]),
  });
  try {
    return (await open.run(bannerOf(loaded, chosen, io))) ? EXIT.ok : EXIT.failed;
  } finally {
    await open.close();
  }
}

function bannerOf(
  { config }: LoadedConfig,
  { model, upstreams }: ChatModel,
  { cwd, program }: CliIo,
): string[] {
  const lines = [
    `toolgate chat · ${model} · ${cwd}`,
    'Ctrl-C stops an answer, Ctrl-D leaves, /help lists commands.',
  ];
  const demo = upstreams.every(
    (name) => config.upstreams[name] === undefined || config.upstreams[name].dialect === 'demo',
  );
  if (demo) {
    lines.push(
      `The embedded demo model answers: it follows rules and only tries tools out. Connect a real one with a key in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY …) or \`${program} init\`, then name it with --model.`,
    );
  }
  return lines;
}

interface ChatModel {
  /** With the model as an agent in it. */
  config: Config;
  model: string;
  upstreams: readonly string[];
}

/** A person is there to say when it is enough. */
const CHAT_TURNS = 100;
/** `cwd`: the folder that the person is in. Throws UsageError for a name that nothing answers. */
export function chatModel(config: Config, requested: string | undefined, cwd: string): ChatModel {
  const name = requested ?? defaultModel(config);
  const found = ruleFor(config, name);
  if (found === undefined) {
    throw new UsageError(
      `No model is called \`${name}\`. The configuration has: ${Object.keys(config.models).join(', ') || 'none'}.`,
    );
  }
  const upstreams = typeof found.upstream === 'string' ? [found.upstream] : found.upstream;
  const agent: ModelConfig = {
    ...(found.engine === 'relay' ? { ...DEFAULTS.agent, ...routedParts(found) } : found),
    engine: 'native',
    model: found.model ?? name,
    // Independent of the folder that the same model has for API clients.
    cwd,
    max_turns: CHAT_TURNS,
  };
  // An exact name is found before any glob.
  return { config: { ...config, models: { ...config.models, [name]: agent } }, model: name, upstreams };
}

/** An agent of the configuration, else a model that it names; the demo model where nothing else is connected. */
function defaultModel(config: Config): string {
  const named = Object.entries(config.models).filter(([name]) => !name.includes('*'));
  const [chosen] = named.find(([, { engine }]) => engine === 'native') ?? named[0] ?? [];
  if (chosen !== undefined) return chosen;
  const connected = Object.entries(config.models).filter(([, { upstream }]) => !isDemo(config, upstream));
  if (connected.length === 0) return 'demo';
  throw new UsageError(
    `Which model? Name one with --model; connected are: ${connected.map(([glob]) => glob).join(', ')}.`,
  );
}

function isDemo(config: Config, upstream: ModelConfig['upstream']): boolean {
  const [first = ''] = typeof upstream === 'string' ? [upstream] : upstream;
  return (config.upstreams[first]?.dialect ?? 'demo') === 'demo';
}

function ruleFor(config: Config, name: string): ModelConfig | undefined {
  const router = new ModelRouter(
    Object.fromEntries(
      Object.keys(config.models).map((key) => [key, { engine: 'relay' as const, upstreams: [] }]),
    ),
  );
  const route = router.route(name);
  return route === undefined ? undefined : config.models[route.pattern];
}

function routedParts({
  upstream,
  display_name,
  context_window,
  max_output_tokens,
  effort,
}: ModelConfig): Pick<ModelConfig, 'upstream'> & Partial<ModelConfig> {
  return {
    upstream,
    ...(display_name === undefined ? {} : { display_name }),
    ...(context_window === undefined ? {} : { context_window }),
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...(effort === undefined ? {} : { effort }),
  };
}
