/** Where a client works that brings its own model: in the folder of an agent's entry, with its tools. */
import { resolveModelCwd } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import type { VirtualPlace } from '../mcp/virtual/session.js';
import { matchesGlob } from '../routing/model-glob.js';
import { type ModelRule, Router } from '../routing/router.js';
import type { Principal } from './engine.js';

export interface PlaceOptions {
  models: Config['models'];
  /** What paths in the configuration are relative to. */
  baseDir: string;
  /** The folder that the gateway was started in. */
  startDir: string;
}

/** Throws `not_found`, `forbidden` for a model that the key may not call, `invalid_request` for one without an agent. */
export type FindPlace = (model: string | undefined, principal: Principal) => VirtualPlace;

export function createFindPlace({ models, ...folders }: PlaceOptions): FindPlace {
  const rules = Object.entries(models).map(([name, model]): [string, ModelRule] => [
    name,
    model.engine === 'relay'
      ? { engine: model.engine, upstreams: [] }
      : { engine: model.engine, upstreams: [], tools: model.tools, cwd: resolveModelCwd(model, folders) },
  ]);
  const router = new Router(Object.fromEntries(rules));
  return (model, principal) => {
    if (model === undefined) return { root: folders.startDir, selection: 'all' };
    const name = router.meant(model);
    if (!principal.models.some((pattern) => matchesGlob(pattern, name))) {
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
  };
}
