/** The quirks in force for a model of one upstream: standard, profile, configuration, then what was learned. */
import type { GatewayError } from '../../core/errors.js';
import type { Quirks } from '../../dialects/shared/quirks.js';

export interface QuirkSource {
  of(model: string): Quirks;
  /** True when `error` showed something new, so that the call is worth making again. */
  learn(model: string, error: GatewayError, used: Quirks): boolean;
  /** Nothing is known that a request of the upstream's own dialect would have to be changed for. */
  isPlain(model: string): boolean;
}
