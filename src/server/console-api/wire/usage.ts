/** `GET /api/usage`: what was used, summed up. Types alone: the console imports them too. */
import type { Time, TokenCounts } from '../../../activity/wire.js';
import type { Histogram } from '../../../core/histogram.js';

export interface UsageWire {
  from: Time;
  to: Time;
  /** The day of the list prices by which models are counted that have no price of their own, `YYYY-MM-DD`. */
  list_prices_date: string;
  /** Of all pages; null where nothing was used. */
  total: UsageTotalsWire | null;
  /** The newest day or hour first, then by `sort`. */
  data: UsageRowWire[];
  /** The `cursor` of the next page, null at the end. */
  next: string | null;
}

export interface UsageTotalsWire extends TokenCounts {
  requests: number;
  errors: number;
  reasoning_tokens: number;
  /** Of the requests with a known price; null where there is none. */
  cost_usd: number | null;
  unpriced_requests: number;
}

export interface UsageRowWire extends UsageTotalsWire {
  /** Those of these that `by` names; a day is `YYYY-MM-DD`, an hour `YYYY-MM-DDTHH`. */
  model?: string;
  key?: string;
  /** Empty: of keys without one. */
  team?: string;
  upstream?: string;
  session?: string;
  day?: string;
  hour?: string;
  /** With `top`: everything that is not among the most used. */
  others?: true;
  /** Of all requests, those with an error too. */
  mean_latency_ms: number;
  p50_latency_ms: number | null;
  p95_latency_ms: number | null;
  max_latency_ms: number;
  /** Of the requests that streamed; null where none did. */
  mean_first_token_ms: number | null;
  p50_first_token_ms: number | null;
  p95_first_token_ms: number | null;
  /** With `histograms=1`, for a reader that adds rows up. */
  latency_histogram?: Histogram;
  first_token_histogram?: Histogram;
}
