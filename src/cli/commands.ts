/** Every command there is. A new one is a file that exports `command`, and a line here. */
import type { Command } from './shared/command.js';

type Loader = () => Promise<{ command: Command }>;

export const COMMANDS: Readonly<Record<string, Loader>> = {
  start: () => import('./start.js'),
  code: () => import('./code.js'),
  chat: () => import('./chat.js'),
  trace: () => import('./trace.js'),
  init: () => import('./init.js'),
  trust: () => import('./trust.js'),
  add: () => import('./add.js'),
  doctor: () => import('./doctor.js'),
};

export const DEFAULT_COMMAND = 'start';
