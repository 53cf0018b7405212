/** The gateway's metrics, in the text format of Prometheus. */
import type { Usage } from '../core/conversation.js';
import type { ErrorCode } from '../core/errors.js';
import type { Loss } from '../core/losses.js';
import { BoundedLabel, Counter, Gauge, Histogram, renderSeries, type SeriesData } from './series.js';
import { UpstreamHealth } from './upstream-health.js';

/** Seconds. An answer of an agent may take minutes. */
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const FIRST_TOKEN_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Names of models come from clients. */
const MODEL_LIMIT = 100;
/** Teams come from whoever makes keys. */
const TEAM_LIMIT = 200;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** One finished request, as the log line has it too. */
export interface RequestFacts {
  /** The pattern of the route, never the path itself. */
  route: string;
  method: string;
  status: number;
  seconds: number;
  model?: string | undefined;
  upstream?: string | undefined;
  team?: string | undefined;
  /** Undefined where the model has no price. */
  costUsd?: number | undefined;
  firstTokenSeconds?: number | undefined;
  usage?: Usage | undefined;
  losses: readonly Loss[];
  repairs: ReadonlyMap<string, number>;
  errorCode?: ErrorCode | undefined;
}

export class Metrics {
  readonly upstreams = new UpstreamHealth();
  readonly #models = new BoundedLabel(MODEL_LIMIT);
  readonly #teams = new BoundedLabel(TEAM_LIMIT);
  readonly #requests = new Counter('toolgate_requests_total', 'Requests answered.', [
    'route',
    'method',
    'status',
    'model',
  ]);
  readonly #durations = new Histogram(
    'toolgate_request_duration_seconds',
    'Time from the request to the end of its answer.',
    ['route'],
    DURATION_BOUNDS,
  );
  readonly #firstTokens = new Histogram(
    'toolgate_first_token_seconds',
    'Time from the request to the first piece of a streamed answer.',
    ['route'],
    FIRST_TOKEN_BOUNDS,
  );
  readonly #tokens = new Counter('toolgate_tokens_total', 'Tokens of answered requests.', ['model', 'kind']);
  readonly #losses = new Counter('toolgate_losses_total', 'Parts that the other side could not carry.', [
    'part',
  ]);
  readonly #repairs = new Counter('toolgate_stream_repairs_total', 'What was mended in upstream streams.', [
    'kind',
  ]);
  readonly #upstreamErrors = new Counter(
    'toolgate_upstream_errors_total',
    'Tries at an upstream that failed.',
    ['upstream', 'code'],
  );
  readonly #upstreamRequests = new Counter(
    'toolgate_upstream_requests_total',
    'Requests that an upstream answered, to the end or not.',
    ['upstream', 'status'],
  );
  readonly #upstreamDurations = new Histogram(
    'toolgate_upstream_duration_seconds',
    'Time of requests that the upstream answered, to the end of the answer.',
    ['upstream'],
    DURATION_BOUNDS,
  );
  readonly #teamRequests = new Counter('toolgate_team_requests_total', 'Requests of the keys of a team.', [
    'team',
    'status',
  ]);
  readonly #teamTokens = new Counter('toolgate_team_tokens_total', 'Tokens of the keys of a team.', [
    'team',
    'kind',
  ]);
  readonly #teamCost = new Counter(
    'toolgate_team_cost_usd_total',
    'Cost in US dollars of the keys of a team, as far as models have a price.',
    ['team'],
  );
  readonly #errors = new Counter('toolgate_errors_total', 'Requests that failed.', ['route', 'code']);
  readonly #pruned = new Counter(
    'toolgate_pruned_rows_total',
    'Rows that the store deleted, by area; evicted: sessions ended before their time.',
    ['area'],
  );
  readonly #pruneFailures = new Counter(
    'toolgate_prune_failures_total',
    'Times the store could not be pruned.',
    [],
  );
  readonly #pruneDurations = new Histogram(
    'toolgate_prune_duration_seconds',
    'Time that pruning the store took.',
    [],
    DURATION_BOUNDS,
  );
  readonly #retries = new Counter(
    'toolgate_upstream_retries_total',
    'Tries at an upstream that were repeats.',
    ['upstream'],
  );
  readonly #refusals = new Counter(
    'toolgate_breaker_refusals_total',
    'Requests that an upstream was not asked for, because it is down.',
    ['upstream'],
  );
  readonly #telemetryLost = new Counter(
    'toolgate_telemetry_dropped_total',
    "Spans and exports of metrics that the collector did not get, of the gateway's own telemetry.",
    ['signal'],
  );
  readonly #moves = new Counter(
    'toolgate_target_moves_total',
    'Conversations that went on at another target, by the one that they left.',
    ['upstream'],
  );
  readonly openStreams = new Gauge('toolgate_open_streams', 'Streamed answers that are running.');
  readonly openRequests = new Gauge('toolgate_open_requests', 'Requests that are not yet answered.');

  record(facts: RequestFacts): void {
    const { route, usage } = facts;
    // Only a model that answered gets a label of its own: names that nothing routes are anybody's invention.
    if (facts.model !== undefined && facts.status < 400) this.#models.admit(facts.model);
    const model = this.#models.of(facts.model);
    const method = METHODS.has(facts.method) ? facts.method : 'other';
    this.#requests.add(1, route, method, String(facts.status), model);
    this.#durations.observe(facts.seconds, route);
    if (facts.firstTokenSeconds !== undefined) this.#firstTokens.observe(facts.firstTokenSeconds, route);
    if (usage !== undefined) this.#countTokens(model, usage);
    if (facts.team !== undefined) this.#countTeam(facts.team, facts);
    if (facts.upstream !== undefined) {
      this.#upstreamRequests.add(1, facts.upstream, String(facts.status));
      this.#upstreamDurations.observe(facts.seconds, facts.upstream);
    }
    for (const loss of facts.losses) this.#losses.add(1, partOf(loss.path));
    for (const [kind, count] of facts.repairs) this.#repairs.add(count, kind);
    if (facts.errorCode === undefined) {
      if (facts.upstream !== undefined && facts.status < 400) this.upstreams.answered(facts.upstream);
      return;
    }
    this.#errors.add(1, route, facts.errorCode);
    // Somebody had begun to answer: the stream broke, unless the client did.
    if (facts.upstream !== undefined && facts.errorCode !== 'client_closed') {
      this.upstreamFailed(facts.upstream, facts.errorCode);
    }
  }

  /** One try at an upstream, before any answer; another may have answered then. */
  upstreamFailed(upstream: string, code: ErrorCode): void {
    this.#upstreamErrors.add(1, upstream, code);
    this.upstreams.failed(upstream, code);
  }

  pruneTook(seconds: number): void {
    this.#pruneDurations.observe(seconds);
  }

  pruned(area: string, rows: number): void {
    this.#pruned.add(rows, area);
  }

  pruneFailed(): void {
    this.#pruneFailures.add(1);
  }

  telemetryDropped(signal: 'traces' | 'metrics', count: number): void {
    this.#telemetryLost.add(count, signal);
  }

  upstreamRetried(upstream: string): void {
    this.#retries.add(1, upstream);
  }

  /** The circuit breaker of the upstream is open for the key that asks. */
  upstreamRefused(upstream: string): void {
    this.#refusals.add(1, upstream);
    this.upstreams.refused(upstream);
  }

  targetLeft(target: string): void {
    this.#moves.add(1, target);
  }

  /** The Prometheus text format, the process's own figures included. */
  async render(): Promise<string> {
    const { renderProcessMetrics } = await import('./process-metrics.js');
    const own = this.#all().map((metric) => metric.render());
    const seen = this.upstreams.collect().map(renderSeries);
    return `${[...own, ...seen].join('\n')}\n${await renderProcessMetrics()}`;
  }

  /** The gateway's own figures. */
  collect(): SeriesData[] {
    return [...this.#all().map((metric) => metric.collect()), ...this.upstreams.collect()];
  }

  #all() {
    return [
      this.#requests,
      this.#durations,
      this.#firstTokens,
      this.#tokens,
      this.#losses,
      this.#repairs,
      this.#upstreamErrors,
      this.#upstreamRequests,
      this.#upstreamDurations,
      this.#teamRequests,
      this.#teamTokens,
      this.#teamCost,
      this.#errors,
      this.#pruned,
      this.#pruneFailures,
      this.#pruneDurations,
      this.#retries,
      this.#refusals,
      this.#telemetryLost,
      this.#moves,
      this.openStreams,
      this.openRequests,
    ];
  }

  #countTeam(name: string, { status, usage, costUsd }: RequestFacts): void {
    this.#teams.admit(name);
    const team = this.#teams.of(name);
    this.#teamRequests.add(1, team, String(status));
    if (usage !== undefined) {
      this.#teamTokens.add(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens, team, 'input');
      this.#teamTokens.add(usage.outputTokens, team, 'output');
    }
    if (costUsd !== undefined) this.#teamCost.add(costUsd, team);
  }

  #countTokens(model: string, usage: Usage): void {
    this.#tokens.add(usage.inputTokens, model, 'input');
    this.#tokens.add(usage.outputTokens, model, 'output');
    if (usage.cacheReadTokens > 0) this.#tokens.add(usage.cacheReadTokens, model, 'cache_read');
    if (usage.cacheWriteTokens > 0) this.#tokens.add(usage.cacheWriteTokens, model, 'cache_write');
  }
}

/** `messages` of `messages.3.content.0`: what follows may hold names that clients chose. */
function partOf(path: string): string {
  return /^[a-zA-Z_]{1,32}/.exec(path)?.[0] ?? 'other';
}
