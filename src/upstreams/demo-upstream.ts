import { estimateRequestTokens } from '../core/estimate-tokens.js';
import { runDemo } from './demo/index.js';
import type { ModelAnswer, ModelCall, Upstream } from './upstream.js';

/** The embedded, rule-based model: there without any key, honest about what it is. */
export class DemoUpstream implements Upstream {
  readonly name: string;
  readonly wire = undefined;

  constructor(name: string) {
    this.name = name;
  }

  async call({ request, signal }: ModelCall): Promise<ModelAnswer> {
    return { losses: [], batches: runDemo(request, signal) };
  }

  async countTokens({ request }: ModelCall): Promise<number> {
    return estimateRequestTokens(request);
  }
}
