/** What every agent makes of a request before its turn begins. */
import type { ToolDefinition } from '../../core/conversation.js';
import { endUserOf } from '../../core/end-user.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { AttachRequest, SessionEngineName, Turn } from '../../sessions/sessions.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import type { ModelRequest } from '../engine.js';
import { SESSION_HEADER } from './answers.js';
import { openToolbox, type Toolbox } from './toolbox.js';

/** The official SDKs count in it how often they have sent the request before. */
const RETRY_HEADER = 'x-stainless-retry-count';

export function attachRequest(
  { headers, idempotencyKey, kept, principal, request, signal }: ModelRequest,
  engine: SessionEngineName,
  root: string,
): AttachRequest {
  return {
    principal: principal.name,
    user: endUserOf(request),
    // What is said in the console is said by the key's holder.
    anyUser: kept !== undefined,
    id: headers[SESSION_HEADER] || undefined,
    idempotencyKey,
    engine,
    model: request.model,
    root,
    parent: kept?.parent,
    lasting: kept !== undefined,
    repeat: idempotencyKey !== undefined || Number(headers[RETRY_HEADER]) > 0,
    signal,
    request,
  };
}

/** `startDir`: the folder of a model whose entry names none. */
export function workspaceOf(
  { rule, pattern }: ModelRoute,
  { startDir, home }: { startDir: string; home: string },
): Workspace {
  try {
    return openWorkspace(rule.cwd ?? startDir, home);
  } catch (error) {
    const { message } = toGatewayError(error);
    // Not a 5xx, which SDKs send again: trying once more helps nobody before the folder is there.
    throw new GatewayError('invalid_request', `The model ${pattern} has no folder to work in: ${message}`, {
      param: 'model',
      cause: error,
    });
  }
}

/** `key`: the name of the caller's. `turn`: whose rules hold; none where only tokens are counted. */
export async function toolboxOf(
  runtime: ToolRuntime,
  { rule }: ModelRoute,
  clientTools: readonly ToolDefinition[],
  key: string,
  turn?: Pick<Turn, 'id' | 'principal' | 'root'>,
): Promise<Toolbox> {
  const request = {
    selection: rule.tools ?? 'all',
    requested: clientTools.flatMap(({ name, typed }) => (typed === undefined ? [name] : [])),
    key,
    ...(turn === undefined ? {} : { session: turn.id }),
  };
  const denied = turn === undefined ? new Map<string, string>() : await deniedBy(runtime, clientTools, turn);
  const allowed = clientTools.filter(({ name }) => !denied.has(name));
  return { ...(await openToolbox(runtime, request, allowed)), losses: lossesOf(denied) };
}

/**
 * Names of tools that a rule denies whatever their input is, with the rule. What a client's tool does
 * is not known here, so that a rule can only be about all of it; whether it is run is the client's to ask.
 */
async function deniedBy(
  { gate }: ToolRuntime,
  tools: readonly ToolDefinition[],
  { id, principal, root }: Pick<Turn, 'id' | 'principal' | 'root'>,
): Promise<Map<string, string>> {
  const denied = new Map<string, string>();
  for (const { name } of tools) {
    const { behaviour, because } = await gate.judge({
      principal,
      session: id,
      toolUseId: '',
      tool: name,
      input: {},
      readOnly: true,
      needsPermissions: false,
      effects: [],
      location: { root, cwd: root },
    });
    if (behaviour === 'deny' && because.kind === 'rule') denied.set(name, because.rule);
  }
  return denied;
}

function lossesOf(denied: ReadonlyMap<string, string>): Loss[] {
  return [...denied].map(([name, rule]) => ({ path: 'tools', reason: `the rule ${rule} denies ${name}` }));
}
