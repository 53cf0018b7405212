/** How the gateway is set up and what it has seen of its upstreams. Nothing is called to find out. */
import type { UpstreamSeen } from '../../observability/upstream-health.js';
import { isSelected } from '../../tools/runtime/registry.js';
import type { ListedTool } from '../../tools/runtime/runtime.js';
import { seesModel } from '../access/auth.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { About, AboutUpstream, ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { ownOnly } from './request.js';
import type { StatusWire, UpstreamStatusWire } from './wire/status.js';

/** More than anyone waits for; the figure stays true up to here. */
const MOST_PENDING = 500;

export const showStatus: ConsoleApiHandler = async (exchange, context) => {
  const { about, url, metrics, keys } = context;
  const now = Date.now();
  const [tools, store, approvals] = await Promise.all([
    countTools(context),
    storeStatus(exchange, context),
    approvalStatus(exchange, context),
  ]);
  const body: StatusWire = {
    version: about.version,
    started_at: time(about.startedAt),
    uptime_s: Math.max(0, Math.round((now - about.startedAt) / 1000)),
    now: time(now),
    url,
    keys: {
      configured: !keys.isOpen,
      name: exchange.principal.name,
      scopes: [...exchange.principal.scopes],
      models: [...exchange.principal.models],
    },
    upstreams: about.upstreams.map((each) => upstreamStatus(each, metrics.upstreams.of(each.name))),
    models: { total: about.models, agents: about.agents.length },
    tools,
    mcp: countServers(context),
    store,
    sandbox: sandboxStatus(about),
    approvals,
    traces: { bodies: about.traces.bodies, max_age_s: about.traces.maxAgeS, max_mb: about.traces.maxMb },
  };
  sendJson(exchange, 200, body, NO_STORE);
};

function upstreamStatus(
  { name, dialect, host, hasKey }: AboutUpstream,
  { answeredAt, failedAt, code }: UpstreamSeen,
): UpstreamStatusWire {
  const failing = failedAt !== undefined && (answeredAt === undefined || failedAt > answeredAt);
  return {
    ...{ name, dialect, host },
    has_key: hasKey,
    last_answer_at: answeredAt === undefined ? null : time(answeredAt),
    last_failure: failedAt === undefined ? null : { at: time(failedAt), code: code ?? '' },
    state: failing ? 'failing' : answeredAt === undefined ? 'unknown' : 'ok',
  };
}

async function countTools({ tools }: ConsoleApiContext): Promise<StatusWire['tools']> {
  const listed = await tools.list();
  return { total: listed.length, enabled: listed.filter(({ enabled }) => enabled).length };
}

function countServers({ mcp }: ConsoleApiContext): StatusWire['mcp'] {
  const states: Record<string, number> = {};
  const servers = mcp.status();
  for (const { state } of servers) states[state] = (states[state] ?? 0) + 1;
  return { total: servers.length, states };
}

/** The path of the file is for the operator. */
async function storeStatus(
  { principal }: Exchange,
  { store }: ConsoleApiContext,
): Promise<StatusWire['store']> {
  const { kind, location, schemaVersion, sizeBytes } = await store.info();
  return {
    kind,
    size_bytes: sizeBytes,
    schema_version: schemaVersion,
    location: principal.scopes.includes('admin') ? location : null,
  };
}

async function approvalStatus(
  exchange: Exchange,
  { approvals, about, permissions }: ConsoleApiContext,
): Promise<StatusWire['approvals']> {
  const { items } = await approvals.list({ ...ownOnly(exchange), state: 'pending', limit: MOST_PENDING });
  const { timeoutS, unattended } = about.approvals;
  return { mode: permissions.mode, timeout_s: timeoutS, unattended, pending: items.length };
}

function sandboxStatus({ sandbox }: About): StatusWire['sandbox'] {
  const status = sandbox();
  if (status.active) return { active: true, kind: status.kind, detail: status.detail };
  const { reason, detail, advice } = status;
  return { active: false, reason, detail, advice };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

/** The tools that agents have, also those that are off, with the reason and the models that have them. */
export const listTools: ConsoleApiHandler = async (exchange, { tools, about }) => {
  const { principal } = exchange;
  const agents = about.agents.filter(({ name }) => seesModel(principal, name));
  const data = (await tools.list({ key: principal.name })).map((tool) => toolToWire(tool, agents));
  sendJson(exchange, 200, { data }, NO_STORE);
};

function toolToWire(tool: ListedTool, agents: About['agents']): object {
  return {
    name: tool.name,
    title: tool.userFacingName,
    description: tool.description,
    source: tool.source,
    server: tool.server ?? null,
    enabled: tool.enabled,
    reason: tool.reason ?? null,
    read_only: tool.readOnly ?? null,
    input_schema: tool.inputSchema,
    models: tool.enabled ? agents.filter(({ tools }) => mayHave(tool, tools)).map(({ name }) => name) : [],
  };
}

/** With `requested` a client may ask for any of them. */
function mayHave(tool: ListedTool, selection: About['agents'][number]['tools']): boolean {
  return isSelected({ tool, origin: tool.source }, selection, [tool.name]);
}
