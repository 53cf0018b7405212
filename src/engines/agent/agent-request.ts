/** What every agent makes of a request before its turn begins. */
import type { ToolDefinition } from '../../core/conversation.js';
import { endUserOf } from '../../core/end-user.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { Route } from '../../routing/router.js';
import type { AttachRequest, SessionEngineName } from '../../sessions/sessions.js';
import type { OfferRequest, ToolRuntime } from '../../tools/runtime/runtime.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import type { Call } from '../engine.js';
import { unknownHistory } from '../unknown-history.js';
import { SESSION_HEADER } from './answers.js';
import { openToolbox, type Toolbox } from './toolbox.js';

/** What only an upstream keeps, an agent cannot go on with. */
export function checkContinues({ request: { continues } }: Call): void {
  if (continues === undefined) return;
  throw unknownHistory(continues, 'Send the whole conversation, or X-Session-ID.');
}

export function attachRequest(
  { headers, idempotencyKey, kept, principal, request }: Call,
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
    request,
  };
}

/** `startDir`: the folder of a model whose entry names none. */
export function workspaceOf(
  { rule, pattern }: Route,
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

export function toolboxOf(
  runtime: ToolRuntime,
  { rule }: Route,
  clientTools: readonly ToolDefinition[],
  caller: Pick<OfferRequest, 'key' | 'session'>,
): Promise<Toolbox> {
  const request = {
    selection: rule.tools ?? 'all',
    requested: clientTools.flatMap(({ name, typed }) => (typed === undefined ? [name] : [])),
    ...caller,
  };
  return openToolbox(runtime, request, clientTools);
}
