/** What the primary and its workers say to each other, over the channel that only they have. */
import type { LoadedConfig } from '../../config/load.js';
import type { Overrides } from '../../config/parse.js';
import type { WorkerRole } from '../worker-role.js';

/** All that a worker is opened with. The file is not read again: all workers have the same. */
export interface WorkerSetup {
  loaded: Omit<LoadedConfig, 'locate'>;
  overrides: Overrides;
  role: WorkerRole;
  logLevel: string;
  version: string;
  /** This worker replaces another: the file may have been loaded again since. */
  isReplacement: boolean;
}

export type ToWorker =
  | { type: 'open'; setup: WorkerSetup }
  /** With the socket, which is undefined where the client was quicker. */
  | { type: 'connection'; id: number }
  | { type: 'figures'; id: number }
  /** Those of all, which the worker asked for. */
  | { type: 'all-figures'; id: number; text: string }
  | { type: 'reload'; by: string }
  | { type: 'stop' };

export type FromWorker =
  /** Give me my setup. */
  | { type: 'up' }
  | { type: 'listening'; url: string; consoleUrl: string }
  /** The worker cannot open: the text for a person, and the exit code. */
  | { type: 'failed'; message: string; code: number }
  | { type: 'taken'; id: number }
  /** The worker has loaded the file again: replacements begin with this configuration. */
  | { type: 'configured'; loaded: WorkerSetup['loaded'] }
  /** One of the connections that it was given has ended. */
  | { type: 'closed' }
  | { type: 'figures'; id: number; text: string }
  | { type: 'ask-figures'; id: number };

/** In the environment of a worker: the id of its primary. A process with another parent that inherits it is no worker. */
export const WORKER_MARK = 'TOOLGATE_WORKER_OF';
