/** Starts a command for a session: in the sandbox, in the session's folder, with a clean environment. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import type { SetAside, WrappedCommand } from '../../sandbox/sandbox.js';
import { type CommandEnd, type RunningCommand, runCommand } from '../../workspace/process/run-command.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError } from '../runtime/tool.js';
import { BASH_LIMITS } from './limits.js';
import { shellScript } from './shell-script.js';
import { type StartedWith, settingVariables } from './shell-state.js';

export interface StartedCommand extends RunningCommand, StartedWith {
  readonly cwd: string;
  /** As the command's own, once the sandbox is tidied up as well. */
  readonly ended: Promise<CommandEnd>;
  /** What the command should not have made; of one in the background as far as it was found. */
  readonly setAside: readonly SetAside[];
}

/** The caller has to await `ended`, or to stop it. Throws ToolError where there must be a sandbox and is none. */
export async function startCommand(
  command: string,
  context: ToolContext,
  options: { logAlways: boolean; cwd: string },
): Promise<StartedCommand> {
  const { session, workspace, sandbox } = context;
  const { cwd } = options;
  const { variables } = context.shell;
  const folder = await session.scratch();
  const tmp = join(folder, 'tmp');
  await mkdir(tmp, { recursive: true, mode: 0o700 });
  const { script, command: long } = shellScript(command, settingVariables(variables, true));
  const wrapped = await wrap();
  try {
    const environment = { ...sandbox.environment, ...wrapped.env };
    const running = await runCommand({
      file: wrapped.file,
      args: wrapped.args,
      cwd,
      env: environment,
      folder,
      logAlways: options.logAlways,
      isolated: wrapped.isolated === true,
      ...(long === undefined ? {} : { given: long }),
    });
    const setAside: SetAside[] = [];
    const look = async (): Promise<void> => void setAside.push(...(await wrapped.look().catch(() => [])));
    const timer = options.logAlways ? setInterval(() => void look(), BASH_LIMITS.lookMs) : undefined;
    timer?.unref();
    const ended = running.ended.then(async (end) => {
      clearInterval(timer);
      setAside.push(...(await wrapped.release()));
      return end;
    });
    return {
      id: running.id,
      output: running.output,
      get log() {
        return running.log;
      },
      ended,
      cwd,
      environment,
      variables,
      setAside,
      onChange: running.onChange,
      stop: async () => {
        await running.stop();
        await ended;
      },
      kill: async () => {
        await running.kill();
        await ended;
      },
    };
  } catch (error) {
    await wrapped.release();
    throw error;
  }

  async function wrap(): Promise<WrappedCommand> {
    try {
      return await sandbox.wrap(script, {
        // Not the private folder: a link in the place of `tmp` would choose what the next command may write.
        writable: [workspace.root],
        hidden: await context.hidden(),
        hosts: [],
        cwd,
        tmp,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new ToolError(`The command was not run. ${error.message}`, { cause: error });
    }
  }
}
