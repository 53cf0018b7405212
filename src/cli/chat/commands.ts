/** What a person tells the chat itself instead of the agent. */
import type { Config } from '../../config/schema.js';
import type { SessionMode } from '../../store/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import { ago, indent, type Paint, plain, plainLine } from './render.js';
import type { ChatTerminal } from './terminal.js';

export type Mode = Config['permissions']['mode'] | SessionMode;

const MODES: Readonly<Record<Mode, string>> = {
  ask: 'what no rule is about is asked',
  'read-only': 'what only reads runs, everything else is refused',
  'allow-edits': 'files in the folder are edited without a question, the rest as in ask',
  plan: 'the agent reads, and lays a plan before you that you accept or send back',
  allow: 'what no rule is about runs without a question',
  deny: 'what no rule is about is refused',
};

interface ResumableSession {
  id: string;
  title: string;
  updatedAt: number;
}

/** What commands change. */
export interface ChatControls {
  readonly model: string;
  models(): readonly string[];
  /** What is in the way; undefined where the next turn is the model's. */
  useModel(name: string): string | undefined;
  mode(): Promise<Mode>;
  useMode(mode: Mode): Promise<void>;
  /** Of this folder, the newest first. */
  sessions(): Promise<ResumableSession[]>;
  /** The words of the last exchange, in the order in which they were said. */
  lastExchange(id: string): Promise<{ who: 'you' | 'agent'; text: string }[]>;
}

export interface CommandContext {
  terminal: ChatTerminal;
  paint: Paint;
  runtime: Pick<ToolRuntime, 'list'>;
  controls: ChatControls;
}

type CommandOutcome = 'go on' | 'leave' | 'anew' | { resume: string };

interface ChatCommand {
  argument?: string;
  help: string;
  run(context: CommandContext, argument: string): Promise<CommandOutcome>;
}

const RESUMABLE = 10;
const LAST_WORDS = 600;

const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  '/help': {
    help: 'this list',
    run: async ({ terminal }) => {
      for (const [name, { argument = '', help }] of Object.entries(COMMANDS)) {
        terminal.write(`  ${`${name} ${argument}`.padEnd(16)}${help}\n`);
      }
      terminal.write(
        '  Ctrl-J, Alt+Enter or \\ at the end begins another line. Ctrl-C stops the answer, Ctrl-D leaves.\n',
      );
      return 'go on';
    },
  },
  '/model': {
    argument: '[NAME]',
    help: 'the models, or go on with another one',
    run: async ({ terminal, paint, controls }, name) => {
      if (name === '') {
        const lines = controls
          .models()
          .map((each) =>
            each === controls.model ? paint('bold', `${plainLine(each)} (now)`) : plainLine(each),
          );
        terminal.write(indent(lines, '  '));
        return 'go on';
      }
      const problem = controls.useModel(name);
      terminal.write(`  ${plainLine(problem ?? `${name} answers from now on, in the same conversation.`)}\n`);
      return 'go on';
    },
  },
  '/mode': {
    argument: '[MODE]',
    help: 'what happens to calls that no rule is about, for this chat',
    run: async ({ terminal, paint, controls }, mode) => {
      if (isMode(mode)) await controls.useMode(mode);
      else if (mode !== '') terminal.write(`  There is no mode ${plainLine(mode)}.\n`);
      const now = await controls.mode();
      const lines = Object.entries(MODES).map(([name, meaning]) => {
        const line = `${name.padEnd(13)}${meaning}`;
        return name === now ? paint('bold', `${line} (now)`) : line;
      });
      terminal.write(indent(lines, '  '));
      return 'go on';
    },
  },
  '/tools': {
    help: 'the tools that the agent has',
    run: async ({ terminal, runtime, paint }) => {
      const tools = await runtime.list();
      const lines = tools.map(({ name, enabled, reason = '' }) =>
        enabled
          ? plainLine(name)
          : paint('dim', `${plainLine(name)} (off${reason === '' ? '' : `: ${plainLine(reason)}`})`),
      );
      terminal.write(indent(lines, '  '));
      return 'go on';
    },
  },
  '/resume': {
    help: 'go on with an earlier conversation of this folder',
    run: resume,
  },
  '/new': {
    help: 'begin a new conversation; /resume finds this one',
    run: async () => 'anew',
  },
  '/exit': {
    help: 'leave',
    run: async () => 'leave',
  },
};

async function resume({ terminal, paint, controls }: CommandContext): Promise<CommandOutcome> {
  const found = (await controls.sessions()).slice(0, RESUMABLE);
  if (found.length === 0) {
    terminal.write('  There is no earlier conversation in this folder.\n');
    return 'go on';
  }
  const lines = found.map(
    ({ title, updatedAt }, index) =>
      `${paint('cyan', String(index + 1).padStart(2))}  ${plainLine(title, 60)} ${paint('dim', ago(updatedAt))}`,
  );
  terminal.write(indent(lines, '  '));
  const line = await terminal.ask('  number, or Enter for none > ', { remember: false });
  const chosen = found[Number(line?.trim() || '0') - 1];
  if (chosen === undefined) {
    if (line !== undefined && line.trim() !== '') terminal.write('  There is no such number.\n');
    return 'go on';
  }
  for (const { who, text } of await controls.lastExchange(chosen.id)) {
    const words = plain(text);
    const cut = words.length > LAST_WORDS ? `…${words.slice(-LAST_WORDS)}` : words;
    terminal.write(`\n${paint('dim', who === 'you' ? `> ${cut}` : cut)}\n`);
  }
  return { resume: chosen.id };
}

const isMode = (name: string): name is Mode => Object.hasOwn(MODES, name);

/** Undefined for words that are for the agent. */
export function commandIn(text: string): ((context: CommandContext) => Promise<CommandOutcome>) | undefined {
  const [, name = '', argument = ''] = /^(\/\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command !== undefined && (argument === '' || command.argument !== undefined)) {
    return (context) => command.run(context, argument);
  }
  if (name === '' || argument !== '') return undefined;
  return async ({ terminal }) => {
    terminal.write(`  There is no command ${plainLine(name)}. /help lists them.\n`);
    return 'go on';
  };
}
