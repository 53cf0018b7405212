/** The upstreams of a configuration. */
import type { Config, RemoteUpstreamConfig } from '../config/schema.js';
import { DIALECTS } from '../dialects/all.js';
import { HttpClient } from '../transport/http-client/index.js';
import { DemoUpstream } from './demo-upstream.js';
import { DEFAULT_TIMEOUTS, HttpUpstream } from './http-upstream.js';
import { createQuirkSource, type Lesson } from './quirks/create-quirk-source.js';
import { TokenMeter } from './token-meter.js';
import type { Upstream } from './upstream.js';

export interface Upstreams {
  upstreams: ReadonlyMap<string, Upstream>;
  close(): Promise<void>;
}

export interface Learning {
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
  const dialect = DIALECTS[options.dialect];
  if (dialect === undefined) throw new Error(`The dialect ${options.dialect} is not built.`);
  const silenceMs = options.timeout_s * 1000;
  return new HttpUpstream({
    name,
    dialect,
    client,
    endpoint: {
      baseUrl: options.base_url,
      ...(options.api_key === undefined ? {} : { apiKey: options.api_key }),
      ...(options.headers === undefined ? {} : { headers: options.headers }),
    },
    quirks: createQuirkSource({
      upstream: name,
      options,
      lessons: lessons.filter(({ upstream }) => upstream === name),
      ...(onLearned === undefined ? {} : { onLearned }),
    }),
    meter: new TokenMeter(),
    timeouts: { ...DEFAULT_TIMEOUTS, headersMs: silenceMs, idleMs: silenceMs },
  });
}
