/**
 * Permission rules: those of the configuration, and those that people made. Everyone sees what
 * holds for all and what they made; an administrator sees and revokes all.
 */
import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { NewRule, Rule, RuleBehaviour, RuleReach } from '../../store/rules.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { ruleToWire } from './events/approval-wire.js';
import { readJson } from './json-request.js';
import { ownOnly } from './traces.js';

const BEHAVIOURS = ['deny', 'ask', 'allow'] as const satisfies readonly RuleBehaviour[];
const SCOPES = ['once', 'session', 'project', 'everywhere'] as const;

const text = z.string({ error: 'expected a string' });

const ruleSchema = z.looseObject(
  {
    rule: text,
    behaviour: z.enum(BEHAVIOURS, { error: 'expected one of allow, ask, deny' }),
    scope: z.enum(SCOPES, { error: `expected one of ${SCOPES.join(', ')}` }),
    session: text.nullish(),
    project: text.nullish(),
  },
  { error: 'expected a JSON object' },
);

type RuleBody = z.output<typeof ruleSchema>;

export const listRules: ConsoleApiHandler = async (exchange, context) => {
  const query = new URLSearchParams(exchange.query);
  const session = query.get('session');
  const project = query.get('project');
  const all = await context.store.rules.list(
    session === null && project === null
      ? {}
      : { appliesTo: { ...(session === null ? {} : { session }), ...(project === null ? {} : { project }) } },
  );
  const { principal } = ownOnly(exchange);
  const made = all.filter(
    (rule) => principal === undefined || rule.createdBy === principal || isForAll(rule, exchange, context),
  );
  const { mode } = context.permissions;
  const configured = BEHAVIOURS.flatMap((behaviour) =>
    context.permissions[behaviour].map((rule) => ({ id: null, rule, behaviour, source: 'configuration' })),
  );
  const data = [...configured, ...made.map(ruleToWire)];
  sendJson(exchange, 200, { mode, data }, NO_STORE);
};

/** Of a rule that another key made: it holds everywhere, or in the folder of an agent that the key may use. */
function isForAll(rule: Rule, { principal }: Exchange, { models }: ConsoleApiContext): boolean {
  if ('session' in rule) return false;
  return !('project' in rule) || models.offered(principal).some(({ root }) => root === rule.project);
}

export const addRule: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, ruleSchema);
  const reach = await reachOf(exchange, context, body);
  const { rule, behaviour } = body;
  const made: NewRule = { ...reach, rule, behaviour, createdBy: exchange.principal.name };
  const { rule: added, released, refused } = await context.approvals.addRule(made);
  sendJson(exchange, 201, { ...ruleToWire(added), released, refused });
};

export const revokeRule: ConsoleApiHandler = async (exchange, context, parameters) => {
  const id = parameters['id'] ?? new URLSearchParams(exchange.query).get('id');
  if (id === null || id === '') {
    throw new GatewayError('invalid_request', 'id: expected the id of a rule, in the path or the query.', {
      param: 'id',
    });
  }
  const { principal } = ownOnly(exchange);
  const rule = (await context.store.rules.list()).find((each) => each.id === id);
  const visible =
    rule !== undefined &&
    (principal === undefined || rule.createdBy === principal || isForAll(rule, exchange, context));
  if (!visible) throw unknown();
  if (principal !== undefined && !('session' in rule)) throw needsAdmin(exchange, rule.scope, 'revoked');
  const revoked = await context.approvals.revokeRule(id, exchange.principal.name);
  if (revoked === undefined) throw unknown();
  sendJson(exchange, 200, ruleToWire(revoked));
};

/** Throws `forbidden`: rules beyond the session are for administrators. */
export function requireAdmin(exchange: Exchange, scope: RuleReach['scope'], param: string): void {
  if (scope === 'once' || scope === 'session' || exchange.principal.scopes.includes('admin')) return;
  throw needsAdmin(exchange, scope, 'made', param);
}

function needsAdmin(
  { principal }: Exchange,
  scope: string,
  done: 'made' | 'revoked',
  param = 'scope',
): GatewayError {
  return new GatewayError(
    'forbidden',
    `${param}: a rule for "${scope}" can only be ${done} with the scope "admin", which the key "${principal.name}" does not have. Use a key that has it${done === 'made' ? ', or a rule for the session' : ''}.`,
    { param },
  );
}

async function reachOf(exchange: Exchange, context: ConsoleApiContext, body: RuleBody): Promise<RuleReach> {
  requireAdmin(exchange, body.scope, 'scope');
  return readReach(exchange, context, body);
}

/** Where a rule would hold. A session has to be the caller's own. */
export async function readReach(
  exchange: Exchange,
  context: ConsoleApiContext,
  { scope, session, project }: Pick<RuleBody, 'scope' | 'session' | 'project'>,
): Promise<RuleReach> {
  if (scope === 'everywhere') return { scope };
  if (scope === 'project') {
    if (!project || !isAbsolute(project)) {
      throw invalid('project', 'expected the absolute path of the workspace that the rule is for');
    }
    return { scope, project: resolve(project) };
  }
  if (!session) throw invalid('session', 'expected the id of the session that the rule is for');
  await requireOwnSession(exchange, context, session);
  return { scope, session };
}

/** A session is known by its row, or by what it has asked. */
export async function requireOwnSession(
  exchange: Exchange,
  { store, approvals }: ConsoleApiContext,
  session: string,
): Promise<void> {
  const { principal } = ownOnly(exchange);
  if (principal === undefined) return;
  const known = await store.sessions.get(session);
  const asked = known === undefined ? (await approvals.list({ session, limit: 1 })).items[0] : undefined;
  if ((known ?? asked)?.principal === principal) return;
  throw new GatewayError('not_found', 'session: this key has no such session.', { param: 'session' });
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${problem}.`, { param });
}

function unknown(): GatewayError {
  return new GatewayError(
    'not_found',
    'There is no such rule that can be revoked. Rules of the configuration are changed in toolgate.yaml.',
  );
}
