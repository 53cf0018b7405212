/** The tools as the gateway has them: built-ins, rules, coordinator and a store, put together on a folder. */
import { join } from 'node:path';
import { type Config, configSchema } from '../../src/config/schema.js';
import type { ApprovalCoordinator } from '../../src/permissions/approvals.js';
import { createApprovalCoordinator } from '../../src/permissions/coordinator/coordinator.js';
import { createGate } from '../../src/permissions/coordinator/create-gate.js';
import { createPolicy } from '../../src/permissions/judge/policy.js';
import { openStore } from '../../src/store/open/open-store.js';
import { createBuiltIns } from '../../src/tools/built-ins.js';
import { createToolRuntime } from '../../src/tools/runtime/create-runtime.js';
import type { ToolSource } from '../../src/tools/runtime/registry.js';
import { SILENT, type ToolRuntime } from '../../src/tools/runtime/runtime.js';
import { SANDBOX_OFF } from './tool-context.js';

export interface ToolWorldOptions {
  /** The gateway's own files are in `state` below it. */
  base: string;
  home: string;
  permissions?: Config['permissions'];
  tools?: Config['tools'];
  /** Beside the built-ins. */
  sources?: readonly ToolSource[];
}

export interface ToolWorld {
  runtime: ToolRuntime;
  coordinator: ApprovalCoordinator;
  close(): Promise<void>;
}

/** Without permissions everything is allowed. The caller closes it. */
export async function openToolWorld(options: ToolWorldOptions): Promise<ToolWorld> {
  const { base, home, sources = [] } = options;
  const permissions = options.permissions ?? configSchema.shape.permissions.parse({ mode: 'allow' });
  const tools = options.tools ?? configSchema.shape.tools.parse({});
  const stateDir = join(base, 'state');
  const store = await openStore('sqlite::memory:', { baseDir: base });
  const policy = createPolicy({ config: permissions, home, protectedPaths: [stateDir] });
  const coordinator = createApprovalCoordinator({
    store,
    policy,
    timeoutMs: permissions.approval_timeout_s * 1000,
    unattended: permissions.unattended,
    log: SILENT,
  });
  const runtime = createToolRuntime({
    sources: [createBuiltIns(tools), ...sources],
    gate: createGate({ policy, coordinator, store, log: SILENT }),
    sandbox: SANDBOX_OFF,
    stateDir,
  });
  return {
    runtime,
    coordinator,
    async close() {
      // First: an abort would withdraw what waits for a person.
      await coordinator.close();
      await runtime.close();
      await store.close();
    },
  };
}
