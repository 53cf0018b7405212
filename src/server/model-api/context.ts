/** What the handlers of `/v1` work with. */
import type { AnswerMemory } from '../../answers/answer-memory.js';
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
  clock: StreamClock;
  metrics: Metrics;
  log: Log;
}

export type ModelApiHandler = Handler<ModelApiContext>;
