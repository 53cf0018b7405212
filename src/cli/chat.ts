import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { CONFIG_FILE, type LoadedConfig } from '../config/load.js';
import { createRedactor } from '../config/redact.js';
import { LOG_LEVELS } from '../observability/log-levels.js';
import { parseChoice } from './arguments.js';
import { type ChatModel, chatModel } from './chat/chat-model.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import { type CliIo, type Command, EXIT, type ParsedArguments } from './shared/command.js';

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
