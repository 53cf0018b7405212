import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../engines/engine.js';
import { type Folders, rulesOf } from '../engines/model-catalogue.js';
import { checkWorkspace } from '../engines/workspace-roots.js';
import { isGlob, matchesAny } from '../routing/model-glob.js';
import { ModelRouter } from '../routing/model-router.js';
import type { FindWorkspace } from '../server/access/find-workspace.js';

/** Where a client works that brings its own model: in the folder of an agent's entry, with its tools. */
export function createFindWorkspace({
  models,
  ...folders
}: Folders & { models: Config['models'] }): FindWorkspace {
  const rules = rulesOf(models, folders);
  const router = new ModelRouter(rules);
  const mayUse = ({ models: allowed }: Principal, name: string): boolean => matchesAny(allowed, name);

  /** A key for some models works where the first agent among them does, and no further. */
  function ownAgent(principal: Principal): string {
    const found = Object.entries(rules).find(
      ([name, { cwd }]) => cwd !== undefined && !isGlob(name) && mayUse(principal, name),
    );
    if (found !== undefined) return found[0];
    throw new GatewayError(
      'forbidden',
      `The key ${principal.name} may use no agent, so it has no folder to work in. Name one that it may use with ?model=, or add one to the models of the key.`,
      { param: 'model' },
    );
  }

  return (asked, principal, use = 'run') => {
    const found = find(asked, principal, use);
    checkWorkspace(principal, found.root);
    return found;
  };

  function find(asked: string | undefined, principal: Principal, use: 'run' | 'judge') {
    const isWhole = use === 'judge' || principal.models.includes('*');
    if (asked === undefined && isWhole) return { root: folders.startDir, selection: 'all' as const };
    const model = asked ?? ownAgent(principal);
    const name = router.meant(model);
    if (!mayUse(principal, name)) {
      throw new GatewayError('forbidden', `The key ${principal.name} may not use the model ${name}.`, {
        param: 'model',
      });
    }
    const rule = router.route(model)?.rule;
    if (rule === undefined) {
      throw new GatewayError('not_found', `The model ${name} is not configured.`, { param: 'model' });
    }
    const { cwd, tools = 'all' } = rule;
    if (cwd === undefined) {
      throw new GatewayError(
        'invalid_request',
        `The model ${name} has no folder and no tools. Name one with engine native or claude-code, or leave model out.`,
        { param: 'model' },
      );
    }
    return { root: cwd, selection: tools, model: name };
  }
}
