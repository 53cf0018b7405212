/** What a gateway with such models loads: the engine, and its processes. */
import type { Log } from '../../observability/log.js';
import type { ClaudeCodeOptions } from '../create-dispatcher.js';
import { createClaudeCodeEngine } from './claude-code-engine.js';
import { processBudget } from './processes/budget.js';
import { createClaudeProcesses } from './processes/create-claude-processes.js';

export function openClaudeCode(
  stateDir: string,
  log: Log,
  maxLive: number,
): Pick<ClaudeCodeOptions, 'create' | 'processes'> {
  const { spares } = processBudget(maxLive);
  const processes = createClaudeProcesses({
    stateDir,
    log,
    totalSpares: spares,
    ...(spares === 0 && { spares }),
  });
  return { create: createClaudeCodeEngine, processes };
}
