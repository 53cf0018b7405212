/** The upstreams of a configuration. */
import { hash } from 'node:crypto';
import type { Config, RemoteUpstreamConfig } from '../config/schema.js';
import type { GatewayError } from '../core/errors.js';
import { estimateRequestTokens } from '../core/estimate-tokens.js';
import { DIALECTS } from '../dialects/all.js';
import { HttpClient } from '../transport/http-client/http-client.js';
import { runDemo } from './demo/index.js';
import { endpointOf, targetsOf } from './endpoint.js';
import { HttpUpstream, timeoutsOf } from './http-upstream.js';
import { PoolStates } from './pool/pool-states.js';
import { createQuirkSource, type Lesson } from './quirks/create-quirk-source.js';
import { TokenMeter } from './token-meter.js';
import { ToolExtensionCache } from './tool-extension-cache.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.js';
import { type PoolTarget, type TargetMove, UpstreamPool } from './upstream-pool.js';

/** The embedded, rule-based model: there without any key, honest about what it is. */
class DemoUpstream implements Upstream {
  readonly name: string;
  readonly dialect = undefined;

  constructor(name: string) {
    this.name = name;
  }

  async call({ request, signal }: UpstreamRequest): Promise<UpstreamAnswer> {
    return { losses: [], batches: runDemo(request, signal) };
  }

  async countTokens({ request }: UpstreamRequest): Promise<number> {
    return estimateRequestTokens(request);
  }
}

interface Upstreams {
  upstreams: ReadonlyMap<string, Upstream>;
  close(): Promise<void>;
}

interface Learning {
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
}

interface PoolOptions {
  /** What is known of targets from the configuration before. */
  pools?: PoolStates;
  /** Called with each try at a target of a pool that failed. */
  onUpstreamFailure?: (target: string, error: GatewayError) => void;
  onMove?: (move: TargetMove) => void;
}

/** The caller closes `client`, where it gives one. A target of a pool is there by its own name as well. */
export function createUpstreams(
  config: Config,
  options: Learning & PoolOptions = {},
  client = new HttpClient(),
): Upstreams {
  const upstreams = new Map<string, Upstream>([['demo', new DemoUpstream('demo')]]);
  const { pools = new PoolStates() } = options;
  const pooled = new Set<string>();
  for (const [name, upstream] of Object.entries(config.upstreams)) {
    if (upstream.dialect === 'demo') {
      upstreams.set(name, new DemoUpstream(name));
      continue;
    }
    const targets = remoteTargets(name, upstream, client, options);
    for (const target of targets) upstreams.set(target.upstream.name, target.upstream);
    if (upstream.targets === undefined) continue;
    pooled.add(name);
    upstreams.set(name, poolOf(name, targets, pools, options));
  }
  pools.keep(pooled);
  return { upstreams, close: () => client.close() };
}

function poolOf(
  name: string,
  targets: readonly Omit<PoolTarget, 'state'>[],
  pools: PoolStates,
  { onUpstreamFailure, onMove }: PoolOptions,
): UpstreamPool {
  const known = pools.open(
    name,
    targets.map(({ id }) => id),
  );
  const [first, ...others] = targets.flatMap((target, index) => {
    const state = known.targets[index];
    return state === undefined ? [] : [{ ...target, state }];
  });
  if (first === undefined) throw new Error(`The upstream ${name} has no target.`);
  const { homes } = known;
  return new UpstreamPool({ name, targets: [first, ...others], homes, onFailure: onUpstreamFailure, onMove });
}

/** They share what is known of the upstream: its quirks, how it counts, what its tool calls carried. */
function remoteTargets(
  name: string,
  upstream: RemoteUpstreamConfig,
  client: HttpClient,
  { lessons = [], onLearned }: Learning,
): Omit<PoolTarget, 'state'>[] {
  const shared = {
    dialect: DIALECTS[upstream.dialect],
    client,
    quirks: createQuirkSource({
      upstream: name,
      options: upstream,
      lessons: lessons.filter((lesson) => lesson.upstream === name),
      ...(onLearned === undefined ? {} : { onLearned }),
    }),
    meter: new TokenMeter(),
    extensions: new ToolExtensionCache(),
    timeouts: timeoutsOf(upstream.timeout_s * 1000),
    region: upstream.region,
  };
  return targetsOf(name, upstream).map(({ name: target, weight, options }) => ({
    id: targetId(options),
    upstream: new HttpUpstream({ ...shared, name: target, endpoint: endpointOf(options) }),
    weight,
  }));
}

/** The same as long as address and credential are, whatever it is called. */
function targetId({ base_url, api_key = '', headers = {} }: RemoteUpstreamConfig): string {
  return hash('sha256', JSON.stringify([base_url, api_key, headers]), 'base64url');
}
