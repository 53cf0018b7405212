/** What the server says about the gateway around it: facts of the configuration, without secrets. */
import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { ToolSelection } from '../../tools/runtime/runtime.js';
import type { StatusWire } from './wire/status.js';

export interface About {
  version: string;
  startedAt: number;
  keysConfigured: boolean;
  upstreams: readonly AboutUpstream[];
  models: number;
  /** Models with tools, and which. */
  agents: readonly { name: string; tools: ToolSelection }[];
  sandbox(): StatusWire['sandbox'];
  approvals: { timeoutS: number; unattended: 'deny' | 'wait' };
  traces: { bodies: boolean; maxAgeS: number; maxMb: number };
}

export interface AboutUpstream {
  name: string;
  dialect: string;
  host: string | null;
  hasKey: boolean;
}

export function aboutGateway(
  { config }: Pick<LoadedConfig, 'config'>,
  { version, sandbox }: Pick<About, 'version' | 'sandbox'>,
): About {
  const { permissions, traces } = config;
  return {
    version,
    startedAt: Date.now(),
    keysConfigured: config.server.keys.length > 0,
    upstreams: Object.entries(config.upstreams).map(aboutUpstream),
    models: Object.keys(config.models).length,
    agents: Object.entries(config.models).flatMap(([name, model]) =>
      model.engine === 'relay' ? [] : [{ name, tools: model.tools }],
    ),
    sandbox,
    approvals: { timeoutS: permissions.approval_timeout_s, unattended: permissions.unattended },
    traces: { bodies: traces.bodies, maxAgeS: traces.max_age_s, maxMb: traces.max_mb },
  };
}

function aboutUpstream([name, upstream]: [string, Config['upstreams'][string]]): AboutUpstream {
  const hasAddress = 'base_url' in upstream;
  return {
    name,
    dialect: upstream.dialect,
    host: hasAddress && typeof upstream.base_url === 'string' ? hostOf(upstream.base_url) : null,
    hasKey: 'api_key' in upstream && upstream.api_key !== undefined,
  };
}

/** With the port, and without what may stand in front of it. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
