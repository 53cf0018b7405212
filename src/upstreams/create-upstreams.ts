/** The upstreams of a configuration. */
import type { Config, RemoteUpstreamConfig } from '../config/schema.js';
import { estimateRequestTokens } from '../core/estimate-tokens.js';
import { DIALECTS } from '../dialects/all.js';
import { HttpClient } from '../transport/http-client/http-client.js';
import { runDemo } from './demo/index.js';
import { endpointOf } from './endpoint.js';
import { HttpUpstream, timeoutsOf } from './http-upstream.js';
import { createQuirkSource, type Lesson } from './quirks/create-quirk-source.js';
import { TokenMeter } from './token-meter.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.js';

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

export function createUpstreams(config: Config, learning: Learning = {}): Upstreams {
  const client = new HttpClient();
  const upstreams = new Map<string, Upstream>([['demo', new DemoUpstream('demo')]]);
  for (const [name, options] of Object.entries(config.upstreams)) {
    upstreams.set(
      name,
      options.dialect === 'demo' ? new DemoUpstream(name) : remote(name, options, client, learning),
    );
  }
  return { upstreams, close: () => client.close() };
}

function remote(
  name: string,
  options: RemoteUpstreamConfig,
  client: HttpClient,
  { lessons = [], onLearned }: Learning,
): HttpUpstream {
  return new HttpUpstream({
    name,
    dialect: DIALECTS[options.dialect],
    client,
    endpoint: endpointOf(options),
    quirks: createQuirkSource({
      upstream: name,
      options,
      lessons: lessons.filter(({ upstream }) => upstream === name),
      ...(onLearned === undefined ? {} : { onLearned }),
    }),
    meter: new TokenMeter(),
    timeouts: timeoutsOf(options.timeout_s * 1000),
  });
}
