/** What agents stand on besides a model: permissions and approvals, the sandbox, MCP servers, tools. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { userConfigFolder, userStateFolder } from '../config/paths.js';
import { mcpTools } from '../mcp/client/as-tool.js';
import { createLazyMcpClient } from '../mcp/client/lazy-client.js';
import type { McpClient } from '../mcp/client/mcp-client.js';
import { TOKEN_FILE_NAME } from '../mcp/client/oauth/token-file.js';
import type { Log } from '../observability/log.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import {
  type CoordinatorOptions,
  createApprovalCoordinator,
} from '../permissions/coordinator/coordinator.js';
import { createGate } from '../permissions/coordinator/create-gate.js';
import { createRulePreviews, type RulePreviews } from '../permissions/coordinator/preview.js';
import { createPolicy, type Policy } from '../permissions/judge/policy.js';
import { allowedHosts } from '../permissions/rules/sandbox-rules.js';
import { createSandbox } from '../sandbox/create-sandbox.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { Store } from '../store/store.js';
import type { ToolRuntime } from '../tools/runtime/runtime.js';
import { endOrphans } from '../workspace/process/end-processes.js';
import type { CloseStack } from './close-stack.js';
import type { LiveConfig } from './live-config.js';
import { executedPaths, openStateFolder, ownFiles } from './own-files.js';

interface AgentPartsOptions {
  live: LiveConfig;
  store: Store;
  log: Log;
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Where the browser comes back to after a sign-in to an MCP server. */
  callbackUrl?: (name: string) => string | Promise<string>;
  /** Somebody who is not connected is asked elsewhere. */
  isReachable?: CoordinatorOptions['isReachable'];
  /** Where those who watch sessions hear of it. */
  leavePlan?: (session: string) => Promise<boolean>;
}

export interface AgentParts {
  approvals: ApprovalCoordinator;
  previews: RulePreviews;
  mcp: McpClient;
  sandbox: Sandbox;
  /** A folder of the gateway's own, which no tool may touch. */
  stateDir: string;
  /** Loaded with the first use: a gateway that only relays does not pay for it. */
  tools(): Promise<ToolRuntime>;
  /** Calls `listener` whenever tools of MCP servers have come or gone. */
  onTools(listener: () => void): void;
  /** Rules and MCP servers as the configuration has them by now. Calls that are judged from then on follow them. */
  reconfigure(): Promise<void>;
}

/** Closing `stack` ends what runs: tools, servers, commands. What waits for a person stays in the store. */
export async function openAgentParts(stack: CloseStack, options: AgentPartsOptions): Promise<AgentParts> {
  const { live, store, log, version, env } = options;
  const { config, baseDir } = live.loaded;
  const { path: stateDir, release } = await openStateFolder(config.store, baseDir);
  stack.defer(release);
  const own = [...ownFiles(live.loaded, stateDir), userConfigFolder(env), userStateFolder(env)];
  const makePolicy = (): Policy =>
    createPolicy({
      config: live.config.permissions,
      home: homedir(),
      protectedPaths: own,
      executedPaths: executedPaths(live.config, baseDir),
      onWarning: (message) => log.warn({}, message),
    });
  let current = makePolicy();
  const policy: Policy = {
    decide: (...asked) => current.decide(...asked),
    tryRule: (rule) => current.tryRule(rule),
    readable: (...asked) => current.readable(...asked),
    hidden: (...asked) => current.hidden(...asked),
  };
  const approvals = createApprovalCoordinator({
    store,
    policy,
    timeoutMs: config.permissions.approval_timeout_s * 1000,
    unattended: config.permissions.unattended,
    ...(options.isReachable && { isReachable: options.isReachable }),
    log,
  });
  const gate = createGate({ policy, coordinator: approvals, store, log, leavePlan: options.leavePlan });
  const sandbox = await createSandbox({
    mode: config.sandbox,
    hidden: own,
    held: () => executedPaths(live.config, baseDir),
    hosts: () => allowedHosts(live.config.permissions),
    pending: join(stateDir, 'commands'),
    onRecovered: (files) =>
      log.warn({ files }, 'a gateway that was killed had left files that run code later'),
    env,
  });
  stack.defer(() => sandbox.close());
  const listeners = new Set<() => void>();
  const mcp = createLazyMcpClient({
    servers: config.mcp_servers,
    added: await store.mcp.servers(),
    keep: store.mcp,
    version,
    log,
    environment: env,
    baseDir,
    tokenFile: join(stateDir, TOKEN_FILE_NAME),
    onTools: () => {
      for (const listener of listeners) listener();
    },
    ...(options.callbackUrl === undefined ? {} : { callbackUrl: options.callbackUrl }),
    publicUrl: () => live.config.notify?.public_url,
  });
  stack.defer(() => mcp.close());

  let runtime: Promise<ToolRuntime> | undefined;
  const openRuntime = async (): Promise<ToolRuntime> => {
    const [{ createToolRuntime }, { createBuiltIns }, { createOwnTools }] = await Promise.all([
      import('../tools/runtime/create-runtime.js'),
      import('../tools/built-ins.js'),
      import('../tools/runtime/own-tools.js'),
      endOrphaned(log),
    ]);
    return createToolRuntime({
      sources: [
        createBuiltIns({ ...config.tools, environment: env }),
        createOwnTools({ paths: config.tools.paths, baseDir, log, redact: live.redact }),
        mcpTools(mcp),
      ],
      gate,
      sandbox,
      stateDir,
      log,
    });
  };

  stack.defer(async () => (await runtime?.catch(() => undefined))?.close());
  // What the rest aborts would else be cancelled instead of waiting for the next start.
  stack.defer(() => approvals.close());

  return {
    approvals,
    previews: createRulePreviews({ policy, store }),
    mcp,
    sandbox,
    stateDir,
    tools: () => (runtime ??= openRuntime()),
    onTools: (listener) => void listeners.add(listener),
    async reconfigure() {
      current = makePolicy();
      await mcp.configure(live.config.mcp_servers);
    },
  };
}

/** Commands and servers of a gateway that was killed must not go on beside those of this one. */
async function endOrphaned(log: Log): Promise<void> {
  try {
    const ended = await endOrphans();
    if (ended > 0) log.info({ ended }, 'ended processes of a killed gateway');
  } catch (error) {
    log.warn({ err: error }, 'processes of a killed gateway could not be ended');
  }
}
