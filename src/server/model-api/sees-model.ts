import type { Principal } from '../../engines/engine.js';
import { matchesGlob } from '../../routing/model-glob.js';

/** Names of models that a key may not call are other people's business, unless it has `admin`. */
export function seesModel({ scopes, models }: Pick<Principal, 'scopes' | 'models'>, name: string): boolean {
  return scopes.includes('admin') || models.some((pattern) => matchesGlob(pattern, name));
}
