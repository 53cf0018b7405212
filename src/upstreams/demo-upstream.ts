import { estimateRequestTokens } from '../core/estimate-tokens.js';
import { runDemo } from './demo/index.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.js';

/** The embedded, rule-based model: there without any key, honest about what it is. */
export class DemoUpstream implements Upstream {
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
