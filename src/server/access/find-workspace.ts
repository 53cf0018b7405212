import type { Principal } from '../../engines/engine.js';
import type { VirtualWorkspace } from '../../mcp/virtual/mcp-scope.js';

/**
 * The workspace of a client that brings its own model: the folder of an agent's entry, with its tools.
 * Throws `not_found`, `forbidden` for a model that the key may not call, `invalid_request` for one
 * without an agent. `judge`: calls are only judged there, by the folder that the client names.
 */
export type FindWorkspace = (
  model: string | undefined,
  principal: Principal,
  use?: 'run' | 'judge',
) => VirtualWorkspace;
