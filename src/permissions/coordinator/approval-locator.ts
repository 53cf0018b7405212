/**
 * Finds the row of a call that is asked. The newest question about it counts, if it is about the
 * same thing and was not used yet: while pending it is awaited again, once decided the decision holds.
 */
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import type { GatedToolCall } from '../gate.js';
import type { ApprovalState } from './approval-state.js';
import { isByRule } from './conclude.js';
import { approvalId, digestOfToolCall } from './identity.js';

const MAX_VERSIONS = 10_000;

export interface Located {
  /** Which question about this call the next one would be. */
  version: number;
  /** The row that stands for the call. */
  reuse?: Approval;
  /** Still waits, but about something that has changed since. */
  outdated?: Approval;
  /** It was allowed and begun, and what became of it is not known. */
  mayHaveRun: boolean;
}

export class ApprovalLocator {
  readonly #state: ApprovalState;
  /** Where to begin to look, for upstreams that use one id over and over. */
  readonly #versions = new Map<string, number>();

  constructor(approvalState: ApprovalState) {
    this.#state = approvalState;
  }

  async locate(call: GatedToolCall, digest: string): Promise<Located> {
    const { last, version } = await this.#newest(call, this.#state.approvals);
    if (last === undefined) return { version, mayHaveRun: false };
    const known = this.#state.delivered.has(last.id);
    if (last.digest !== digest) {
      const waits = last.state === 'pending' && this.#state.waiting.countInTurn(last.id) === 0;
      return { version, mayHaveRun: false, ...(waits ? { outdated: last } : {}) };
    }
    if (last.state === 'cancelled' || known) return { version, mayHaveRun: false };
    if (last.usedAt !== undefined) return { version, mayHaveRun: true };
    return { version, reuse: last, mayHaveRun: false };
  }

  /** By a person, about what it would do now. */
  async isAnswered(call: GatedToolCall): Promise<boolean> {
    const { reuse } = await this.locate(call, digestOfToolCall(call));
    return (reuse?.state === 'allowed' || reuse?.state === 'denied') && !isByRule(reuse);
  }

  async #newest(
    call: GatedToolCall,
    approvals: ApprovalStore,
  ): Promise<{ last: Approval | undefined; version: number }> {
    const first = approvalId(call, 0);
    let version = this.#versions.get(first) ?? 0;
    let last: Approval | undefined;
    for (;;) {
      const row = await approvals.get(approvalId(call, version));
      if (row === undefined) break;
      last = row;
      version += 1;
    }
    if (version > 1) {
      if (this.#versions.size >= MAX_VERSIONS) this.#versions.clear();
      this.#versions.set(first, version - 1);
    }
    return { last, version };
  }
}
