/** Whom a model name leads to, for a caller who may ask. */
import { GatewayError } from '../core/errors.js';
import { matchesGlob } from '../routing/model-glob.js';
import type { ModelRoute, ModelRouter } from '../routing/model-router.js';
import type { Principal } from './engine.js';

type Caller = Pick<Principal, 'name' | 'models'>;

/** Names that a refusal lists at most. */
const LISTED = 12;

export function mayCall(router: ModelRouter, model: string, { models }: Pick<Caller, 'models'>): boolean {
  const name = router.meant(model);
  return models.some((pattern) => matchesGlob(pattern, name));
}

/** Throws `forbidden` for a model that the key may not call, `not_found` for one that nothing matches. */
export function calledModel(router: ModelRouter, model: string, principal: Caller): ModelRoute {
  const name = router.meant(model);
  if (!mayCall(router, model, principal)) {
    throw new GatewayError(
      'forbidden',
      `The key ${principal.name} may not call the model ${name}. It may call: ${principal.models.join(', ')}.`,
      { param: 'model' },
    );
  }
  const route = router.route(model);
  if (route !== undefined) return route;
  throw new GatewayError('not_found', unknownModel(name, router.patterns()), {
    param: 'model',
    detail: 'model_not_found',
  });
}

function unknownModel(name: string, patterns: readonly string[]): string {
  if (patterns.length === 0)
    return `No model is configured, so ${name} is unknown. Add it under models in toolgate.yaml.`;
  const known = patterns.slice(0, LISTED).join(', ');
  const more = patterns.length > LISTED ? ` and ${patterns.length - LISTED} more` : '';
  return `The model ${name} is not configured. Known: ${known}${more}. Add it under models in toolgate.yaml.`;
}
