/**
 * Permission rules: those of the configuration, and those that people made. Everyone sees what
 * holds for all and what they made; an administrator sees and revokes all.
 */
import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import type { Approval } from '../../permissions/approvals.js';
import type { Preview } from '../../permissions/coordinator/preview.js';
import { readAsked } from '../../permissions/coordinator/shown.js';
import type { Decision } from '../../permissions/decision.js';
import { readSessionRow } from '../../sessions/persistence/session-row.js';
import type { NewRule, Rule, RuleBehaviour, RuleReach } from '../../store/rules.js';
import type { Examined } from '../../tools/runtime/examine.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { describeToWire, ruleToWire, suggestionsToWire } from './events/approval-wire.js';
import { ownFolder } from './folders.js';
import { ownOnly, readJson } from './request.js';
import type { RulePreview, RuleTest } from './wire/approvals.js';

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
  requireAdmin(exchange, body.scope, 'scope');
  const reach = await readReach(exchange, context, body);
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

/** Where a rule would hold. A session has to be the caller's own. */
async function readReach(
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
async function requireOwnSession(
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

const previewSchema = z.looseObject(
  {
    rule: text,
    behaviour: z.enum(BEHAVIOURS, { error: 'expected one of allow, ask, deny' }).nullish(),
    scope: z.enum(SCOPES, { error: `expected one of ${SCOPES.join(', ')}` }),
    session: text.nullish(),
    project: text.nullish(),
    approval: text.nullish(),
  },
  { error: 'expected a JSON object' },
);

type PreviewBody = z.output<typeof previewSchema>;

/** `POST /api/rules/preview`: what a rule would have decided lately, of the calls that the caller may see. */
export const previewRule: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, previewSchema);
  const approval = body.approval ? await ownApproval(exchange, context, body.approval) : undefined;
  const preview = await context.previews.preview({
    rule: body.rule,
    behaviour: body.behaviour ?? 'allow',
    reach: await previewReach(exchange, context, body, approval),
    ...ownOnly(exchange),
    ...(approval === undefined ? {} : { approval }),
  });
  sendJson(exchange, 200, previewToWire(preview), NO_STORE);
};

/** Made of a question, it is for the session or the folder of that question. */
function previewReach(
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

function previewToWire(preview: Preview): RulePreview {
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

const testSchema = z.looseObject(
  {
    tool: text.min(1, { error: 'expected the name of a tool' }).max(200, { error: 'expected a name' }),
    input: z.custom<JsonObject>(isObject, { error: 'expected the arguments of the call, as an object' }),
    session: text.nullish(),
    project: text.nullish(),
  },
  { error: 'expected a JSON object' },
);

/**
 * `POST /api/rules/test`: what the rules say about a hypothetical call, in a session, a folder,
 * or where the gateway was started. Asks no person, writes nothing.
 */
export const testRules: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, testSchema);
  const root = await rootOf(exchange, context, body);
  const { tool, input, session } = body;
  const examined = await context.tools.examine({
    ...{ tool, input, root, principal: exchange.principal.name, signal: exchange.signal },
    ...(session ? { session } : {}),
  });
  sendJson(exchange, 200, testToWire(tool, examined), NO_STORE);
};

async function rootOf(
  exchange: Exchange,
  context: ConsoleApiContext,
  { session, project }: z.output<typeof testSchema>,
): Promise<string> {
  if (session) await requireOwnSession(exchange, context, session);
  if (project) return ownFolder(project, 'project', exchange, context);
  const known = session ? await context.store.sessions.get(session) : undefined;
  const record = known === undefined ? undefined : readSessionRow(known);
  return record?.root ?? context.findWorkspace(undefined, exchange.principal, 'judge').root;
}

function testToWire(tool: string, examined: Examined): RuleTest {
  if ('problem' in examined) {
    throw new GatewayError('unprocessable', `input: ${examined.problem}`, { param: 'input' });
  }
  const { decision, describe, question } = examined;
  return {
    // Whatever the rules allow, a person is asked.
    behaviour: question && decision.behaviour === 'allow' ? 'ask' : decision.behaviour,
    why:
      question && decision.behaviour !== 'deny'
        ? `${tool} is a question to a person, who is always asked.`
        : decision.message,
    ...causeOf(decision),
    describe: describeToWire(describe, tool),
    suggestions: question ? [] : suggestionsToWire(decision.suggestions),
  };
}

function causeOf({ because }: Decision): Pick<RuleTest, 'rule' | 'source'> {
  switch (because.kind) {
    case 'rule':
      return { rule: because.rule, source: because.source };
    case 'mode':
      return { rule: null, source: `mode ${because.mode}` };
    case 'workspace':
      return { rule: null, source: 'workspace' };
    case 'protected':
      return { rule: null, source: 'protection' };
    case 'shell':
      return { rule: null, source: 'mode' };
    case 'harmless':
      return { rule: null, source: 'harmless' };
    case 'changed':
      return { rule: because.rule, source: 'pin' };
  }
}
