/** The entry of the command: picks the command, loads only that one, and turns errors into exit codes. */
import { basename, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import packageJson from '../../package.json' with { type: 'json' };
import type { Environment } from '../config/environment-references.js';
import { nearest } from '../config/nearest.js';
import { createRedactor, environmentSecrets } from '../config/redact.js';
import { parseArguments } from './arguments.js';
import { explainFailure } from './checks/failure.js';
import { COMMANDS, commandHelp, DEFAULT_COMMAND, programHelp, usageLine } from './commands.js';
import { type CliIo, type Command, EXIT, UsageError } from './shared/command.js';

/** Everything that a command prints goes through here, so that no secret can. */
type Printer = Pick<CliIo, 'out' | 'err' | 'outVerbatim' | 'hide'>;

/** What would move the cursor, rename the terminal or turn the line around: clients and models choose names. Colours stay. */
const UNPRINTABLE =
  /\u001b(?!\[[\d;]{0,16}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function visible(line: string): string {
  return line.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function createPrinter(
  env: Environment,
  stdout: (text: string) => void,
  stderr: (text: string) => void,
): Printer {
  const known = new Set(environmentSecrets(env));
  let redact = createRedactor([...known]);
  return {
    out: (line) => stdout(`${visible(redact(line))}\n`),
    err: (line) => stderr(`${visible(redact(line))}\n`),
    outVerbatim: (line) => stdout(`${line}\n`),
    hide: (secrets) => {
      for (const secret of secrets) known.add(secret);
      redact = createRedactor([...known]);
    },
  };
}

/** Undefined where no person could read the question or type an answer. The input is left paused for the next reader. */
function askInTerminal(
  process: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
): ((question: string) => Promise<string>) | undefined {
  if (!isatty(0) || !isatty(2)) return undefined;
  return (question) =>
    new Promise((resolve) => {
      // The terminal itself echoes and edits the line: nothing has to be set back when this ends.
      const reader = createInterface({ input: process.stdin, terminal: false });
      let answer = '';
      reader.once('line', (line) => {
        answer = line;
        reader.close();
      });
      reader.once('close', () => resolve(answer));
      process.stderr.write(question);
    });
}

/** Resolves with the exit code; never rejects. `args` are the words after the program's name. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const [first] = args;
  if (first === '--version' || first === '-v') {
    io.out(io.version);
    return EXIT.ok;
  }
  const named = first !== undefined && !first.startsWith('-');
  let command: Command | undefined;
  try {
    if (first === '--help' || first === '-h' || (first === 'help' && args.length === 1)) {
      io.out(await programHelp(io.program));
      return EXIT.ok;
    }
    const load = loaderOf(named ? first : DEFAULT_COMMAND);
    ({ command } = await load());
    const own = named ? args.slice(1) : args;
    if (asksForHelp(own)) {
      io.out(commandHelp(command, io.program));
      return EXIT.ok;
    }
    return await command.run(parseArguments(command, own), io);
  } catch (error) {
    return report(error, command, io);
  }
}

function loaderOf(name: string): () => Promise<{ command: Command }> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load !== undefined) return load;
  const close = nearest(name, Object.keys(COMMANDS));
  throw new UsageError(
    `Unknown command \`${name}\`.${close === undefined ? '' : ` Did you mean \`${close}\`?`}`,
  );
}

/** Before `--`: the words after it belong to another program. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

function report(error: unknown, command: Command | undefined, io: CliIo): number {
  if (error instanceof UsageError) {
    io.err(error.message);
    io.err(
      command === undefined
        ? `Usage: ${io.program} [${Object.keys(COMMANDS).join(' | ')}] [options]`
        : usageLine(command, io.program),
    );
    io.err(`See ${io.program} ${command === undefined ? '' : `${command.name} `}--help.`);
    return EXIT.usage;
  }
  const { message, code } = explainFailure(error);
  io.err(message);
  return code;
}

/** What `bin/toolgate.js` calls. */
export async function main(process: NodeJS.Process): Promise<void> {
  // The reader of the output may be gone (`| head`): no reason for a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreBrokenPipe);
  const cwd = process.cwd();
  process.exitCode = await runCli(process.argv.slice(2), {
    ...createPrinter(
      process.env,
      (text) => process.stdout.write(text),
      (text) => process.stderr.write(text),
    ),
    ask: askInTerminal(process),
    env: process.env,
    cwd,
    color: process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
    version: packageJson.version,
    program: programName(process.argv[1] ?? '', cwd),
  });
}

function ignoreBrokenPipe(error: Error): void {
  if (!('code' in error) || error.code !== 'EPIPE') throw error;
}

/** `toolgate` when it is installed; in a checkout, what has to be typed there. */
function programName(script: string, cwd: string): string {
  if (!basename(script).endsWith('.js')) return 'toolgate';
  const path = relative(cwd, script);
  return `node ${path.startsWith('..') ? script : path}`;
}
