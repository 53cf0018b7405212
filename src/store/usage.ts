/** One row a request, buffered; summed up for charts. */
import type { Usage } from '../core/conversation.js';
import type { Histogram } from '../core/histogram.js';

export interface UsageRecord extends Usage {
  at: number;
  /** The key's name. */
  principal: string;
  /** That the key belonged to when it asked. */
  team?: string;
  model: string;
  upstream: string;
  session?: string;
  status: number;
  latencyMs: number;
  firstTokenMs?: number;
  /** Absent where the price is unknown, which is not the same as nothing. */
  costUsd?: number;
}

export type UsageDimension = 'model' | 'principal' | 'team' | 'upstream' | 'session' | 'day' | 'hour';

export interface UsageQuery {
  from: number;
  /** Exclusive. */
  to: number;
  by: readonly UsageDimension[];
  principal?: string;
  session?: string;
  /** Of these sessions alone. */
  sessions?: readonly string[];
  /** Where a day and an hour begin; minutes east of UTC. */
  utcOffsetMinutes?: number;
  /** Counts how long requests took as well; without it the histograms are empty. */
  histograms?: boolean;
}

export interface UsageSum extends Required<Omit<Usage, 'webSearches' | 'webFetches'>> {
  /** The dimensions asked for; `day` is `YYYY-MM-DD`, `hour` is `YYYY-MM-DDTHH`, `session` and `team` empty where there was none. */
  group: { [D in UsageDimension]?: string };
  requests: number;
  /** Answered with 400 or more; not those that their reader stopped or left (499). */
  errors: number;
  /** Of the requests with a known price. */
  costUsd: number;
  unpriced: number;
  /** Of all requests, those with an error too: what a client waited for. */
  meanLatencyMs: number;
  maxLatencyMs: number;
  latencies: Histogram;
  /** In how many of them the model said something before the end. */
  streamed: number;
  /** Of the requests that streamed; absent where none did. */
  meanFirstTokenMs?: number;
  /** Of the requests that streamed. */
  firstTokens: Histogram;
}

export interface UsageStore {
  /** Never throws and never waits. */
  record(row: UsageRecord): void;
  /** Ordered by the dimensions asked for. */
  summarise(query: UsageQuery): Promise<UsageSum[]>;
}
