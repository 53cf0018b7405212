/**
 * Decisions on their way to the gateway. A decision is retried until the gateway has answered; the
 * gateway recognises a repeated request.
 *
 * A decision that is pending when the page is closed or reloaded is dropped, not stored: the page then
 * shows the approval with its buttons. An approval that is sent days later, when the browser restores
 * old tabs, would no longer be what the person meant.
 */
import type {
  AnswerWire,
  ApprovalWire,
  DecidedWire,
} from '../../../src/server/console-api/wire/approvals.js';
import { ApiError, type Request } from './api.js';
import type { Timers } from './events/ports.js';
import { noteApproval } from './reducer/apply-event.js';
import type { StateStore } from './reducer/console-state.js';

export type DecisionResult =
  | { kind: 'decided'; decided: DecidedWire }
  /** Another person was first, or the approval had expired: `approval` is its present state. */
  | { kind: 'already' | 'expired' | 'changed'; approval: ApprovalWire; message: string }
  /** Nothing was decided: `message` says why. */
  | { kind: 'refused'; message: string; param: string | null };

interface DecisionPorts extends Timers {
  request: Request;
  store: StateStore;
}

export const DECISION_TIMES = {
  /** An answer that does not come within this time is as good as lost. */
  answerMs: 15_000,
  firstRetryMs: 300,
  longestRetryMs: 5_000,
} as const;

/** Consecutive server errors after which the failure is shown. */
const MOST_FAILURES = 6;
/** Retries once the events have reported the outcome. */
const TRIES_AFTER_END = 3;

const OVER: Readonly<Record<string, string>> = {
  expired: 'It has expired: nobody answered in time.',
  cancelled: 'It was withdrawn: the call was stopped before anyone answered.',
};

type Decided = Extract<DecisionResult, { kind: 'decided' }>;

export class Decisions {
  readonly #ports: DecisionPorts;
  /** One for each question: a second click is part of the first. */
  readonly #deciding = new Map<string, Promise<DecisionResult>>();
  readonly #extending = new Map<string, Promise<DecisionResult>>();

  constructor(ports: DecisionPorts) {
    this.#ports = ports;
  }

  /** A decision about it is on its way. */
  isDeciding(id: string): boolean {
    return this.#deciding.has(id);
  }

  /** The digest of what is shown goes along. Never rejects. */
  decide(approval: ApprovalWire, answer: Omit<AnswerWire, 'digest'>): Promise<DecisionResult> {
    const path = `/api/approvals/${encodeURIComponent(approval.id)}`;
    const body: AnswerWire = { ...answer, digest: approval.digest };
    return this.#once(this.#deciding, approval, () => this.#tell(approval, path, body));
  }

  /** More time; each request that arrives gives some. Never rejects. */
  extend(approval: ApprovalWire): Promise<DecisionResult> {
    const path = `/api/approvals/${encodeURIComponent(approval.id)}/extend`;
    return this.#once(this.#extending, approval, () => this.#tell(approval, path, {}));
  }

  #once(
    running: Map<string, Promise<DecisionResult>>,
    { id }: ApprovalWire,
    tell: () => Promise<DecisionResult>,
  ): Promise<DecisionResult> {
    const known = running.get(id);
    if (known !== undefined) return known;
    const told = tell().finally(() => running.delete(id));
    running.set(id, told);
    return told;
  }

  async #tell(approval: ApprovalWire, path: string, body: object): Promise<DecisionResult> {
    let [failures, triesAfterEnd] = [0, 0];
    for (let round = 0; ; round++) {
      const answer = await this.#try(path, body);
      if (answer.kind === 'result') return this.#noted(answer.result);
      if (answer.kind === 'failure') failures += 1;
      if (failures >= MOST_FAILURES && answer.kind === 'failure')
        return { kind: 'refused', message: answer.message, param: null };
      const now = this.#ports.store.get().approvals.get(approval.id);
      if (now !== undefined && now.state !== 'pending') {
        // The outcome is known; only the gateway knows whether this click caused it.
        triesAfterEnd += 1;
        if (triesAfterEnd >= TRIES_AFTER_END) return ended(now);
      }
      await this.#pause(approval.id, round);
    }
  }

  async #try(
    path: string,
    body: object,
  ): Promise<
    { kind: 'result'; result: DecisionResult } | { kind: 'failure'; message: string } | { kind: 'lost' }
  > {
    const abort = new AbortController();
    const cancel = this.#ports.after(DECISION_TIMES.answerMs, () => abort.abort());
    try {
      const decided = await this.#ports.request<DecidedWire>('POST', path, body, abort.signal);
      return { kind: 'result', result: { kind: 'decided', decided: whole(decided) } };
    } catch (error) {
      if (!(error instanceof ApiError)) return { kind: 'lost' };
      const result = resultOf(error);
      if (result !== undefined) return { kind: 'result', result };
      return error.status === 503 ? { kind: 'lost' } : { kind: 'failure', message: error.message };
    } finally {
      cancel();
    }
  }

  /** Applies the approval of the answer to the state: its event may be late. */
  #noted(result: DecisionResult): DecisionResult {
    const approval =
      result.kind === 'decided' ? result.decided : result.kind === 'refused' ? undefined : result.approval;
    if (approval !== undefined) this.#ports.store.update((state) => noteApproval(state, shown(approval)));
    return result;
  }

  /** Waits before a retry: with back-off, and not at all once the connection is back or the approval is decided. */
  #pause(id: string, round: number): Promise<void> {
    const { firstRetryMs, longestRetryMs } = DECISION_TIMES;
    const { store, random, after } = this.#ports;
    const before = store.get();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        unsubscribe();
        resolve();
      };
      const longest = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(round, 10));
      const cancel = after(longest * (0.5 + random() / 2), done);
      const unsubscribe = store.subscribe(() => {
        const now = store.get();
        const back = now.connection === 'live' && before.connection !== 'live';
        const over = isPending(before.approvals.get(id)) && !isPending(now.approvals.get(id));
        if (back || over) done();
      });
    });
  }
}

function isPending(approval: ApprovalWire | undefined): boolean {
  return approval?.state === 'pending';
}

/** Undefined for answers that say nothing about the decision. */
function resultOf({ status, code, message, param, body }: ApiError): DecisionResult | undefined {
  const approval = approvalIn(body);
  if (approval !== undefined) {
    if (status === 410) return { kind: 'expired', approval, message };
    if (status === 409)
      return { kind: code === 'digest_mismatch' ? 'changed' : 'already', approval, message };
  }
  if (status >= 500 || status === 408 || status === 429) return undefined;
  return { kind: 'refused', message, param };
}

function ended(approval: ApprovalWire): DecisionResult {
  if (approval.state === 'expired') return { kind: 'expired', approval, message: OVER['expired'] ?? '' };
  const by = approval.decision === null ? '' : ` by ${approval.decision.by} (${approval.decision.via})`;
  const message = OVER[approval.state] ?? `It is already ${approval.state}${by}. The first decision holds.`;
  return { kind: 'already', approval, message };
}

/** The answer to an extension is the approval alone. */
function whole(decided: DecidedWire): Decided['decided'] {
  return {
    ...decided,
    repeated: decided.repeated ?? false,
    rule: decided.rule ?? null,
    rules: decided.rules ?? [],
    released: decided.released ?? [],
    refused: decided.refused ?? [],
  };
}

function shown(approval: ApprovalWire | DecidedWire): ApprovalWire {
  if (!('repeated' in approval)) return approval;
  const { repeated, rule, rules, left_out, released, refused, satisfies, satisfies_problem, ...rest } =
    approval;
  return rest;
}

/** 409 and 410 carry the approval in its present state. */
function approvalIn(body: unknown): ApprovalWire | undefined {
  if (typeof body !== 'object' || body === null || !('approval' in body)) return undefined;
  const { approval } = body;
  return isApproval(approval) ? approval : undefined;
}

function isApproval(value: unknown): value is ApprovalWire {
  return (
    typeof value === 'object' && value !== null && 'id' in value && 'state' in value && 'digest' in value
  );
}
