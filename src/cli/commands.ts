/** Every command there is, and its help. A new one is a file that exports `command`, and a line here. */
import type { Command, OptionTable } from './shared/command.js';

type Loader = () => Promise<{ command: Command }>;

export const COMMANDS: Readonly<Record<string, Loader>> = {
  start: () => import('./start.js'),
  code: async () => (await import('./launch.js')).launcher('code'),
  codex: async () => (await import('./launch.js')).launcher('codex'),
  opencode: async () => (await import('./launch.js')).launcher('opencode'),
  pi: async () => (await import('./launch.js')).launcher('pi'),
  qwen: async () => (await import('./launch.js')).launcher('qwen'),
  chat: () => import('./chat.js'),
  trace: () => import('./trace.js'),
  init: () => import('./init.js'),
  trust: () => import('./trust.js'),
  keys: () => import('./keys.js'),
  backup: () => import('./backup.js'),
  export: () => import('./export.js'),
  import: () => import('./import.js'),
  add: () => import('./add.js'),
  doctor: () => import('./doctor.js'),
  conformance: () => import('./conformance.js'),
};

export const DEFAULT_COMMAND = 'start';

/** The help of the whole program. Loads every command for its line. */
export async function programHelp(program: string): Promise<string> {
  const rows: [string, string][] = [];
  for (const load of Object.values(COMMANDS)) {
    const { command } = await load();
    rows.push([`${command.name}`, command.summary]);
  }
  return [
    'Toolgate: one gateway where any client reaches any model or agent, tool calls included.',
    '',
    `Usage: ${program} [command] [options]`,
    '',
    'Commands:',
    ...table(rows),
    '',
    'Options:',
    ...table([
      ['-h, --help', 'Show this help, or the help of a command'],
      ['-v, --version', 'Show the version'],
    ]),
    '',
    `\`${program} COMMAND --help\` shows the options of a command.`,
  ].join('\n');
}

export function commandHelp(command: Command, program: string): string {
  const options = optionRows(command.options);
  return [
    usageLine(command, program),
    '',
    command.summary,
    '',
    'Options:',
    ...table([...options, ['-h, --help', 'Show this help']]),
  ].join('\n');
}

export function usageLine(command: Command, program: string): string {
  const options = Object.entries(command.options).map(([name, { value }]) =>
    value === undefined ? `[--${name}]` : `[--${name} ${value}]`,
  );
  const rest = command.passthrough === undefined ? [] : [`[-- ${command.passthrough}]`];
  return `Usage: ${[program, command.usage, ...options, ...rest].join(' ')}`;
}

function optionRows(options: OptionTable): [string, string][] {
  return Object.entries(options).map(([name, { value, short, summary }]) => [
    `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    summary,
  ]);
}

function table(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
