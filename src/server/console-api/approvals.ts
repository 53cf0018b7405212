/**
 * Questions to a person about tool calls. Everyone sees and answers their own key's, an
 * administrator all of them. A person who looks here counts as present for a minute.
 */
import { type ErrorCode, GatewayError } from '../../core/errors.js';
import type { Log } from '../../observability/log.js';
import type {
  AnswerOutcome,
  Approval,
  ApprovalCoordinator,
  PersonAnswer,
} from '../../permissions/approvals.js';
import type { SessionEvent, Sessions } from '../../sessions/sessions.js';
import type { ApprovalStatus } from '../../store/approvals.js';
import { presentedSecrets } from '../access/credentials.js';
import type { Exchange } from '../http/exchange.js';
import { readInteger } from '../http/read-request.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { PathParameters } from '../http/route-table.js';
import { answerSchema, readAnswer } from './approval-answer.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { approvalToWire, ruleToWire } from './events/approval-wire.js';
import { ownOnly, readJson } from './request.js';
import { requireAdmin } from './rules.js';
import type { DecidedWire } from './wire/approvals.js';

const STATES: readonly ApprovalStatus[] = ['pending', 'allowed', 'denied', 'expired', 'cancelled', 'covered'];
/** In place of a state. */
const ALL = 'all';

export const listApprovals: ConsoleApiHandler = async (exchange, { approvals }) => {
  approvals.seen(ownOnly(exchange).principal);
  const query = new URLSearchParams(exchange.query);
  const state = readState(query);
  const cursor = query.get('cursor');
  const session = query.get('session');
  const page = await approvals.list({
    ...ownOnly(exchange),
    ...(state === undefined ? {} : { state }),
    ...(session === null ? {} : { session }),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', { default: 50, min: 1, max: 500 }),
  });
  const body = {
    data: page.items.map(approvalToWire),
    next: page.next ?? null,
    now: new Date().toISOString(),
  };
  sendJson(exchange, 200, body, NO_STORE);
};

export const getApproval: ConsoleApiHandler = async (exchange, context, parameters) => {
  sendJson(exchange, 200, approvalToWire(await find(exchange, context, parameters)), {
    'cache-control': 'no-store',
  });
};

export const answerApproval: ConsoleApiHandler = async (exchange, context, parameters) => {
  const approval = await find(exchange, context, parameters);
  const body = await readJson(exchange, context, answerSchema, context.limits.bodyBytes);
  const { answer: given, leftOut } = readAnswer(body, approval);
  for (const { scope } of given.rules) {
    requireAdmin(exchange, scope, body.rule ? 'rule.scope' : 'updatedPermissions');
  }
  const by = { by: exchange.principal.name, via: viaOf(exchange) };
  answer(exchange, await context.approvals.decide(approval.id, { ...given, ...by }), leftOut);
};

export const extendApproval: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await find(exchange, context, parameters);
  const by = { name: exchange.principal.name, via: viaOf(exchange) };
  const result = await context.approvals.extend(id, by);
  if (result.outcome === 'extended') sendJson(exchange, 200, approvalToWire(result.approval));
  else answer(exchange, result);
};

/** Undefined for all of them. */
function readState(query: URLSearchParams): ApprovalStatus | undefined {
  const given = query.get('state') ?? 'pending';
  const state = STATES.find((each) => each === given);
  if (state !== undefined || given === ALL) return state;
  throw new GatewayError('invalid_request', `state: expected one of ${STATES.join(', ')}, ${ALL}.`, {
    param: 'state',
  });
}

/** Another key's approval is as unknown as one that does not exist. */
async function find(
  exchange: Exchange,
  { approvals }: ConsoleApiContext,
  { id = '' }: PathParameters,
): Promise<Approval> {
  const { principal } = ownOnly(exchange);
  approvals.seen(principal);
  const approval = await approvals.get(id);
  if (approval === undefined || (principal !== undefined && approval.principal !== principal))
    throw unknown();
  return approval;
}

function answer(exchange: Exchange, outcome: AnswerOutcome, leftOut: readonly string[] = []): void {
  switch (outcome.outcome) {
    case 'decided':
      sendJson(exchange, 200, decidedToWire(outcome, leftOut));
      break;
    case 'already':
    case 'expired':
    case 'mismatch':
      refuse(exchange, REFUSALS[outcome.outcome], outcome.approval);
      break;
    case 'invalid': {
      const { code, param } = INVALID[outcome.part];
      throw new GatewayError(code, `${param}: ${outcome.problem} Nothing was decided.`, { param });
    }
    case 'unknown':
      throw unknown();
  }
}

interface Refusal {
  code: ErrorCode;
  /** Tells apart what has the same status. */
  detail: string;
  message: (approval: Approval) => string;
}

const REFUSALS: Readonly<Record<'already' | 'expired' | 'mismatch', Refusal>> = {
  already: { code: 'conflict', detail: 'already_decided', message: alreadyDecided },
  expired: {
    code: 'gone',
    detail: 'expired',
    message: () => 'It has expired: nobody answered in time. The model was told so, and may ask again.',
  },
  mismatch: {
    code: 'conflict',
    detail: 'digest_mismatch',
    message: () =>
      'The digest is not that of what is asked. Look at the approval as it is now, then decide with its digest.',
  },
};

const INVALID = {
  rule: { code: 'invalid_request', param: 'rule.rule' },
  updatedInput: { code: 'unprocessable', param: 'updatedInput' },
} as const;

/** A refusal that shows what became of the approval. */
function refuse(exchange: Exchange, { code, detail, message }: Refusal, approval: Approval): void {
  const error = new GatewayError(code, message(approval), { detail });
  exchange.facts.error = error;
  const { error: shape, ...rest } = exchange.encodeError(error, exchange.id);
  const named = typeof shape === 'object' ? { ...shape, code: detail } : shape;
  sendJson(exchange, error.status, { error: named, ...rest, approval: approvalToWire(approval) });
}

function decidedToWire(
  outcome: Extract<AnswerOutcome, { outcome: 'decided' }>,
  leftOut: readonly string[],
): DecidedWire {
  const { approval, repeated = false, released, refused, satisfies } = outcome;
  const rules = outcome.rules.map(ruleToWire);
  return {
    ...approvalToWire(approval),
    repeated,
    rule: rules[0] ?? null,
    rules,
    ...(leftOut.length === 0 ? {} : { left_out: [...leftOut] }),
    released: [...released],
    refused: [...refused],
    ...(satisfies === undefined ? {} : { satisfies: satisfies.satisfied }),
    ...(satisfies?.satisfied === false ? { satisfies_problem: satisfies.why } : {}),
  };
}

function alreadyDecided({ state, decision }: Approval): string {
  if (state === 'cancelled' && decision?.reason !== undefined) {
    return `It is already cancelled, and nothing runs for it. ${decision.reason}`;
  }
  const who =
    decision === undefined
      ? ''
      : ` by ${decision.by} (${decision.via}) at ${new Date(decision.at).toISOString()}`;
  return `It is already ${state}${who}. The first decision holds.`;
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such approval. It may have been deleted for its age.');
}

/** Someone signed in to the console has a cookie and no header. */
function viaOf({ request }: Exchange): PersonAnswer['via'] {
  return presentedSecrets(request.headers).length === 0 ? 'console' : 'api';
}

const WENT_ON = 'The conversation went on without this call.';

export const stoppedBy = (name: string): string => `Stopped by ${name}.`;

interface LeftQuestionsOptions {
  sessions: Pick<Sessions, 'subscribe'>;
  approvals: Pick<ApprovalCoordinator, 'cancelAbandoned'>;
  log: Pick<Log, 'warn'>;
}

/**
 * Until the returned function is called. A question is left where a turn broke before its answer, and
 * then was stopped, or the conversation went on: allowed, it would run nothing.
 */
export function cancelAbandonedQuestions({ sessions, approvals, log }: LeftQuestionsOptions): () => void {
  return sessions.subscribe((event) => {
    const reason = reasonOf(event);
    if (reason === undefined) return;
    const { session } = event;
    approvals.cancelAbandoned(session, reason).catch((error: unknown) => {
      log.warn({ err: error, session }, 'abandoned approvals could not be cancelled');
    });
  });
}

function reasonOf(event: SessionEvent): string | undefined {
  if (event.type === 'turn-left') return event.by === undefined ? WENT_ON : stoppedBy(event.by);
  // A resumed turn may no longer need some of what was asked before the break.
  return event.type === 'turn-ended' && event.end === 'complete' ? WENT_ON : undefined;
}
