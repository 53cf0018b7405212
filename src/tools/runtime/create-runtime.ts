/** Registry, scheduler, sessions and gate, put together. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { PermissionGate } from '../../permissions/gate.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { openWorkspace } from '../../workspace/workspace.js';
import { examineToolCall } from './examine.js';
import { createRegistry, type ToolSource } from './registry.js';
import { reviewToolCall } from './review.js';
import { type RuntimeLog, SILENT, type ToolRuntime } from './runtime.js';
import { runToolCalls, SCHEDULER_LIMITS, type SchedulerLimits } from './scheduler.js';
import type { Tool } from './tool.js';
import { createToolStates } from './tool-states.js';

export interface ToolRuntimeOptions {
  sources: readonly ToolSource[];
  gate: PermissionGate;
  /** The caller closes it, after the runtime. */
  sandbox: Sandbox;
  /** A folder of the gateway alone: memories and private files of sessions are kept in it. */
  stateDir: string;
  log?: RuntimeLog;
  limits?: Partial<SchedulerLimits>;
}

export function createToolRuntime(options: ToolRuntimeOptions): ToolRuntime {
  const { sources, gate, sandbox, stateDir, log = SILENT } = options;
  const registry = createRegistry({ sources, log });
  const states = createToolStates(stateDir);
  const closing = new AbortController();
  // Every run listens to it.
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<void>>();
  const onRun = (done: Promise<void>): void => {
    running.add(done);
    void done.finally(() => running.delete(done));
  };
  const limits = { ...SCHEDULER_LIMITS, ...options.limits };
  return {
    gate,
    offer: (request) => registry.offer(request),
    list: (asker) => registry.list(asker),
    openToolState: (wanted) =>
      states.open(wanted, async (id) => {
        await Promise.all(sources.map((source) => source.closeSession?.(id)));
      }),
    run: (request) => runToolCalls({ gate, sandbox, log, limits, closing: closing.signal, onRun }, request),
    review(request) {
      const reviewing = reviewToolCall(
        { gate, sandbox, find: (name) => registry.builtIn(name), limits, closing: closing.signal },
        request,
      );
      onRun(
        reviewing.then(
          () => {},
          () => {},
        ),
      );
      return reviewing;
    },
    async examine(request) {
      const { principal, root, session: id = '' } = request;
      // Under a name of its own: closing it ends nothing that is kept for the real one.
      const opened = await states.open({
        id: `examined-${randomUUID()}`,
        principal,
        workspace: openWorkspace(root),
      });
      const find = async (name: string): Promise<Tool | undefined> => {
        const offer = await registry.offer({ selection: 'all', requested: [], session: id, key: principal });
        return offer.find(name) ?? registry.builtIn(name);
      };
      try {
        return await examineToolCall({ gate, sandbox, limits, find, toolState: { ...opened, id } }, request);
      } finally {
        await opened.close();
      }
    },
    async close() {
      closing.abort();
      await Promise.all(running);
      await states.close();
    },
  };
}
