/** A CliIo that keeps what a command printed, for tests. */
import type { Server } from 'node:net';
import { createRedactor } from '../config/redact.js';
import { environmentSecrets } from '../config/secrets.js';
import type { CliIo } from './command.js';

export interface CapturedIo extends CliIo {
  readonly lines: string[];
  readonly errors: string[];
}

export function captureIo(options: {
  cwd: string;
  env?: Record<string, string>;
  color?: boolean;
}): CapturedIo {
  const env = { HOME: options.cwd, ...options.env };
  const redact = createRedactor(environmentSecrets(env));
  const lines: string[] = [];
  const errors: string[] = [];
  return {
    lines,
    errors,
    out: (line) => lines.push(...redact(line).split('\n')),
    err: (line) => errors.push(...redact(line).split('\n')),
    outVerbatim: (line) => lines.push(line),
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
