/** What the handlers of `/v1` work with. */
import type { AnswerMemory } from '../../answers/answer-memory.js';
import type { KnownParts } from '../../dialects/shared/known-parts.js';
import type { Dispatcher } from '../../engines/engine.js';
import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics.js';
import type { TraceSampler } from '../../observability/trace-recorder.js';
import type { Limits } from '../http/limits.js';
import type { Handler } from '../http/route-table.js';
import type { StreamClock } from '../http/sse-writer.js';
import type { AnswerOnce } from './answer-once.js';

export interface ModelApiContext {
  dispatcher: Dispatcher;
  /** Answers that may be asked for again. */
  answers: AnswerMemory;
  /** Answers requests that carry an `Idempotency-Key`. */
  once: AnswerOnce;
  /** Which requests are recorded whole; undefined where none are. */
  sampler: TraceSampler | undefined;
  limits: Limits;
  /** Parts of bodies that were parsed before. */
  known: KnownParts;
  clock: StreamClock;
  metrics: Metrics;
  log: Log;
}

export type ModelApiHandler = Handler<ModelApiContext>;
