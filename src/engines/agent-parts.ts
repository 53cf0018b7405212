/** What agents stand on besides a model: permissions and approvals, the sandbox, MCP servers, tools. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import { createRedactor } from '../config/redact.js';
import { userConfigFolder, userStateFolder } from '../config/user-folders.js';
import { mcpTools } from '../mcp/client/as-tool.js';
import { createLazyMcpClient } from '../mcp/client/lazy-client.js';
import type { McpClient } from '../mcp/client/mcp-client.js';
import { TOKEN_FILE_NAME } from '../mcp/client/oauth/token-file.js';
import type { Log } from '../observability/log.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import { createApprovalCoordinator } from '../permissions/coordinator/coordinator.js';
import { createGate } from '../permissions/coordinator/create-gate.js';
import { createRulePreviews, type RulePreviews } from '../permissions/coordinator/preview.js';
import { createPolicy } from '../permissions/judge/policy.js';
import { allowedHosts } from '../permissions/rules/allowed-hosts.js';
import { createSandbox } from '../sandbox/create-sandbox.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { parseStoreUrl } from '../store/sqlite/open.js';
import type { Store } from '../store/store.js';
import type { ToolRuntime } from '../tools/runtime/runtime.js';
import { endOrphans } from '../workspace/process/orphans.js';
import { executedPaths } from './executed-paths.js';

export interface AgentPartsOptions {
  loaded: LoadedConfig;
  store: Store;
  log: Log;
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Where the browser comes back to after a sign-in to an MCP server. */
  callbackUrl?: (name: string) => string | Promise<string>;
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
  /** Told whenever tools of MCP servers have come or gone, until the returned function is called. */
  onTools(listener: () => void): () => void;
  /** Ends what runs: tools, servers, commands. What waits for a person stays in the store. */
  close(): Promise<void>;
}

export async function openAgentParts(options: AgentPartsOptions): Promise<AgentParts> {
  const { loaded, store, log, version, env } = options;
  const { config, baseDir } = loaded;
  const state = await openStateFolder(config.store, baseDir);
  const own = [...ownFiles(loaded, state.path), userConfigFolder(env), userStateFolder(env)];
  const executed = executedPaths(config, baseDir);
  const policy = createPolicy({
    config: config.permissions,
    home: homedir(),
    protectedPaths: own,
    executedPaths: executed,
    onWarning: (message) => log.warn({}, message),
  });
  const approvals = createApprovalCoordinator({
    store,
    policy,
    timeoutMs: config.permissions.approval_timeout_s * 1000,
    unattended: config.permissions.unattended,
    log,
  });
  const gate = createGate({ policy, coordinator: approvals, store, log });
  const sandbox = await createSandbox({
    mode: config.sandbox,
    hidden: own,
    held: executed,
    hosts: allowedHosts(config.permissions),
    pending: join(state.path, 'commands'),
    onRecovered: (files) =>
      log.warn({ files }, 'a gateway that was killed had left files that run code later'),
    env,
  });
  const listeners = new Set<() => void>();
  const mcp = createLazyMcpClient({
    servers: config.mcp_servers,
    version,
    log,
    environment: env,
    baseDir,
    tokenFile: join(state.path, TOKEN_FILE_NAME),
    onTools: () => {
      for (const listener of listeners) listener();
    },
    ...(options.callbackUrl === undefined ? {} : { callbackUrl: options.callbackUrl }),
  });

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
        createOwnTools({ paths: config.tools.paths, baseDir, log, redact: createRedactor(loaded.secrets) }),
        mcpTools(mcp),
      ],
      gate,
      sandbox,
      stateDir: state.path,
      log,
    });
  };

  return {
    approvals,
    previews: createRulePreviews({ policy, store }),
    mcp,
    sandbox,
    stateDir: state.path,
    tools: () => (runtime ??= openRuntime()),
    onTools(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      // First: what the rest aborts would else be cancelled instead of waiting for the next start.
      await approvals.close();
      await (await runtime?.catch(() => undefined))?.close();
      await mcp.close();
      await sandbox.close();
      await state.release();
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

/** Beside the store, under its name: what it holds belongs to the same gateway. */
async function openStateFolder(
  url: string,
  baseDir: string,
): Promise<{ path: string; release(): Promise<void> }> {
  const location = parseStoreUrl(url, baseDir);
  if (location.kind === 'file') return { path: `${location.path}-files`, release: async () => {} };
  const path = await mkdtemp(join(tmpdir(), 'toolgate-'));
  return { path, release: () => rm(path, { recursive: true, force: true }) };
}

/** Denied to every tool and hidden from every command, whatever the rules say. */
function ownFiles({ config, file, baseDir }: LoadedConfig, stateDir: string): string[] {
  const location = parseStoreUrl(config.store, baseDir);
  const store =
    location.kind === 'file' ? ['', '-wal', '-shm', '-journal'].map((end) => `${location.path}${end}`) : [];
  return [...(file === undefined ? [] : [file]), ...store, stateDir];
}
