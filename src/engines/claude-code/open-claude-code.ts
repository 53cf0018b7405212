/** What a gateway with such models loads: the engine, and its processes. */
import type { Log } from '../../observability/log.js';
import type { ClaudeCodeOptions } from '../create-dispatcher.js';
import { createClaudeCodeEngine } from './claude-code-engine.js';
import { createClaudeProcesses } from './processes/create-claude-processes.js';

export function openClaudeCode(stateDir: string, log: Log): Pick<ClaudeCodeOptions, 'create' | 'processes'> {
  return { create: createClaudeCodeEngine, processes: createClaudeProcesses({ stateDir, log }) };
}
