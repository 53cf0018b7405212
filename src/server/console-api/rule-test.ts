/**
 * `POST /api/rules/test`: what the rules say about a hypothetical call, in a session, a folder,
 * or where the gateway was started. Asks no person, writes nothing.
 */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import type { Decision } from '../../permissions/decision.js';
import { readSessionRow } from '../../sessions/persistence/session-row.js';
import type { Examined } from '../../tools/runtime/examine.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { describeToWire, suggestionsToWire } from './events/approval-wire.js';
import { ownFolder } from './folders.js';
import { readJson } from './json-request.js';
import { requireOwnSession } from './rules.js';
import type { RuleTest } from './wire/approvals.js';

const text = z.string({ error: 'expected a string' });

const testSchema = z.looseObject(
  {
    tool: text.min(1, { error: 'expected the name of a tool' }).max(200, { error: 'expected a name' }),
    input: z.custom<JsonObject>(isObject, { error: 'expected the arguments of the call, as an object' }),
    session: text.nullish(),
    project: text.nullish(),
  },
  { error: 'expected a JSON object' },
);

export const testRules: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, testSchema);
  const root = await rootOf(exchange, context, body);
  const { tool, input, session } = body;
  const examined = await context.tools.examine({
    ...{ tool, input, root, principal: exchange.principal.name, signal: exchange.signal },
    ...(session ? { session } : {}),
  });
  sendJson(exchange, 200, toWire(tool, examined), NO_STORE);
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

function toWire(tool: string, examined: Examined): RuleTest {
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
  }
}
