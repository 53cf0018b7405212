/** `POST /api/rules/preview`: what a rule would have decided lately, of the calls that the caller may see. */
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { Approval } from '../../permissions/approvals.js';
import type { Preview } from '../../permissions/coordinator/preview.js';
import { readAsked } from '../../permissions/coordinator/shown.js';
import type { RuleReach } from '../../store/rules.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { readJson } from './json-request.js';
import { readReach } from './rules.js';
import { ownOnly } from './traces.js';
import type { RulePreview } from './wire/approvals.js';

const SCOPES = ['once', 'session', 'project', 'everywhere'] as const;
const text = z.string({ error: 'expected a string' });

const previewSchema = z.looseObject(
  {
    rule: text,
    behaviour: z.enum(['allow', 'ask', 'deny'], { error: 'expected one of allow, ask, deny' }).nullish(),
    scope: z.enum(SCOPES, { error: `expected one of ${SCOPES.join(', ')}` }),
    session: text.nullish(),
    project: text.nullish(),
    approval: text.nullish(),
  },
  { error: 'expected a JSON object' },
);

type PreviewBody = z.output<typeof previewSchema>;

export const previewRule: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, previewSchema);
  const approval = body.approval ? await ownApproval(exchange, context, body.approval) : undefined;
  const preview = await context.previews.preview({
    rule: body.rule,
    behaviour: body.behaviour ?? 'allow',
    reach: await reachOf(exchange, context, body, approval),
    ...ownOnly(exchange),
    ...(approval === undefined ? {} : { approval }),
  });
  sendJson(exchange, 200, toWire(preview), NO_STORE);
};

/** Made of a question, it is for the session or the folder of that question. */
function reachOf(
  exchange: Exchange,
  context: ConsoleApiContext,
  { scope, session, project }: PreviewBody,
  approval: Approval | undefined,
): Promise<RuleReach> {
  const root = approval === undefined ? undefined : readAsked(approval.describe).place.root;
  return readReach(exchange, context, {
    scope,
    session: session || approval?.session,
    project: project || root,
  });
}

async function ownApproval(
  exchange: Exchange,
  { approvals }: ConsoleApiContext,
  id: string,
): Promise<Approval> {
  const { principal } = ownOnly(exchange);
  const approval = await approvals.get(id);
  if (approval === undefined || (principal !== undefined && approval.principal !== principal)) {
    throw new GatewayError('not_found', 'approval: there is no such approval.', { param: 'approval' });
  }
  return approval;
}

function toWire(preview: Preview): RulePreview {
  const { covers, lookedAt, since, matched, calls, satisfies, problem } = preview;
  return {
    covers,
    looked_at: lookedAt,
    since: since === undefined ? null : new Date(since).toISOString(),
    matched,
    calls: calls.map((call) => ({ ...call, at: new Date(call.at).toISOString() })),
    satisfies: satisfies ?? null,
    satisfies_problem: problem ?? null,
  };
}
