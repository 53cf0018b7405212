/**
 * Which question it is, and what it is about. The id comes from the call, so that the same call
 * asked again after a restart finds its row; the digest binds a decision to what was shown.
 */
import type { Approval, ApprovalStore } from '../../store/approvals.js';
import { digestOf } from '../../store/json.js';
import type { GatedToolCall } from '../gate.js';
import type { ApprovalState } from './approval-state.js';

/** Ids that an upstream uses twice, and questions asked anew, get a number after this sign. */
const VERSION_SIGN = '#';
/** Questions about what came up while a call ran. */
const FURTHER_SIGN = '+';
const SUFFIXES = /(?:\+[\w-]{12})?(?:#\d+)?$/;

type ToolCallIdentity = Pick<GatedToolCall, 'session' | 'agent' | 'toolUseId'>;

/** What stands in the row for the nth question about a call; the first is the call's own id. */
export function versionedId(toolUseId: string, version: number): string {
  return version === 0 ? toolUseId : `${toolUseId}${VERSION_SIGN}${version}`;
}

export function approvalId({ session, agent = '', toolUseId }: ToolCallIdentity, version: number): string {
  return `apr_${digestOf([session, agent, versionedId(toolUseId, version)]).slice(0, 32)}`;
}

/** Under this id further effects of a running call are asked about: the call's own question stays answered. */
export function furtherId(call: GatedToolCall): string {
  return `${call.toolUseId}${FURTHER_SIGN}${digestOf([call.tool, call.input, call.effects]).slice(0, 12)}`;
}

/** The id of the call itself, as the model knows it. */
export function toolUseIdOf(stored: string): string {
  return stored.replace(SUFFIXES, '');
}

export function digestOfToolCall(call: GatedToolCall): string {
  const { session, principal, agent = '', tool, input, describe, hints } = call;
  const { root, cwd } = call.location;
  const put = hints === undefined || Object.keys(hints).length === 0 ? {} : { hints };
  return digestOf({ session, principal, agent, tool, input, root, cwd, describe, ...put });
}

/**
 * Finds the row of a call that is asked. The newest question about it counts, if it is about the
 * same thing and was not used yet: while pending it is awaited again, once decided the decision holds.
 */
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

export class Locator {
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
      const waits = last.state === 'pending' && this.#state.waiting.countOf(last.id) === 0;
      return { version, mayHaveRun: false, ...(waits ? { outdated: last } : {}) };
    }
    if (last.state === 'cancelled' || known) return { version, mayHaveRun: false };
    if (last.usedAt !== undefined) return { version, mayHaveRun: true };
    return { version, reuse: last, mayHaveRun: false };
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

const MAX_VERSIONS = 10_000;
