/** Runs a command of the shell. Every command has a shell of its own; the folder and exported variables are kept between them. */
import * as z from 'zod';
import { atMost, deferred } from '../../core/deferred.js';
import { onAbort } from '../../core/stopping.js';
import type { Effect } from '../../permissions/decision.js';
import { isReadOnlyCommand } from '../../permissions/shell/read-only.js';
import { cleanPath, findProgram } from '../../workspace/process/command-environment.js';
import { decodeOutput } from '../../workspace/process/output-buffer.js';
import type { CommandEnd } from '../../workspace/process/run-command.js';
import { resetBehind } from '../../workspace/process/terminal-text.js';
import { tailOf } from '../runtime/clean-text.js';
import type { ToolContext } from '../runtime/context.js';
import {
  type PromptOptions,
  type Tool,
  ToolError,
  type ToolProgress,
  type ToolYield,
} from '../runtime/tool.js';
import { createJob, withoutBegun } from './background.js';
import { BASH_LIMITS } from './limits.js';
import { presentOutput, sandboxHint, setAsideNote } from './present-output.js';
import { readReport } from './shell-script.js';
import { type FoundFolder, findFolder, keepVariables, moveTo, settingVariables } from './shell-state.js';
import { type StartedCommand, startCommand } from './start-command.js';

/** Returns when the command has ended. */
async function* followOutput(started: StartedCommand): AsyncGenerator<ToolProgress, void, void> {
  let ended = false;
  let changed = deferred();
  started.onChange(() => changed.resolve());
  void started.ended.then(() => {
    ended = true;
    changed.resolve();
  });
  let position = 0;
  while (!ended) {
    await changed.promise;
    changed = deferred();
    if (ended) return;
    await atMost(BASH_LIMITS.progressMs, started.ended);
    // The whole comes with the result.
    if (ended) return;
    const { slice, held } = withoutBegun(started.output.since(position));
    position = started.output.total - held;
    const { before, after } = decodeOutput(slice);
    const content = tailOf(before + after, BASH_LIMITS.progressChars);
    if (content !== '') yield { type: 'progress', content };
  }
}

const BASH_DESCRIPTION = `Runs a command in bash and returns what it prints, with its exit code.
- Each command has a shell of its own. The folder that a command ends in is where the next one starts, as long as it is inside the workspace, and exported variables are kept; other variables, functions and aliases are not.
- Nothing can be typed into it: pass -y or --no-input where a program would ask.
- It is ended after its time-out (${BASH_LIMITS.timeoutMs / 1000} s unless you say otherwise, at most ${BASH_LIMITS.maxTimeoutMs / 60_000} min), with everything that it started. Set run_in_background for servers and watchers.
- Of a long output you get the beginning and the end, and the path of a file with all of it.`;

function bashPrompt({ tools, cwd }: PromptOptions): string {
  const better = [
    ['Read', 'to read files, not cat, head or tail'],
    ['Edit', 'to change files, not sed or awk'],
    ['Write', 'to make files, not echo or heredocs'],
    ['Grep', 'to search in files, not grep or rg'],
    ['Glob', 'to find files by name, not find'],
  ].flatMap(([name, use]) => (name !== undefined && tools.includes(name) ? [`${name} ${use}`] : []));
  return [
    `Bash starts in ${cwd}.`,
    ...(better.length === 0 ? [] : [`Where they do, use the other tools: ${better.join('; ')}.`]),
    'Join commands that depend on each other with &&. Quote paths with spaces.',
    'Never use a command to get around a refusal of another tool.',
  ].join('\n');
}

/** Exit statuses that are an answer and not a failure. */
const ANSWERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: 'no line matched' },
  egrep: { 1: 'no line matched' },
  fgrep: { 1: 'no line matched' },
  rg: { 1: 'no line matched' },
  diff: { 1: 'the files differ' },
  cmp: { 1: 'the files differ' },
  test: { 1: 'the condition is false' },
  '[': { 1: 'the condition is false' },
  pgrep: { 1: 'no process matched' },
};

/** Of a single program without operators; in anything longer the status may be another's. */
function exitMeaning(command: string, code: number): string | undefined {
  const [, program = ''] = /^\s*([\w[]+)(?:\s[^;&|<>`$()\n]*)?$/.exec(command) ?? [];
  return Object.hasOwn(ANSWERS, program) ? ANSWERS[program]?.[code] : undefined;
}

const inputSchema = z.strictObject({
  command: z.string().min(1).describe('The command to run'),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(
      `Time-out in milliseconds: by default ${BASH_LIMITS.timeoutMs}, at most ${BASH_LIMITS.maxTimeoutMs}; in the background by default ${BASH_LIMITS.backgroundTimeoutMs}, at most ${BASH_LIMITS.maxBackgroundTimeoutMs}`,
    ),
  description: z.string().optional().describe('In 5 to 10 words, what the command does'),
  run_in_background: z
    .boolean()
    .optional()
    .describe('Return at once; read the output later with BashOutput, end it with KillShell'),
  dangerouslyDisableSandbox: z
    .boolean()
    .optional()
    .describe('Run outside of the sandbox, where that is allowed'),
});

type BashInput = z.infer<typeof inputSchema>;

/** For people. */
interface BashData {
  /** stdout and stderr as they came. */
  output: string;
  exitCode?: number;
  signal?: string;
  interrupted: boolean;
  timedOutAfterMs?: number;
  backgroundTaskId?: string;
  logPath?: string;
  returnCodeInterpretation?: string;
  cwd: string;
  sandboxed: boolean;
}

interface BashOptions {
  /** Of the gateway: where bash is looked for. */
  environment?: Readonly<Record<string, string | undefined>>;
}

export const createBashTool = ({ environment = {} }: BashOptions): Tool<BashInput> => ({
  name: 'Bash',
  userFacingName: () => 'Bash',
  description: BASH_DESCRIPTION,
  inputSchema,
  isEnabled: () =>
    process.platform !== 'win32' && findProgram('bash', cleanPath(environment['PATH'])) !== undefined
      ? true
      : { enabled: false, reason: 'bash is not installed, or not on the PATH of the gateway' },
  isReadOnly: ({ command, run_in_background }) => run_in_background !== true && isReadOnlyCommand(command),
  isConcurrencySafe: ({ command, run_in_background }) =>
    run_in_background !== true && isReadOnlyCommand(command),
  needsPermissions: () => true,
  effects({ command }, { shell: { cwd, variables } }) {
    const before = settingVariables(variables, false);
    // As it is written, for rules about exactly that; and with what it runs with.
    const written: Effect = { kind: 'command', command, cwd };
    return before === ''
      ? [written]
      : [written, { ...written, command: before + command, withVariables: true }];
  },
  prompt: bashPrompt,
  validateInput(input, { sandbox, session }) {
    const problem = findProblem(input, sandbox.status, session.jobs.list());
    return problem === undefined ? { ok: true } : { ok: false, message: problem };
  },
  describe: ({ command, description, run_in_background }, { shell }) => ({
    title: `${run_in_background === true ? 'Run in the background' : 'Run'} ${oneLine(command)}`,
    kind: 'command',
    paths: [shell.cwd],
    command,
    ...detailOf(description, settingVariables(shell.variables, true)),
  }),
  async *call(input, context) {
    context.signal.throwIfAborted();
    const found = findFolder(context);
    if (input.run_in_background === true) yield await startJob(input, context, found);
    else yield* runToEnd(input, context, found);
  },
  limits: { resultChars: 30_000 },
});

function findProblem(
  { command, timeout, run_in_background, dangerouslyDisableSandbox }: BashInput,
  status: ToolContext['sandbox']['status'],
  jobs: ReturnType<ToolContext['session']['jobs']['list']>,
): string | undefined {
  if (command.includes('\0')) return 'A command cannot hold a NUL character.';
  if (Buffer.byteLength(command) > BASH_LIMITS.commandBytes) {
    return `The command is longer than ${BASH_LIMITS.commandBytes} bytes. Write it to a file with Write and run that file.`;
  }
  if (dangerouslyDisableSandbox === true && !(status.active === false && status.reason === 'off')) {
    return 'Commands are not allowed to leave the sandbox here. Call it again without dangerouslyDisableSandbox, or ask the user to run the command.';
  }
  const background = run_in_background === true;
  const longest = background ? BASH_LIMITS.maxBackgroundTimeoutMs : BASH_LIMITS.maxTimeoutMs;
  if (timeout !== undefined && timeout > longest) {
    const instead = background ? '' : ' Use run_in_background for what takes longer.';
    return `timeout is at most ${longest} ms here.${instead}`;
  }
  const running = jobs.filter((job) => job.state().status === 'running').length;
  if (background && running >= BASH_LIMITS.jobs) {
    return `${running} background commands run already, which is the limit. End one with KillShell first.`;
  }
  return undefined;
}

async function startJob(
  input: BashInput,
  context: ToolContext,
  { cwd, note }: FoundFolder,
): Promise<ToolYield> {
  const started = await startCommand(input.command, context, { logAlways: true, cwd });
  const { jobs } = context.session;
  const id = `bash_${jobs.list().length + 1}`;
  const timeoutMs = input.timeout ?? BASH_LIMITS.backgroundTimeoutMs;
  const job = createJob(id, input.command, started, timeoutMs);
  jobs.add(job);
  const text = `Running in the background with the id ${id}. Read its output with BashOutput (bash_id: ${id}), end it with KillShell (shell_id: ${id}). Everything that it prints is in ${job.logPath}.`;
  return {
    type: 'result',
    resultForAssistant: [note, text].filter((part) => part !== undefined).join('\n'),
    data: {
      output: '',
      interrupted: false,
      backgroundTaskId: id,
      logPath: job.logPath,
      cwd: context.session.cwd,
      sandboxed: context.sandbox.status.active,
    } satisfies BashData,
  };
}

async function* runToEnd(
  input: BashInput,
  context: ToolContext,
  { cwd, note }: FoundFolder,
): AsyncGenerator<ToolYield, void, void> {
  const started = await startCommand(input.command, context, { logAlways: false, cwd });
  const timeoutMs = input.timeout ?? BASH_LIMITS.timeoutMs;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void started.stop();
  }, timeoutMs);
  const release = onAbort(context.signal, () => void started.kill());
  let finished = false;
  try {
    yield* followOutput(started);
    const end = await started.ended;
    finished = true;
    yield report(input, context, started, end, { timeoutMs: timedOut ? timeoutMs : undefined, note });
  } finally {
    clearTimeout(timer);
    release();
    // Nobody listens any more.
    if (!finished) await started.kill();
  }
}

function report(
  { command }: BashInput,
  context: ToolContext,
  started: StartedCommand,
  end: CommandEnd,
  more: { timeoutMs: number | undefined; note: string | undefined },
): ToolYield {
  if (end.kind === 'failed') throw new ToolError(`The command could not be started: ${end.message}`);
  const { text, raw, shown } = presentOutput(started.output.since(0), started.log);
  const aborted = context.signal.aborted;
  const meaning = end.kind === 'exited' ? exitMeaning(command, end.code) : undefined;
  const failed =
    aborted ||
    more.timeoutMs !== undefined ||
    !(end.kind === 'exited' && (end.code === 0 || meaning !== undefined));
  const { folder, jobs, variables } = readReport(end.captured);
  const kept =
    variables === undefined ? undefined : keepVariables(context.session.variables, started, variables);
  const moved = moveTo(folder, started.cwd, context);
  const notes = [
    howItEnded(end, more.timeoutMs, aborted, meaning),
    (end.leftovers || jobs) && !aborted && more.timeoutMs === undefined
      ? 'Processes that the command left running were ended. Use run_in_background for what has to go on.'
      : undefined,
    more.note,
    moved,
    kept,
    sandboxHint(context.sandbox.status, failed, text),
    setAsideNote(started.setAside),
  ].filter((each) => each !== undefined);
  const withNotes = (said: string): string => {
    const output = said.trimEnd();
    const separator = output === '' || notes.length === 0 ? '' : `${resetBehind(output)}\n\n`;
    return `${output}${separator}${notes.map((each) => `[${each}]`).join('\n')}`;
  };
  const data: BashData = {
    output: raw,
    interrupted: aborted,
    ...(end.kind === 'exited' ? { exitCode: end.code } : { signal: end.signal }),
    ...(more.timeoutMs === undefined ? {} : { timedOutAfterMs: more.timeoutMs }),
    ...(started.log === undefined ? {} : { logPath: started.log.path }),
    ...(meaning === undefined ? {} : { returnCodeInterpretation: meaning }),
    cwd: context.session.cwd,
    sandboxed: context.sandbox.status.active,
  };
  return {
    type: 'result',
    resultForAssistant: withNotes(text),
    data,
    ...(shown === undefined ? {} : { shown: withNotes(shown) }),
    isError: failed,
  };
}

function howItEnded(
  end: CommandEnd,
  timeoutMs: number | undefined,
  aborted: boolean,
  meaning: string | undefined,
): string | undefined {
  if (aborted) return 'The command was interrupted.';
  if (timeoutMs !== undefined) {
    return `The command took longer than ${timeoutMs} ms and was ended. Give a longer timeout, or use run_in_background.`;
  }
  if (end.kind === 'killed') return `The command was ended by ${end.signal}.`;
  if (end.kind === 'failed' || end.code === 0) return undefined;
  return meaning === undefined ? `Exit code ${end.code}` : `Exit code ${end.code}: ${meaning}`;
}

/** A person sees what it runs with. */
function detailOf(description: string | undefined, variables: string): { detail?: string } {
  const kept = variables === '' ? undefined : `With variables of earlier commands: ${variables.trim()}`;
  const detail = [description, kept].filter((part) => part !== undefined).join('\n');
  return detail === '' ? {} : { detail };
}

const TITLE_CHARS = 120;

function oneLine(command: string): string {
  // Of a long one only the beginning: looking for the ends of lines in all of it takes its time.
  const start = command
    .trimStart()
    .slice(0, TITLE_CHARS * 4)
    .trimEnd();
  const line = start.replace(/\s*\n\s*/g, ' ⏎ ');
  return line.length > TITLE_CHARS || command.trim().length > start.length
    ? `${line.slice(0, TITLE_CHARS - 1)}…`
    : line;
}
