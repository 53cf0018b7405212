/** A CliIo that keeps what a command printed, for tests. */
import type { Server } from 'node:net';
import { createPrinter } from '../../src/cli/main.js';
import type { CliIo } from '../../src/cli/shared/command.js';

export interface CapturedIo extends CliIo {
  readonly lines: string[];
  readonly errors: string[];
}

export function captureIo(options: {
  cwd: string;
  env?: Record<string, string>;
  color?: boolean;
  /** What the person at the terminal answers; absent: there is none. */
  answer?: string;
}): CapturedIo {
  const env = { HOME: options.cwd, ...options.env };
  const lines: string[] = [];
  const errors: string[] = [];
  const into = (list: string[]) => (text: string) => {
    list.push(...text.replace(/\n$/, '').split('\n'));
  };
  return {
    lines,
    errors,
    ...createPrinter(env, into(lines), into(errors)),
    ...(options.answer === undefined ? {} : { ask: async () => options.answer ?? '' }),
    env,
    cwd: options.cwd,
    color: options.color ?? false,
    version: '9.8.7',
    program: 'toolgate',
  };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen on a port');
  return address.port;
}
