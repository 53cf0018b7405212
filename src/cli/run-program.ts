/** Another program in this terminal. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Resolves with its exit code; a signal is 128 plus its number, as shells say it. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: 'inherit' });
    // The terminal sends Ctrl-C to both; the program decides what it means.
    const ignore = () => {};
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGINT', ignore).on('SIGTERM', pass).on('SIGHUP', pass);
    const done = () => process.off('SIGINT', ignore).off('SIGTERM', pass).off('SIGHUP', pass);
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('exit', (exitCode, signal) => {
      done();
      resolve(exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
